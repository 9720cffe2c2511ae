"""The trials of a search as a picture of parallel coordinates."""

import io
import itertools

import numpy as np

from keras_selfattn.files import write_bytes
from keras_selfattn.first_use import import_extra
from keras_selfattn.tuning.results import best_first

PICTURE_FILE = "trials.png"


def draw(path, results, choices):
    """Draw the trials as parallel coordinates, a line a trial.

    Each argument that was varied has an axis, and the dev accuracy the last
    one. The better a trial, the darker its line; the best is the thick one
    and the first is dashed.

    Args:
        path: Path of the PNG file.
        results: List of `Result`, in the order of the trials.
        choices: List of `keras_selfattn.tuning.choices.Choice`.

    Raises:
        ImportError: if there is no matplotlib.
    """
    Figure = import_extra(
        "matplotlib.figure", "The picture of a search", "matplotlib", "tuning"
    ).Figure
    done = [r for r in results if r.accuracy is not None]
    axes = _axes(done, choices)
    low = min((r.accuracy for r in done), default=0.0)
    high = max((r.accuracy for r in done), default=1.0)
    if low == high:
        low, high = low - 0.01, high + 0.01
    figure = Figure(figsize=(2.2 + 1.25 * len(axes), 5.2), layout="constrained")
    plot = figure.add_subplot()
    _draw_lines(plot, done, axes, low, high)
    _draw_axes(plot, axes, low, high)
    plot.set_title(
        f"{len(done)} trials, {len(results) - len(done)} failed "
        "(thick: the best; dashed: the first)",
        fontsize=10,
        loc="left",
    )
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    write_bytes(path, picture.getvalue())


def _draw_lines(plot, done, axes, low, high):
    best = best_first(done)[0] if done else None
    for result in sorted(done, key=lambda r: r.accuracy):
        heights = [
            # Lines through the same value lie side by side.
            _height(axis, _value(result.values, names))
            + 0.012 * (result.number % 5 - 2)
            for _, names, axis in axes
        ]
        is_first = result.number == 1
        share = (result.accuracy - low) / (high - low)
        heights.append(share)
        plot.plot(
            *_smooth(heights),
            color="black" if is_first else line_color(share),
            linewidth=3.5
            if result is best
            else 1.6
            if is_first
            else 0.8 + share,
            linestyle="--" if is_first else "-",
            zorder=3 if result is best or is_first else 2,
        )


def _draw_axes(plot, axes, low, high):
    for position, (_, _, axis) in enumerate(axes):
        plot.axvline(position, color="0.8", zorder=1)
        for value in axis:
            plot.annotate(
                _label(value),
                (position, _height(axis, value)),
                textcoords="offset points",
                xytext=(4, 0),
                va="center",
                fontsize=8,
                zorder=4,
                bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1},
            )
    plot.axvline(len(axes), color="0.8", zorder=1)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        plot.annotate(
            f"{low + share * (high - low):.1%}",
            (len(axes), share),
            textcoords="offset points",
            xytext=(5, 0),
            va="center",
            fontsize=8,
        )
    names = [name.replace("_", "\n") for name, *_ in axes]
    plot.set_xticks(range(len(axes) + 1), [*names, "dev\naccuracy"])
    plot.tick_params(length=0, labelsize=8)
    plot.set_yticks([])
    plot.set_xlim(-0.2, len(axes) + 0.5)
    plot.set_ylim(-0.07, 1.07)
    for spine in plot.spines.values():
        spine.set_visible(False)


def line_color(share):
    """The color of a line, from gray for a share of 0 to dark blue for 1."""
    from matplotlib import colormaps

    # Readable by the color-blind. Its light half is too pale on white.
    return colormaps["cividis"](0.6 * (1 - share))


_NO_EFFECT = "no effect"


def _axes(results, choices):
    """For each varied argument its hyperparameters, and the values seen.

    Where none was varied, as in a single trial, it is all of them.
    """
    axes = []
    for argument in dict.fromkeys(choice.argument for choice in choices):
        group = [choice for choice in choices if choice.argument == argument]
        codes = dict.fromkeys(code for choice in group for code in choice.codes)
        if len(group) > 1:
            codes = sorted(codes)
        names = [choice.name for choice in group]
        seen = {_value(r.values, names) for r in results}
        values = [value for value in (_NO_EFFECT, *codes) if value in seen]
        axes.append((argument, names, values))
    return [axis for axis in axes if len(axis[2]) > 1] or axes


def _value(values, names):
    return next((values[n] for n in names if n in values), _NO_EFFECT)


def _height(axis, value):
    return axis.index(value) / max(len(axis) - 1, 1)


def _label(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def _smooth(heights):
    """Points of a curve that is level at each axis."""
    x = np.linspace(0, 1, 30)
    ease = x * x * (3 - 2 * x)
    xs = [i + x for i in range(len(heights) - 1)]
    ys = [a + (b - a) * ease for a, b in itertools.pairwise(heights)]
    return np.concatenate(xs), np.concatenate(ys)

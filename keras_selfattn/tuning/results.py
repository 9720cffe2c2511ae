"""What a search has found: its trials as a table, CSV and a picture."""

import csv
import dataclasses
import io
import itertools

import numpy as np

from keras_selfattn import files

CSV_FILE = "trials.csv"
PICTURE_FILE = "trials.png"


@dataclasses.dataclass
class Result:
    """One trial.

    Attributes:
        number: Its number, from 1.
        trial_id: KerasTuner's name of it.
        status: `"completed"`, `"failed"` or `"running"`.
        accuracy: Its best dev accuracy, or `None`.
        epoch: The number of the epoch of it, or `None`.
        epochs: The number of the last epoch.
        seconds: How long it took.
        values: Dictionary of KerasTuner's hyperparameters.
        reason: Why it failed, or an empty string.
    """

    number: int
    trial_id: str
    status: str
    accuracy: float
    epoch: int
    epochs: int
    seconds: float
    values: dict
    reason: str


def make_result(number, trial, history):
    """The `Result` of a trial.

    Args:
        number: Its number, from 1.
        trial: A KerasTuner trial.
        history: List of dictionaries of the logs of its epochs, with
            `"epoch"` and `"seconds"`.
    """
    best = max(history, key=lambda logs: logs["val_accuracy"], default=None)
    failed = trial.status not in ("COMPLETED", "RUNNING")
    lines = (trial.message or "").strip().splitlines()
    return Result(
        number=number,
        trial_id=trial.trial_id,
        status="failed" if failed else trial.status.lower(),
        accuracy=None if failed or best is None else best["val_accuracy"],
        epoch=None if failed or best is None else best["epoch"],
        epochs=history[-1]["epoch"] if history else 0,
        seconds=sum(logs["seconds"] for logs in history),
        values={
            name: value
            for name, value in trial.hyperparameters.values.items()
            if not name.startswith("tuner/")
        },
        reason=lines[-1].split("Error: ")[-1] if failed and lines else "",
    )


def best_first(results):
    """The results from the best to the worst, then those without any."""
    return sorted(
        results,
        key=lambda r: (r.accuracy is None, -(r.accuracy or 0), r.number),
    )


def differences(values, first_values):
    """How a trial differs from the first one, as a text."""
    shown = ", ".join(
        f"{name}={value}"
        for name, value in values.items()
        if first_values.get(name) != value
    )
    return shown or "the preset's own values"


def write_csv(path, results, names):
    """Write one row a trial, in their order, with all hyperparameters.

    Args:
        path: Path of the file.
        results: List of `Result`.
        names: List of the names of the hyperparameters. A cell is empty
            where one has no effect.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["trial", "status", "dev_accuracy", "epoch", "epochs", "seconds"]
        + [*names, "reason"]
    )
    for r in results:
        figures = (r.accuracy, r.epoch)
        writer.writerow(
            [r.number, r.status, *("" if f is None else f for f in figures)]
            + [r.epochs, round(r.seconds, 1)]
            + [r.values.get(name, "") for name in names]
            + [r.reason]
        )
    files.write_text(path, text.getvalue())


def make_table(results, first_values, title, most=None):
    """The trials as a `rich.table.Table`.

    Args:
        results: List of `Result`, in the order of the rows.
        first_values: Dictionary of the values of the first trial.
        title: String.
        most: Integer, the number of rows at most.
    """
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in ("trial", "dev accuracy", "epoch", "time"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("what differs from the preset")
    best = best_first(results)[:1]
    for result in results[:most]:
        figure = result.status
        if result.accuracy is not None:
            figure = f"{result.accuracy:.2%}"
        what = differences(result.values, first_values)
        if result.reason:
            what = f"{result.reason}: {what}"
        epochs = str(result.epochs)
        if result.epoch is not None:
            epochs = f"{result.epoch} of {result.epochs}"
        table.add_row(
            str(result.number),
            figure,
            epochs,
            duration(result.seconds),
            # Brackets of lists are no markup.
            what.replace("[", "\\["),
            style="bold" if result in best and result.accuracy else None,
        )
    return table


def duration(seconds):
    """A number of seconds as `m:ss` or `h:mm:ss`."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"


def draw(path, results, choices):
    """Draw the trials as parallel coordinates, a line a trial.

    Each argument that was varied has an axis, and the dev accuracy the last
    one. The better a trial, the darker its line; the best is the thick one
    and the first is dashed.

    Args:
        path: Path of the PNG file.
        results: List of `Result`, in the order of the trials.
        choices: List of `keras_selfattn.tuning.spaces.Choice`.

    Raises:
        ImportError: if there is no matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "The picture of a search needs matplotlib: "
            'pip install "keras_selfattn[tuning]" installs it'
        ) from error
    done = [r for r in results if r.accuracy is not None]
    axes = _axes(done, choices)
    low = min((r.accuracy for r in done), default=0.0)
    high = max((r.accuracy for r in done), default=1.0)
    if low == high:
        low, high = low - 0.01, high + 0.01
    figure = Figure(figsize=(2.2 + 1.25 * len(axes), 5.2), layout="constrained")
    plot = figure.add_subplot()
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
    plot.set_title(
        f"{len(done)} trials, {len(results) - len(done)} failed "
        "(thick: the best; dashed: the preset)",
        fontsize=10,
        loc="left",
    )
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    files.write_bytes(path, picture.getvalue())


def line_color(share):
    """The color of a trial's line, dark gray to blue, readable on white.

    Args:
        share: Float from 0, for the worst trial, to 1, for the best.

    Returns:
        A tuple of red, green, blue and alpha.
    """
    from matplotlib import colormaps

    # Made for eyes that see no red or no green; its light half is too pale.
    return colormaps["cividis"](0.6 * (1 - share))


_NO_EFFECT = "no effect"


def _axes(results, choices):
    """For each varied argument its hyperparameters, and the values seen.

    Where none was varied, as in a single trial, it is all of them.
    """
    axes = []
    for argument in dict.fromkeys(choice.argument for choice in choices):
        mine = [choice for choice in choices if choice.argument == argument]
        codes = dict.fromkeys(code for choice in mine for code in choice.codes)
        if len(mine) > 1:
            codes = sorted(codes)
        names = [choice.name for choice in mine]
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

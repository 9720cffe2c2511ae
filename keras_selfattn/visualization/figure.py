"""Explanations as matplotlib figures."""

import io
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keras_selfattn.controls import clean
from keras_selfattn.first_use import import_extra
from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading

import_extra("matplotlib.figure", "A figure", "matplotlib", "viz")

import matplotlib  # noqa: E402
from matplotlib import font_manager  # noqa: E402
from matplotlib.colors import BoundaryNorm  # noqa: E402
from matplotlib.colors import ListedColormap  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

WORDS_A_PANEL = 40
FEATURES_HEIGHT = 2.0
TITLE_CHARS_AN_INCH = 11
# Of a picture's height, as browsers and matplotlib before 3.11 take it.
MOST_PIXELS = 2**16 - 1
FRAME = {"fill": False, "edgecolor": "silver", "linewidth": 0.8}
# Matplotlib falls back from one family to the next for a missing letter.
FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
    "PingFang SC",
    "Arial Unicode MS",
    "Microsoft YaHei",
)


class Map(NamedTuple):
    """Weights with a column for each word and a row for each name.

    Those of effects are levels, below 0 against the answer.
    """

    title: str
    words: list
    weights: np.ndarray
    names: Sequence = ()
    has_overall: bool = False
    shows_words: bool = True
    row_height: float = 0.22
    has_effects: bool = False


def views(prediction):
    """List of the maps of a prediction."""
    maps = []
    if not prediction.has_heads:
        for title, looking, looked, weights in prediction.matrices():
            title = f"{title}; {shading.ROWS}{_unread(looking, looked)}"
            maps.append(Map(title, looked.words, weights, looking.words))
    for name, side in prediction.sides().items():
        if prediction.has_heads:
            title = ": ".join(filter(None, [name, side.unread_note]))
            weights = np.vstack([side.overall, side.scores])
            names = ["overall", *range(1, len(side.scores) + 1)]
            maps.append(
                Map(title, side.words, weights, names, has_overall=True)
            )
        if side.effects:
            maps.append(_effects(name, side, prediction.predicted))
    return maps


def _effects(name, side, predicted):
    """The map of a sentence's effects, a method a row."""
    title = f"{name}: what decided" if name else "What decided"
    parts = [f"{title}: green for {clean(predicted)}, pink against."]
    for method in side.effects:
        parts += [
            f"{deciding.SHORT[method].capitalize()}: {note}"
            for note in deciding.notes(method, side)
        ]
    return Map(
        " ".join(parts),
        side.words,
        np.stack(
            [deciding.levels(*effects) for effects in side.effects.items()]
        ),
        [deciding.SHORT[method] for method in side.effects],
        has_effects=True,
    )


def _unread(*sides):
    notes = {side.unread_note for side in sides} - {""}
    return "".join(f"; {note}" for note in sorted(notes))


def feature_views(prediction):
    """List of a map, features × words, for each head of each sentence."""
    maps = []
    for name, side in prediction.sides().items():
        if side.features is None:
            raise ValueError(
                "Expected a model that weighs each feature by itself. "
                "Received: one weight a word in each head"
            )
        size = side.features.shape[-1]
        heads = side.feature_groups(size)
        for head, features in enumerate(heads, start=1):
            title = f"{name}, head {head}" if name else f"head {head}"
            title += f": {size} features, one a row{_unread(side)}"
            # The words stand below the last head, for all of them.
            last = head == len(heads) or len(side.tokens) > WORDS_A_PANEL
            maps.append(
                Map(
                    title,
                    side.words,
                    features.T,
                    shows_words=last,
                    row_height=FEATURES_HEIGHT / size,
                )
            )
    return maps


def draw(maps):
    """A figure of maps, one below the other, on the scale of `shading`.

    Args:
        maps: List of `Map`.
    """
    widest = max(len(part.words) for part in maps)
    return _figure(panels(maps, WORDS_A_PANEL), min(widest, WORDS_A_PANEL))


def panels(maps, words_a_row):
    """List of each part of each map that is drawn as one row of words."""
    return [
        (part, start)
        for part in maps
        for start in range(0, len(part.words), words_a_row)
    ]


def draw_row(panel, words_a_row, heading):
    """A PNG of one of `panels`, of 350 points of a screen in width.

    Two pixels are a point. Pictures of short texts are as wide as others.

    Args:
        panel: One of `panels`.
        words_a_row: Integer, as for `panels`.
        heading: String.
    """
    part, start = panel
    if len(part.words) > words_a_row:
        last = min(start + words_a_row, len(part.words))
        heading += f", words {start + 1} to {last}"
    png = io.BytesIO()
    with matplotlib.rc_context({"font.size": 7}):
        figure = _figure([panel], words_a_row, scale=0.5, least_height=2.8)
        figure.suptitle(*_plain([heading]), fontfamily=_families())
        figure.savefig(png, format="png", dpi=200)
    return png.getvalue()


def _families():
    installed = set(font_manager.get_font_names())
    return [name for name in FAMILIES if name in installed]


def _figure(panels, widest, scale=1.0, least_height=2.0):
    width = 2.5 + 0.3 * widest
    bodies = [part.row_height * len(part.weights) for part, _ in panels]
    # How much larger the letters are, beside all else, than at 10 points.
    letter = matplotlib.rcParams["font.size"] / 10 / scale
    titles = [
        _title(part, start, round(width * TITLE_CHARS_AN_INCH / letter))
        for part, start in panels
    ]
    heights = [
        0.2
        + letter * (0.2 * len(title.splitlines()) + 1.0 * part.shows_words)
        + body
        for (part, _), title, body in zip(panels, titles, bodies, strict=True)
    ]
    # The key needs its room, however few the rows.
    height = scale * max(sum(heights), least_height)
    figure = Figure(
        figsize=(scale * width, height),
        dpi=min(matplotlib.rcParams["figure.dpi"], MOST_PIXELS / height),
        layout="constrained",
    )
    families = _families()
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=bodies)[
        :, 0
    ]
    for axis, (part, start), title in zip(axes, panels, titles, strict=True):
        image = _panel(axis, part, start, widest, title, families)
        if not part.has_effects:
            of_weights = image
        # Words are as wide in a short panel as in a long one.
        axis.set_xlim(-0.5, widest - 0.5)
    _key(figure, of_weights, list(axes), height / scale)
    return figure


def _title(part, start, letters):
    return "" if start else textwrap.fill(part.title, letters)


def _key(figure, image, axes, height):
    key = figure.colorbar(
        image,
        ax=axes,
        label=shading.UNIT,
        pad=0.01,
        aspect=15,
        shrink=min(1.0, 2.0 / height),
        anchor=(0.0, 1.0),
        spacing="uniform",
        extendfrac="auto",
    )
    key.set_ticks(shading.STEPS, labels=[f"{step}×" for step in shading.STEPS])


def _scale(has_effects):
    """The colors of the levels, and where each begins."""
    count = len(shading.STEPS)
    if has_effects:
        both = matplotlib.colormaps["PiYG"](np.linspace(0, 1, 2 * count + 1))
        both[count] = 1.0
        edges = np.arange(-count, count + 2) - 0.5
        norm = BoundaryNorm(edges, len(both))
        return {"cmap": ListedColormap(both), "norm": norm}
    blues = matplotlib.colormaps["Blues"](np.linspace(0, 0.9, count + 1))
    colors = ListedColormap(["white", *blues[1:]])
    norm = BoundaryNorm([0, *shading.STEPS], count + 1, extend="max")
    return {"cmap": colors, "norm": norm}


def _panel(axis, part, start, widest, title, families):
    words = part.words[start : start + widest]
    rows = part.weights
    if not part.has_effects:
        rows = shading.even_shares(rows, len(part.words))
    image = axis.imshow(
        rows[:, start : start + widest],
        aspect="auto",
        # Smoothed, rows of little height would mix their steps.
        interpolation="nearest",
        **_scale(part.has_effects),
    )
    # The room beside a short text is no part of its map.
    axis.spines[:].set_visible(False)
    axis.add_patch(Rectangle((-0.5, -0.5), len(words), len(rows), **FRAME))
    if part.has_overall:
        axis.add_patch(Rectangle((-0.5, -0.5), len(words), 1, **FRAME))
        axis.set_ylabel("head")
    if title:
        axis.set_title(
            *_plain([title]),
            loc="left",
            fontsize="medium",
            fontfamily=families,
        )
    if part.shows_words:
        axis.set_xticks(
            range(len(words)),
            _plain(words),
            rotation=60,
            ha="right",
            rotation_mode="anchor",
            fontfamily=families,
        )
    else:
        axis.set_xticks([])
    axis.set_yticks(
        range(len(part.names)), _plain(part.names), fontfamily=families
    )
    return image


def _plain(words):
    # Between dollar signs matplotlib reads formulas.
    return [str(word).replace("$", r"\$") for word in words]

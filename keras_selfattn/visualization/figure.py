"""Explanations as matplotlib figures."""

import textwrap
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib import font_manager
from matplotlib.colors import BoundaryNorm
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from keras_selfattn.visualization import shading

WORDS_A_PANEL = 40
FEATURES_HEIGHT = 2.0
TITLE_CHARS_AN_INCH = 11
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
    """Weights with a column for each word and a row for each name."""

    title: str
    words: list
    weights: np.ndarray
    names: list = ()
    has_overall: bool = False
    shows_words: bool = True
    row_height: float = 0.22


def views(prediction):
    """List of the maps of a prediction."""
    if not prediction.has_heads:
        return [
            Map(
                f"{title}; {shading.ROWS}", looked.words, weights, looking.words
            )
            for title, looking, looked, weights in prediction.matrices()
        ]
    return [
        Map(
            name,
            side.words,
            np.vstack([side.overall, side.scores]),
            ["overall", *range(1, len(side.scores) + 1)],
            has_overall=True,
        )
        for name, side in prediction.sides().items()
    ]


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
            title += f": {size} features, one a row"
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
    installed = set(font_manager.get_font_names())
    families = [name for name in FAMILIES if name in installed]
    widest = min(max(len(part.words) for part in maps), WORDS_A_PANEL)
    width = 2.5 + 0.3 * widest
    panels = [
        (part, start)
        for part in maps
        for start in range(0, len(part.words), WORDS_A_PANEL)
    ]
    bodies = [part.row_height * len(part.weights) for part, _ in panels]
    titles = [_title(part, start, width) for part, start in panels]
    heights = [
        0.2 + 0.2 * len(title.splitlines()) + 1.0 * part.shows_words + body
        for (part, _), title, body in zip(panels, titles, bodies, strict=True)
    ]
    figure = Figure(
        # The key needs its room, however few the rows.
        figsize=(width, max(sum(heights), 2.0)),
        layout="constrained",
    )
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=bodies)[
        :, 0
    ]
    for axis, (part, start), title in zip(axes, panels, titles, strict=True):
        image = _panel(axis, part, start, title, families)
        # Words are as wide in a short panel as in a long one.
        axis.set_xlim(-0.5, widest - 0.5)
    _key(figure, image, list(axes), sum(heights))
    return figure


def _title(part, start, width):
    if start:
        return ""
    return textwrap.fill(part.title, round(width * TITLE_CHARS_AN_INCH))


def _key(figure, image, axes, height):
    key = figure.colorbar(
        image,
        ax=axes,
        label=f"weight, {shading.UNIT}",
        pad=0.01,
        aspect=15,
        shrink=min(1.0, 2.0 / height),
        anchor=(0.0, 1.0),
        spacing="uniform",
        extendfrac="auto",
    )
    key.set_ticks(shading.STEPS, labels=[f"{step}×" for step in shading.STEPS])


def _scale():
    """The colors of the levels, and where each begins."""
    count = len(shading.STEPS)
    blues = matplotlib.colormaps["Blues"](np.linspace(0, 0.9, count + 1))
    colors = ListedColormap(["white", *blues[1:]])
    norm = BoundaryNorm([0, *shading.STEPS], count + 1, extend="max")
    return {"cmap": colors, "norm": norm}


def _panel(axis, part, start, title, families):
    words = part.words[start : start + WORDS_A_PANEL]
    shares = shading.even_shares(part.weights, len(part.words))
    image = axis.imshow(
        shares[:, start : start + WORDS_A_PANEL],
        aspect="auto",
        # Smoothed, rows of little height would mix their steps.
        interpolation="nearest",
        **_scale(),
    )
    # The room beside a short text is no part of its map.
    axis.spines[:].set_visible(False)
    rows = len(part.weights)
    axis.add_patch(Rectangle((-0.5, -0.5), len(words), rows, **FRAME))
    if part.has_overall:
        axis.add_patch(Rectangle((-0.5, -0.5), len(words), 1, **FRAME))
        axis.set_ylabel("head")
    if title:
        axis.set_title(title, loc="left", fontsize="medium")
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

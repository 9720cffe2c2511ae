"""Explanations as matplotlib figures."""

from typing import NamedTuple

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure

from keras_selfattn.visualization.formatting import full_shade

WORDS_A_PANEL = 40
GROUPS = 24
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


def views(prediction):
    """List of the maps of a prediction."""
    if not prediction.has_heads:
        return [
            Map(name, looked.words, weights, looking.words)
            for name, looking, looked, weights in prediction.matrices()
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
        heads = side.feature_groups(GROUPS)
        for head, groups in enumerate(heads, start=1):
            title = f"{name}, head {head}" if name else f"head {head}"
            title += f": {side.features.shape[-1]} features"
            # The words stand below the last head, for all of them.
            last = head == len(heads) or len(side.tokens) > WORDS_A_PANEL
            maps.append(Map(title, side.words, groups.T, shows_words=last))
    return maps


def draw(maps, row_height=0.22):
    """A figure of maps, one below the other, on one scale.

    Args:
        maps: List of `Map`.
        row_height: Float, the height of a row in inches.
    """
    installed = set(font_manager.get_font_names())
    families = [name for name in FAMILIES if name in installed]
    full = max(full_shade(part.weights).max() for part in maps)
    widest = min(max(len(part.words) for part in maps), WORDS_A_PANEL)
    panels = [
        (part, start)
        for part in maps
        for start in range(0, len(part.words), WORDS_A_PANEL)
    ]
    heights = [
        0.2
        + 0.25 * bool(part.title)
        + 1.0 * part.shows_words
        + row_height * len(part.weights)
        for part, _ in panels
    ]
    figure = Figure(
        figsize=(2.0 + 0.3 * widest, sum(heights)), layout="constrained"
    )
    axes = figure.subplots(
        len(panels),
        1,
        squeeze=False,
        height_ratios=[len(part.weights) for part, _ in panels],
    )[:, 0]
    for axis, (part, start) in zip(axes, panels, strict=True):
        image = _panel(axis, part, start, full, families)
        # Words are as wide in a short panel as in a long one.
        axis.set_xlim(-0.5, widest - 0.5)
    figure.colorbar(
        image,
        ax=list(axes),
        label="weight",
        pad=0.01,
        aspect=15,
        shrink=1 / len(panels),
        anchor=(0.0, 1.0),
    )
    return figure


def _panel(axis, part, start, full, families):
    words = part.words[start : start + WORDS_A_PANEL]
    image = axis.imshow(
        part.weights[:, start : start + WORDS_A_PANEL],
        aspect="auto",
        cmap="Blues",
        vmin=0.0,
        vmax=full,
    )
    if part.has_overall:
        axis.axhline(0.5, color="white", linewidth=3)
        axis.set_ylabel("head")
    if part.title and not start:
        axis.set_title(part.title, loc="left", fontsize="medium")
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
    # The room beside a short text is no part of its map.
    axis.spines[:].set_visible(False)
    return image


def _plain(words):
    # Between dollar signs matplotlib reads formulas.
    return [str(word).replace("$", r"\$") for word in words]

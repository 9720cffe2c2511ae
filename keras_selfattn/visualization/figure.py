"""An explanation as a matplotlib figure."""

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure

WORDS_A_PANEL = 40
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


def draw(explanation):
    """Returns the figure of `Explanation.figure`."""
    words = [word for _, word in explanation.pieces()]
    rows = np.vstack([explanation.overall, explanation.scores])
    names = ["overall", *range(1, len(rows))]
    starts = range(0, len(words), WORDS_A_PANEL)
    installed = set(font_manager.get_font_names())
    families = [name for name in FAMILIES if name in installed]
    figure = Figure(
        figsize=(
            2.0 + 0.3 * min(len(words), WORDS_A_PANEL),
            len(starts) * (1.4 + 0.22 * len(rows)),
        ),
        layout="constrained",
    )
    panels = figure.subplots(len(starts), 1, squeeze=False)[:, 0]
    for panel, start in zip(panels, starts, strict=True):
        part = rows[:, start : start + WORDS_A_PANEL]
        image = panel.imshow(
            part, aspect="auto", cmap="Blues", vmin=0.0, vmax=rows.max()
        )
        panel.axhline(0.5, color="white", linewidth=3)
        panel.set_xticks(
            range(part.shape[1]),
            # Dollar signs would start mathematics.
            [
                word.replace("$", r"\$")
                for word in words[start : start + WORDS_A_PANEL]
            ],
            rotation=60,
            ha="right",
            rotation_mode="anchor",
            fontfamily=families,
        )
        panel.set_yticks(range(len(names)), names)
        # Equal word widths in every panel, the last one too.
        panel.set_xlim(-0.5, min(len(words), WORDS_A_PANEL) - 0.5)
    figure.colorbar(
        image,
        ax=list(panels),
        label="weight",
        pad=0.01,
        aspect=15,
        shrink=1 / len(panels),
        anchor=(0.0, 1.0),
    )
    return figure

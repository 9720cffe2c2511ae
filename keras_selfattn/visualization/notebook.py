"""An explanation in a notebook: HTML without scripts."""

from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.formatting import percent

# A translucent hue stands on the notebook's own background, so that light
# and dark themes both keep the contrast of their text.
SHADE = "background:rgb(31 111 200 / {:.2f})"


def fragment(explanation):
    """Returns the HTML of `Explanation._repr_html_`."""
    weights = explanation.overall
    words = [word for _, word in explanation.pieces()]
    text = "".join(
        f"{escape(gap)}{_mark(word, weight, weights.max())}"
        for (gap, word), weight in zip(
            explanation.pieces(), weights, strict=True
        )
    )
    if explanation.unread:
        text += (
            ' <span style="opacity:.6" title="not read by the model">'
            f"{escape(explanation.unread)}</span>"
        )
    order = explanation.head_order()
    head = "".join(f"<th>{i + 1}</th>" for i in order)
    rows = "".join(
        f'<tr><th dir="auto" style="text-align:start">{escape(word)}</th>'
        f"{_cell(weights[i], weights.max())}"
        + "".join(_cell(row[i], row.max()) for row in explanation.scores[order])
        + "</tr>"
        for i, word in enumerate(words)
    )
    return (
        f'<div><div>{_verdict(explanation)}</div><p dir="auto" '
        'style="line-height:1.8;max-width:70ch;white-space:pre-line">'
        f"{text}</p><details><summary>{len(words)} words × "
        f"{len(order)} heads, redundancy {explanation.redundancy:.2f}, "
        f"penalty {explanation.penalty:.2f}</summary>"
        '<div style="overflow:auto;max-height:30em"><table><thead><tr>'
        f"<th>word</th><th>overall</th>{head}</tr></thead><tbody>{rows}"
        "</tbody></table></div></details></div>"
    )


def _mark(word, weight, largest):
    shade = SHADE.format(0.6 * weight / (largest or 1.0))
    return (
        f'<span style="{shade};border-radius:3px" '
        f'title="{weight:.1%}">{escape(word)}</span>'
    )


def _cell(weight, largest):
    shade = SHADE.format(0.6 * weight / (largest or 1.0))
    return f'<td style="{shade};text-align:end">{percent(weight)}</td>'


def _verdict(explanation):
    line = (
        f"Predicted <b><bdi>{escape(explanation.predicted)}</bdi></b> "
        f"({explanation.confidence:.0%})"
    )
    if explanation.gold is not None and explanation.correct:
        line += " ✓ right"
    elif explanation.gold is not None:
        line += f" ✗ wrong, truly <b><bdi>{escape(explanation.gold)}</bdi></b>"
    return line

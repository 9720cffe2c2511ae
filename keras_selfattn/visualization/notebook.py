"""An explanation in a notebook: HTML without scripts."""

import numpy as np

from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.formatting import full_shade
from keras_selfattn.visualization.formatting import percent

# The color is translucent, so that text keeps its contrast in light and dark
# themes.
SHADE = "background:rgb(31 111 200 / {:.2f})"
UPRIGHT = "writing-mode:vertical-rl;transform:rotate(180deg)"
GROUPS = 12


def fragment(prediction):
    """The HTML of `Prediction._repr_html_`."""
    parts = [f"<div>{_verdict(prediction)}</div>"]
    for name, side in prediction.sides().items():
        if name:
            parts.append(f'<div style="opacity:.7">{name}</div>')
        parts.append(_text(side))
        if prediction.has_heads:
            parts.append(_heads(side))
        if side.features is not None:
            parts.append(_features(side))
    if not prediction.has_heads:
        parts.extend(_matrix(*view) for view in prediction.matrices())
    return f"<div>{''.join(parts)}</div>"


def _text(sentence):
    weights = sentence.overall
    full = full_shade(weights)
    text = "".join(
        f"{escape(gap)}{_mark(word, weight, full)}"
        for (gap, word), weight in zip(sentence.pieces(), weights, strict=True)
    )
    if sentence.unread:
        text += (
            ' <span style="opacity:.6" title="not read by the model">'
            f"{escape(sentence.unread)}</span>"
        )
    return (
        f'<p dir="{sentence.direction}" style="line-height:1.8;'
        "margin:.2em 0 .5em;max-width:70ch;"
        f'white-space:pre-line">{text}</p>'
    )


def _heads(sentence):
    weights = sentence.overall
    order = sentence.head_order()
    columns = np.vstack([weights, sentence.scores[order]])
    fulls = full_shade(columns)
    rows = ["".join(map(_cell, row, fulls)) for row in columns.T]
    return _table(
        f"{len(weights)} words × {len(order)} heads, overlap "
        f"{sentence.overlap:.2f}, penalty {sentence.penalty:.2f}",
        "<th>overall</th>" + "".join(f"<th>{i + 1}</th>" for i in order),
        sentence.words,
        rows,
    )


def _features(sentence):
    groups = sentence.feature_groups(GROUPS)
    order = sentence.head_order()
    size = groups.shape[-1]
    fulls = full_shade(groups.swapaxes(1, 2)).max(axis=-1)
    rows = [
        "".join(
            _shaded(weight, fulls[head])
            for head in order
            for weight in groups[head, i]
        )
        for i in range(len(sentence.tokens))
    ]
    return _table(
        f"{len(rows)} words × {sentence.features.shape[-1]} features, in "
        f"{size} groups a head of those that weigh the same word most",
        "".join(f'<th colspan="{size}">{i + 1}</th>' for i in order),
        sentence.words,
        rows,
    )


def _matrix(name, looking, looked, weights):
    head = "".join(
        f'<th><div dir="auto" style="{UPRIGHT}">{escape(word)}</div></th>'
        for word in looked.words
    )
    rows = [
        "".join(_cell(weight, full) for weight in row)
        for row, full in zip(weights, full_shade(weights), strict=True)
    ]
    return _table(
        f"{name}: where each word of a line looks", head, looking.words, rows
    )


def _table(summary, head, words, rows):
    body = "".join(
        f'<tr><th dir="auto" style="text-align:start">{escape(word)}</th>'
        f"{row}</tr>"
        for word, row in zip(words, rows, strict=True)
    )
    return (
        f"<details><summary>{summary}</summary>"
        '<div style="overflow:auto;max-height:30em"><table><thead><tr>'
        f"<th>word</th>{head}</tr></thead><tbody>{body}"
        "</tbody></table></div></details>"
    )


def _mark(word, weight, full):
    shade = SHADE.format(0.6 * weight / full)
    return (
        f'<span style="{shade};border-radius:3px" '
        f'title="{weight:.1%}">{escape(word)}</span>'
    )


def _cell(weight, full):
    shade = SHADE.format(0.6 * weight / full)
    return f'<td style="{shade};text-align:end">{percent(weight)}</td>'


def _shaded(weight, full):
    shade = SHADE.format(0.6 * weight / full)
    return f'<td style="{shade};padding:4px" title="{weight:.1%}"></td>'


def _verdict(explanation):
    line = (
        f"Predicted <b><bdi>{escape(explanation.predicted)}</bdi></b> "
        f"({explanation.confidence:.0%})"
    )
    if explanation.label is not None and explanation.correct:
        line += " ✓ right"
    elif explanation.label is not None:
        line += f" ✗ wrong, truly <b><bdi>{escape(explanation.label)}</bdi></b>"
    return line

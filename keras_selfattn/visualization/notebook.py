"""An explanation in a notebook: HTML without scripts."""

import numpy as np

from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import cell
from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.formatting import percent
from keras_selfattn.visualization.ngrams import told

# The color is translucent, so that text keeps its contrast in light and dark
# themes.
SHADE = "background:rgb({} / {:.2f})"
# Weights are blue, effects for the answer green, against it pink.
COLORS = {0: "31 111 200", 1: "77 146 33", -1: "197 27 125"}
SOFT = "opacity:.7;font-size:90%"
UPRIGHT = "writing-mode:vertical-rl;transform:rotate(180deg)"
GROUPS = 12


def fragment(prediction):
    """The HTML of `Prediction._repr_html_`."""
    parts = [f"<div>{_verdict(prediction)}</div>", _legend()]
    for name, side in prediction.sides().items():
        if name:
            parts.append(f'<div style="opacity:.7">{name}</div>')
        parts.append(_text(side))
        parts.extend(
            _effects(method, side, prediction.predicted)
            for method in side.effects
        )
        if prediction.has_heads:
            parts.append(_heads(side))
        if side.features is not None:
            parts.append(_features(side))
    if not prediction.has_heads:
        parts.extend(_matrix(*view) for view in prediction.matrices())
    if ngrams := told(prediction):
        parts.append(f'<div style="{SOFT}">{escape(ngrams)}</div>')
    return f"<div>{''.join(parts)}</div>"


def _legend():
    return f'<div style="{SOFT}">{_key()} or more {shading.UNIT}</div>'


def _key(sign=0):
    return " ".join(
        f'<span style="{_shade(level, sign)};padding:0 .5em">{step}</span>'
        for level, step in enumerate(shading.STEPS, start=1)
    )


def _text(sentence):
    weights = sentence.overall
    levels = shading.levels(weights, len(weights))
    text = _words(sentence, map(_shade, levels), map(percent, weights))
    if sentence.unread_note:
        text += (
            f" <b>[{sentence.unread_note}]</b> "
            f'<span style="opacity:.6">{escape(sentence.unread)}</span>'
        )
    note = sentence.empty_note or shading.note(weights)
    return _paragraph(sentence, text, note)


def _effects(method, sentence, predicted):
    effects = sentence.effects[method]
    shades = [
        _shade(abs(level), -1 if level < 0 else 1)
        for level in deciding.levels(method, effects)
    ]
    text = _words(sentence, shades, deciding.text(method, effects))
    return (
        f'<div style="opacity:.7">{deciding.TITLES[method]}</div>'
        f'<div style="{SOFT}">{_key(1)} for '
        f"<bdi>{escape(predicted)}</bdi>, {_key(-1)} against it, or more "
        f"{shading.UNIT}</div>"
        + _paragraph(
            sentence, text, escape(" ".join(deciding.notes(method, sentence)))
        )
    )


def _words(sentence, shades, titles):
    return "".join(
        f"{escape(gap)}"
        f'<span style="{shade};border-radius:3px" title="{title}">'
        f"{escape(word)}</span>"
        for (gap, word), shade, title in zip(
            sentence.pieces(), shades, titles, strict=True
        )
    )


def _paragraph(sentence, text, note):
    return (
        f'<p dir="{sentence.direction}" style="line-height:1.8;'
        "margin:.2em 0 .5em;max-width:70ch;"
        f'white-space:pre-line">{text}</p>'
        + (f'<div style="{SOFT}">{note}</div>' if note else "")
    )


def _heads(sentence):
    order = sentence.head_order()
    columns = np.vstack([sentence.overall, sentence.scores[order]])
    words = len(sentence.tokens)
    names = [deciding.SHORT[method] for method in sentence.effects]
    names += ["overall", *(i + 1 for i in order)]
    effects = [
        deciding.cells(method, found)
        for method, found in sentence.effects.items()
    ]
    return _table(
        f"Weights of {words} words in {len(order)} heads: overlap "
        f"{percent(sentence.overlap)}, penalty {sentence.penalty:.2f}",
        "".join(f"<th>{name}</th>" for name in names),
        sentence.words,
        [
            "".join(f'<td style="text-align:end">{x[i]}</td>' for x in effects)
            + "".join(_cells(row, words))
            for i, row in enumerate(columns.T)
        ],
    )


def _features(sentence):
    groups = sentence.feature_groups(GROUPS)
    order = sentence.head_order()
    size = groups.shape[-1]
    words = len(sentence.tokens)
    levels = shading.levels(groups, words)
    rows = [
        "".join(
            f'<td style="{_shade(levels[head, i, group])};padding:4px" '
            f'title="{percent(groups[head, i, group])}"></td>'
            for head in order
            for group in range(size)
        )
        for i in range(words)
    ]
    return _table(
        f"Weights of {words} words for {sentence.features.shape[-1]} features, "
        f"in {size} groups a head of those that weigh the same word most",
        "".join(f'<th colspan="{size}">{i + 1}</th>' for i in order),
        sentence.words,
        rows,
    )


def _matrix(title, looking, looked, weights):
    head = "".join(
        f'<th><div dir="auto" style="{UPRIGHT}">{escape(word)}</div></th>'
        for word in looked.words
    )
    rows = ["".join(_cells(row, len(row))) for row in weights]
    return _table(f"{title}; {shading.ROWS}", head, looking.words, rows)


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


def _shade(level, sign=0):
    # The first step must be seen beside plain words.
    return SHADE.format(COLORS[sign], 0.1 + 0.1 * level if level else 0.0)


def _cells(weights, words):
    for weight, level in zip(
        weights, shading.levels(weights, words), strict=True
    ):
        yield (
            f'<td style="{_shade(level)};text-align:end">{cell(weight)}</td>'
        )


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

"""Explanations as one self-contained HTML page."""

import base64
import hashlib
import importlib.resources
import itertools
import pathlib

import numpy as np

from keras_selfattn.files import replaced_file
from keras_selfattn.visualization import alignment
from keras_selfattn.visualization.formatting import clean
from keras_selfattn.visualization.formatting import escape

# A weight is written as one character, from "?" for 0 to "~" for the largest
# of its row: a tenth of what JSON would take, and quick to read.
STEPS = 63
FIRST = ord("?")
GROUPS = 24


def write_html(explanations, path, title="What the model looked at"):
    """Write one HTML page of explanations that needs no other file.

    The page shows the texts without JavaScript too, and is written one
    explanation at a time.

    Args:
        explanations: Iterable of `Explanation`, `PairExplanation` or
            `AlignmentExplanation`: all of one kind, with the same labels and
            number of heads.
        path: Path of the file, which appears when it is complete.
        title: String.

    Returns:
        The path as a `pathlib.Path`.

    Raises:
        ValueError: if kind, labels or number of heads differ from the
            first's.
    """
    explanations = iter(explanations)
    first = next(explanations, None)
    labels = [] if first is None else list(first.labels)
    heads = 0 if first is None else _heads(first)
    rest = [] if first is None else itertools.chain([first], explanations)
    path = pathlib.Path(path)
    totals = _Totals(heads)
    with (
        replaced_file(path) as beside,
        open(beside, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(_top(clean(title), labels, heads, first))
        for number, explanation in enumerate(rest, start=1):
            _check(explanation, first, labels, heads, number)
            totals.add(explanation)
            file.write(_card(explanation, number))
        file.write(_bottom(totals))
    return path


def _heads(prediction):
    if not prediction.has_heads:
        return 0
    return len(next(iter(prediction.sides().values())).scores)


class _Totals:
    """What the page says of all texts together."""

    def __init__(self, heads):
        self.texts = self.sentences = self.known = self.right = 0
        self.name = "text"
        self.overlap = np.zeros(heads)
        self.penalty = np.zeros(heads)
        self.peak = np.zeros(heads)

    def add(self, explanation):
        self.texts += 1
        if len(explanation.sides()) > 1:
            self.name = "pair"
        self.known += explanation.label is not None
        self.right += bool(explanation.correct)
        if explanation.has_heads:
            for side in explanation.sides().values():
                self.sentences += 1
                self.overlap += side.head_overlap
                self.penalty += side.head_penalty
                self.peak += side.scores.max(axis=1)


def _check(explanation, first, labels, heads, number):
    if type(explanation) is not type(first):
        raise ValueError(
            f"Expected explanations of one kind, {type(first).__name__}. "
            f"Received: {type(explanation).__name__} in explanation {number}"
        )
    if list(explanation.labels) != labels:
        raise ValueError(
            f"Expected the labels {labels} of the first explanation. "
            f"Received: {list(explanation.labels)} in explanation {number}"
        )
    if _heads(explanation) != heads:
        raise ValueError(
            f"Expected {heads} heads, as in the first explanation. "
            f"Received: {_heads(explanation)} in explanation {number}"
        )


def _asset(name):
    files = importlib.resources.files("keras_selfattn.visualization")
    return files.joinpath(name).read_text(encoding="utf-8")


def _hash(source):
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _top(title, labels, heads, first):
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; "
        f"script-src {_hash(_asset('page.js'))}; "
        "base-uri 'none'; form-action 'none'"
    )
    classes = "".join(
        f'<option value="{i}">{escape(label)}</option>'
        for i, label in enumerate(labels)
    )
    picker = _head_picker(heads) if heads else _LOOK
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header id="top">
<h1 dir="auto">{escape(title)}</h1>
<noscript><p>Word weights, sorting and filtering need JavaScript.</p></noscript>
<p id="hint" hidden>{_hint(first, heads)}</p>
</header>
<form id="filters" hidden>
<label>Predicted <select id="predicted"><option value="">any</option>{classes}
</select></label>
<label class="known">True <select id="label"><option value="">any</option>
{classes}</select></label>
<label class="known">Outcome <select id="outcome">
<option value="">any</option><option value="wrong">wrong</option>
<option value="right">right</option></select></label>
<label>Confidence <select id="confidence"><option value="0 1.1">any</option>
<option value="0 0.5">below 50 %</option>
<option value="0.5 0.7">50 to 70 %</option>
<option value="0.7 0.9">70 to 90 %</option>
<option value="0.9 1.1">90 % and more</option></select></label>
<label>Sort <select id="sort"><option value="given">as given</option>
<option value="low">least confident first</option>
<option value="high">most confident first</option>
<option value="class">by predicted class</option>
<option class="known" value="wrong">wrong first, most confident</option>
</select></label>
<span id="count" role="status"></span>
</form>
<nav id="picker" hidden>
{picker}
<span class="scale" aria-hidden="true">little weight <i></i> much weight</span>
</nav>
<main>
"""


_LOOK = (
    '<span id="picker-name">Point at a word or tap it to see where it looks'
    "</span>"
)


def _hint(first, heads):
    """What a reader must know before the texts."""
    lookers = "model" if heads else "words of the other sentence"
    parts = [
        f"The stronger a word is shaded, the more the {lookers} looked at it."
    ]
    if heads > 1:
        parts.append(
            f"The model looks with {heads} heads: choose one to see where it "
            "alone looked, or Overall for their mean."
        )
    sides = [] if first is None else first.sides().values()
    if any(side.tokens[0] == alignment.NULL for side in sides):
        parts.append(f"{alignment.NULL} stands for no word.")
    parts.append(
        "To read a word's weight, point at it, tap it, or reach it with Tab "
        "and the arrow keys."
    )
    return " ".join(parts)


def _head_picker(heads):
    buttons = "".join(
        f'<button type="button" role="radio" data-row="{row}" '
        f'aria-checked="{"false" if row else "true"}" '
        f'tabindex="{-1 if row else 0}">{row or "Overall"}</button>'
        for row in range(heads + 1)
    )
    return (
        '<span id="picker-name">Head</span>\n'
        f'<div role="radiogroup" aria-labelledby="picker-name">{buttons}</div>'
    )


def _bottom(totals):
    return (
        f'</main>\n<section id="summary">{_summary(totals)}</section>\n'
        '<div id="tip" role="status" hidden></div>\n'
        f"<script>{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def _summary(totals):
    if not totals.texts:
        return "<p>No texts.</p>"
    parts = [f"{totals.texts:,} {totals.name}{'s' * (totals.texts != 1)}"]
    if totals.known:
        wrong = totals.known - totals.right
        parts.append(
            f"{totals.right / totals.known:.1%} right, {wrong:,} wrong"
        )
    if not totals.sentences:
        return f"<p>{' · '.join(parts)}</p>"
    measures = {
        "overlap %": 100 * totals.overlap / totals.sentences,
        "penalty": totals.penalty / totals.sentences,
        "largest weight %": 100 * totals.peak / totals.sentences,
    }
    overlap = measures["overlap %"].mean()
    parts.append(f"heads overlap by {overlap:.0f}% on average")
    numbers = "".join(f"<th>{i + 1}</th>" for i in range(len(totals.overlap)))
    rows = "".join(
        f"<tr><th>{name}</th>"
        + "".join(f"<td>{_three_digits(value)}</td>" for value in values)
        + "</tr>"
        for name, values in measures.items()
    )
    return (
        f"<p>{' · '.join(parts)}</p><details><summary>About the heads</summary>"
        "<p>Overlap is the weight that a head shares with another, on average "
        "over the others: 0% where they look at different words, 100% where "
        "they do the same. Heads of much overlap are redundant. Penalty is "
        "the head's part of ‖AAᵀ − I‖², which training can keep low: 0 for a "
        "head on a single word that no other head looks at; all heads "
        f"together have {_three_digits(measures['penalty'].sum())}. Largest "
        "weight is that of the word the head looks at most. All are means "
        'over the texts.</p><div class="scroll" tabindex="0" role="region" '
        'aria-label="Measures of each head"><table><thead><tr>'
        f"<th>head</th>{numbers}</tr></thead><tbody>{rows}</tbody></table>"
        "</div></details>"
    )


def _three_digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _card(explanation, number):
    labels = list(explanation.labels)
    label = explanation.label
    data = {
        "predicted": labels.index(explanation.predicted),
        "label": labels.index(label) if label in labels else "",
        "outcome": {None: "", True: "right", False: "wrong"}[
            explanation.correct
        ],
        "confidence": f"{explanation.confidence:.4f}",
        "classes": _short(explanation.probabilities),
    }
    texts = "".join(
        (f'<h2 class="side">{name}</h2>' if name else "")
        + _text(name, side, explanation.has_heads)
        for name, side in explanation.sides().items()
    )
    return (
        f'<article id="t{number}"{_attributes(data)}><div class="head">'
        f'<a href="#t{number}" aria-label="Text {number}">{number}</a>'
        f'<span class="verdict">{_verdict(explanation)}</span>'
        f'<span class="confidence"><progress max="1" '
        f'value="{explanation.confidence:.3f}" aria-hidden="true">'
        f"</progress> {explanation.confidence:.0%} confident</span></div>"
        f"{texts}</article>\n"
    )


def _text(name, side, has_heads):
    shown, spans = side.aligned
    largest, weights = _encoded(np.vstack([side.overall, side.scores]))
    data = {
        "name": name,
        "largest": largest,
        "spans": " ".join(str(step) for step in _steps(shown, spans)),
        "weights": weights,
    }
    if has_heads:
        data["overlap"] = _short(side.head_overlap)
        data["penalty"] = _short(side.head_penalty)
    if side.intra_scores is not None:
        data["within-largest"], data["within"] = _encoded(side.intra_scores)
    if side.features is not None:
        groups = side.feature_groups(GROUPS)
        data["features"] = side.features.shape[-1]
        data["groups-largest"], data["groups"] = _encoded(
            groups.reshape(len(groups), -1)
        )
    return (
        f'<p class="text" dir="{side.direction}" lang=""{_attributes(data)}>'
        f"{escape(shown)}</p>"
    )


def _encoded(rows):
    """The largest weight of each row, and each weight as a character."""
    largest = rows.max(axis=1, keepdims=True)
    shares = rows / np.where(largest > 0, largest, 1.0)
    weights = np.rint(shares * STEPS).astype(np.uint8) + np.uint8(FIRST)
    return _short(largest[:, 0]), weights.tobytes().decode("ascii")


def _attributes(data):
    return "".join(
        f' data-{name}="{escape(value)}"' for name, value in data.items()
    )


def _short(values):
    return " ".join(f"{value:.4g}" for value in values)


def _steps(shown, spans):
    """Yield the length of the gap before each token, and of the token.

    They are counted in UTF-16 units, as in JavaScript.
    """
    position = 0
    for start, end in spans:
        for part in (shown[position:start], shown[start:end]):
            yield len(part.encode("utf-16-le")) // 2
        position = end


def _verdict(explanation):
    predicted = f"<b><bdi>{escape(explanation.predicted)}</bdi></b>"
    if explanation.label is None:
        return f"Predicted {predicted}"
    if explanation.correct:
        return f'Predicted {predicted} <span class="right">✓ right</span>'
    return (
        f'Predicted {predicted} <span class="wrong">✗ wrong</span> '
        f"truly <b><bdi>{escape(explanation.label)}</bdi></b>"
    )

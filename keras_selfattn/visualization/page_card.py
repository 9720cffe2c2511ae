"""What a page holds of one explanation."""

import numpy as np

from keras_selfattn.visualization import page_effects
from keras_selfattn.visualization.formatting import cell
from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.formatting import percent
from keras_selfattn.visualization.ngrams import told

# The root of a weight is written as two digits in base 64, from "?" to "~", up
# to `LARGEST` for the largest of its row: a fifth of what JSON would take, and
# quick to read. By their roots small weights keep the digits that are shown.
LARGEST = 64 * 64 - 1
FIRST = ord("?")
GROUPS = 12
CLASSES_IN_HEAD = 5


def card(explanation, number):
    """The HTML of an explanation.

    Args:
        explanation: Any kind of explanation.
        number: Integer, from 1, its place among all.
    """
    labels = list(explanation.labels)
    label = explanation.label
    data = {
        "predicted": labels.index(explanation.predicted),
        "label": labels.index(label) if label in labels else "",
        "outcome": {None: "", True: "right", False: "wrong"}[
            explanation.correct
        ],
        "confidence": f"{explanation.confidence:.9g}",
    }
    probabilities = explanation.probabilities
    more = {}
    if len(_first_classes(probabilities)) < len(probabilities):
        more["classes"] = _short(probabilities)
    texts = "".join(
        (f'<h2 class="side">{name}</h2>' if name else "")
        + _text(name, side, explanation.has_heads)
        for name, side in explanation.sides().items()
    )
    if ngrams := told(explanation):
        texts += f'<p class="note">{escape(ngrams)}</p>'
    # With scripts the browser takes what lies in `noscript` for plain text,
    # and makes no elements of what is out of sight.
    return (
        f'<noscript{_attributes(data)}><article id="t{number}"'
        f' data-outcome="{data["outcome"]}"{_attributes(more)}>'
        f'<div class="head"><a href="#t{number}" aria-label="Text {number}">'
        f'{number}</a><span class="verdict">{_verdict(explanation)}</span>'
        f"{_classes(explanation)}</div>{texts}</article></noscript>\n"
    )


def _classes(explanation):
    """The most probable classes, with their probabilities."""
    probabilities = explanation.probabilities
    first = _first_classes(probabilities)
    items = [
        f"<li><bdi>{escape(explanation.labels[i])}</bdi>: "
        f"{percent(probabilities[i])}</li>"
        for i in first
    ]
    rest = len(probabilities) - len(first)
    if rest:
        items.append(f"<li>and {rest} more</li>")
    return f'<ul class="classes">{"".join(items)}</ul>'


def _first_classes(probabilities):
    order = np.argsort(-probabilities, kind="stable")
    seen = [i for i in order if cell(probabilities[i])]
    return seen[:CLASSES_IN_HEAD]


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
    data |= page_effects.attributes(side)
    note = side.unread_note
    if note:
        note = f'<p class="cut">{note}, beyond the model\'s limit.</p>'
    if side.empty_note:
        note = f'<p class="cut">{side.empty_note}</p>'
    return (
        f'<p class="text" dir="{side.direction}" lang=""{_attributes(data)}>'
        f"{escape(shown)}</p>{note}"
    )


def _encoded(rows):
    """The largest weight of each row, and each weight as two characters."""
    largest = rows.max(axis=1, keepdims=True)
    shares = rows / np.where(largest > 0, largest, 1.0)
    roots = np.rint(np.sqrt(shares) * LARGEST).astype(int)
    digits = np.stack(np.divmod(roots, 64), axis=-1).astype(np.uint8)
    return _short(largest[:, 0]), (digits + np.uint8(FIRST)).tobytes().decode(
        "ascii"
    )


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

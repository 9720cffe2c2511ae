"""Explanations as one self-contained HTML page."""

import base64
import hashlib
import itertools
import os
import pathlib
import string
from collections.abc import Iterable

from keras_selfattn.controls import clean
from keras_selfattn.files import packaged_text
from keras_selfattn.files import replaced_file
from keras_selfattn.labels import listed
from keras_selfattn.text import NULL
from keras_selfattn.visualization import page_card
from keras_selfattn.visualization import page_effects
from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.totals import Totals

SCRIPTS = (
    "page_words.js",
    "page_effects.js",
    "page_tables.js",
    "page_list.js",
)


def write_html(
    explanations: Iterable,
    path: str | os.PathLike,
    title: str = "What the model looked at",
) -> pathlib.Path:
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
        ValueError: if kind, labels, number of heads or methods of effects
            differ from the first's.
    """
    explanations = iter(explanations)
    first = next(explanations, None)
    labels = [] if first is None else list(first.labels)
    heads = 0 if first is None else _heads(first)
    rest = [] if first is None else itertools.chain([first], explanations)
    path = pathlib.Path(path)
    totals = Totals(heads)
    with (
        replaced_file(path) as beside,
        open(beside, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(_top(clean(title), labels, heads, first))
        for number, explanation in enumerate(rest, start=1):
            _check(explanation, first, labels, heads, number)
            totals.add(explanation)
            file.write(page_card.card(explanation, number))
        _, bottom = _template()
        file.write(bottom.substitute(summary=totals.html(), script=_script()))
    return path


def _heads(prediction):
    if not prediction.has_heads:
        return 0
    return len(next(iter(prediction.sides().values())).scores)


def _methods(prediction):
    if prediction is None:
        return []
    return list(next(iter(prediction.sides().values())).effects)


def _check(explanation, first, labels, heads, number):
    if type(explanation) is not type(first):
        raise ValueError(
            f"Expected explanations of one kind, {type(first).__name__}. "
            f"Received: {type(explanation).__name__} in explanation {number}"
        )
    if list(explanation.labels) != labels:
        raise ValueError(
            f"Expected the labels {listed(labels)} of the first explanation. "
            f"Received: {listed(explanation.labels)} in explanation {number}"
        )
    if _heads(explanation) != heads:
        raise ValueError(
            f"Expected {heads} heads, as in the first explanation. "
            f"Received: {_heads(explanation)} in explanation {number}"
        )
    if _methods(explanation) != _methods(first):
        raise ValueError(
            f"Expected the effects {_methods(first)} of the first explanation. "
            f"Received: {_methods(explanation)} in explanation {number}"
        )


def _asset(name):
    return packaged_text(__package__, name)


def _script():
    parts = "".join(map(_asset, SCRIPTS))
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _template():
    """The page before the explanations, and after them."""
    parts = _asset("page.html").split("$cards")
    return [string.Template(part) for part in parts]


def _hash(source):
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _top(title, labels, heads, first):
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; "
        f"script-src {_hash(_script())}; "
        "base-uri 'none'; form-action 'none'"
    )
    classes = "".join(
        f'<option value="{i}">{escape(label)}</option>'
        for i, label in enumerate(labels)
    )
    methods = _methods(first)
    top, _ = _template()
    return top.substitute(
        classes=classes,
        hint=_hint(first, heads, methods),
        picker=page_effects.picker(methods)
        + (_head_picker(heads) if heads else _LOOK),
        policy=policy,
        scale=_SCALE + page_effects.key(methods),
        style=style,
        title=escape(title),
    )


_LOOK = (
    '<span id="picker-name">Point at a word or tap it to see where it looks'
    "</span>"
)

_SCALE = (
    '<span class="scale" id="scale" data-steps="'
    f'{" ".join(map(str, shading.STEPS))}" '
    f'data-note="{shading.plain_note("{}")}">'
    + "".join(
        f'<i class="w s{level}">{step}</i>'
        for level, step in enumerate(shading.STEPS, start=1)
    )
    + f" or more {shading.UNIT}</span>"
)


def _hint(first, heads, methods):
    """What a reader must know before the texts."""
    lookers = "model" if heads else "words of the other sentence"
    parts = [
        f"The stronger a word is shaded, the more the {lookers} looked at it: "
        "the key counts even shares, and what has less than "
        f"{shading.STEPS[0]} of them stays plain. An even share is 100% "
        "divided by the number of words."
    ]
    if heads > 1:
        parts.append(
            f"The model looks with {heads} heads: choose one to see where it "
            "alone looked, or Overall for their mean."
        )
    if methods:
        parts.append(page_effects.hint(methods))
    sides = [] if first is None else first.sides().values()
    if any(side.tokens[0] == NULL for side in sides):
        parts.append(f"{NULL} stands for no word.")
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
        '<div role="radiogroup" id="heads" aria-labelledby="picker-name">'
        f"{buttons}</div>"
    )

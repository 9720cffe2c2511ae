"""Text made safe and numbers made short for every kind of picture."""

import html
import unicodedata

import numpy as np


def clean(text):
    """Returns `text` with line ends as `\\n` and other controls replaced.

    Control characters can drive a terminal and lone surrogates cannot be
    written as UTF-8; both become U+FFFD, so that what is shown is one
    character for one.
    """
    text = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        "\ufffd"
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
        else char
        for char in text
    )


def escape(text):
    """Returns `text` safe in HTML, in elements and quoted attributes."""
    return html.escape(clean(text))


def percent(weight):
    """Returns a weight as a short text, blank where it rounds to nothing."""
    return f"{weight:.0%}" if weight >= 0.005 else ""


def full_shade(rows):
    """Returns the weight that the full shade stands for, row by row.

    It is the row's largest, but at least three even shares, lest attention
    that is spread evenly look strong.

    Args:
        rows: array `(..., n)`.

    Returns:
        Array `(...,)`.

    Example:

    >>> full_shade([[0.25, 0.25, 0.25, 0.25], [0.0, 0.9, 0.1, 0.0]])
    array([0.75, 0.9 ])
    """
    rows = np.asarray(rows)
    return np.maximum(rows.max(axis=-1), min(1.0, 3.0 / rows.shape[-1]))

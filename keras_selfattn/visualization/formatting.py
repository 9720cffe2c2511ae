"""Safe text and short numbers, as all pictures show them."""

import html
import unicodedata

import numpy as np


def clean(text):
    """The text with line ends as `\\n` and other controls replaced.

    Control characters can drive a terminal, and lone surrogates can't be
    written as UTF-8. Each becomes the one character U+FFFD.
    """
    text = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        "\ufffd"
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
        else char
        for char in text
    )


def escape(text):
    """The text, safe in HTML's elements and quoted attributes."""
    return html.escape(clean(text))


def percent(weight):
    """A weight in percent, blank where that rounds to nothing."""
    return f"{weight:.0%}" if weight >= 0.005 else ""


def full_shade(rows):
    """The weight that gets the full shade, row by row.

    It is the row's largest, but at least three times an even share, so that
    attention that is spread evenly doesn't look strong.

    Args:
        rows: Array of shape `(..., n)`.

    Returns:
        Array of shape `(...,)`.

    Example:

    >>> full_shade([[0.25, 0.25, 0.25, 0.25], [0.0, 0.9, 0.1, 0.0]])
    array([0.75, 0.9 ])
    """
    rows = np.asarray(rows)
    return np.maximum(rows.max(axis=-1), min(1.0, 3.0 / rows.shape[-1]))

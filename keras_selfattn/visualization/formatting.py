"""Text made safe and numbers made short for every kind of picture."""

import html
import unicodedata


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

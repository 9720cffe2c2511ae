"""Texts without the control characters that can drive a terminal."""

import re

# All of Unicode's classes Cc and Cs, but for line end and tab.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: object) -> str:
    """The text with line ends as `\\n` and other controls replaced.

    Control characters can drive a terminal, and lone surrogates can't be
    written as UTF-8. Each becomes the one character U+FFFD.
    """
    text = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("\ufffd", text)


def one_line(text: object) -> str:
    """The same on one line."""
    return " ".join(clean(text).split())

"""Safe text and short numbers, as all pictures show them."""

import html

from keras_selfattn.controls import clean


def escape(text):
    """The text, safe in HTML's elements and quoted attributes."""
    return html.escape(clean(text))


def percent(weight):
    """A weight in percent, with more decimals where it is small.

    Example:

    >>> percent(0.123), percent(0.0123), percent(0.00123), percent(0.0001)
    ('12%', '1.2%', '0.12%', 'under 0.05%')
    """
    if 0 < weight < 0.0005:
        return "under 0.05%"
    if weight == 0 or weight >= 0.0995:
        return f"{weight:.0%}"
    return f"{weight:.1%}" if weight >= 0.00995 else f"{weight:.2%}"


def cell(weight):
    """A weight in percent as tables show it: blank under 0.05%."""
    return percent(weight) if weight >= 0.0005 else ""

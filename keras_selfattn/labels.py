"""The names of classes: kept as they are given, compared by value or text.

A label may be a string, a number or a boolean, whichever the data have. Files
and served models know text alone, so labels differ as text too.
"""

import numbers

import numpy as np


def plain(labels):
    """A list of the labels, NumPy's as Python's own.

    Args:
        labels: Iterable of strings, numbers and booleans.

    Raises:
        ValueError: if one is something else, or two are the same, as values
            or as text.

    Example:

    >>> import numpy as np
    >>> plain(np.array([0, 1]))
    [0, 1]
    """
    if isinstance(labels, (str, bytes)):
        raise ValueError(
            f"Expected a list of labels. Received: one string: {labels!r}"
        )
    found = [plain_label(label) for label in labels]
    for kind in (found, list(map(str, found))):
        if len(set(kind)) < len(kind):
            raise ValueError(
                f"Expected labels that differ, as text too. Received: {found!r}"
            )
    return found


def plain_label(label):
    """A label, NumPy's as Python's own, or `ValueError` if it is none."""
    value = label.item() if isinstance(label, np.generic) else label
    is_label = isinstance(value, (str, numbers.Real)) and value == value
    if not is_label:
        raise ValueError(
            "Expected a label that is a string, a number or a boolean. "
            f"Received: {label!r}"
        )
    return value


class Finder:
    """Tells a label's place among those that are known.

    Args:
        labels: List of labels, as `plain` gives them.

    Call arguments:
        label: Anything.

    Returns:
        An integer, or `None` where it is none of the labels. Two are the same
        of equal values or of equal text.

    Example:

    >>> find = Finder([1, 2, 3])
    >>> find(2), find("2"), find(2.0), find("two")
    (1, 1, 1, None)
    """

    def __init__(self, labels):
        numbered = list(enumerate(labels))
        self._places = {str(label): place for place, label in numbered}
        self._places.update((label, place) for place, label in numbered)

    def __call__(self, label):
        try:
            label = plain_label(label)
        except ValueError:
            return None
        return self._places.get(label, self._places.get(str(label)))

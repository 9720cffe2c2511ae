"""The names of classes: kept as they are given, compared by value or text.

A label may be a string, a number or a boolean, whichever the data have. Files
and served models know text alone, so labels differ as text too.
"""

import numbers
import re
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_selfattn.controls import one_line

# Labels that are texts would otherwise be repeated whole, and all of them.
_MOST_LISTED = 20
_LONGEST_LISTED = 40

_BOOLEANS = {str(value): str(value).lower() for value in (False, True)}
_HALVES = re.compile("[\ud800-\udfff]")
_WHOLE_DECIMAL = re.compile(r"(-?\d+)\.0+", re.ASCII)


def plain(labels: Iterable) -> list:
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
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise ValueError(
            f"Expected a list of labels. Received: {labels!r:.200}"
        )
    found = [plain_label(label) for label in labels]
    places: dict = {}
    for place, label in enumerate(found):
        for name in (label, str(label)):
            first = places.setdefault(name, place)
            if first != place:
                raise ValueError(
                    "Expected labels that differ, as text too. Received: "
                    f"{found[first]!r:.200} and {label!r:.200}"
                )
    return found


def plain_label(label: Any) -> Any:
    """A label, NumPy's as Python's own, or `ValueError` if it is none."""
    value = label.item() if isinstance(label, np.generic) else label
    is_label = isinstance(value, (str, numbers.Real)) and value == value
    # Those of nanoseconds have an integer as their item.
    is_label &= not isinstance(label, (np.datetime64, np.timedelta64))
    if not is_label:
        raise ValueError(
            "Expected a label that is a string, a number or a boolean. "
            f"Received: {label!r:.200}"
        )
    # No file and no tensor holds half a surrogate pair.
    if isinstance(value, str) and _HALVES.search(value):
        raise ValueError(
            "Expected a label of whole Unicode characters. "
            f"Received: {label!r:.200}"
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
        of equal values or of equal text. Where none of the labels is, those
        that files write in several ways are the same too: a whole number,
        `5`, `5.0`, `"5"` or `"5.0"`, and a boolean, `True`, `"True"` or
        `"true"`.

    Example:

    >>> find = Finder([1, 2, 3])
    >>> find(2), find("2"), find(2.0), find("2.0"), find("two")
    (1, 1, 1, 1, None)
    >>> Finder([False, True])("true")
    1
    """

    def __init__(self, labels: Sequence) -> None:
        numbered = list(enumerate(labels))
        self._places = {str(label): place for place, label in numbered}
        self._places.update((label, place) for place, label in numbered)
        for place, label in numbered:
            self._places.setdefault(_canonical(label), place)

    def __call__(self, label: Any) -> int | None:
        try:
            label = plain_label(label)
        except ValueError:
            return None
        place = self._places.get(label)
        if place is None:
            place = self._places.get(str(label))
        if place is None:
            place = self._places.get(_canonical(label))
        return place


def _canonical(label):
    """The one text of a label that files write in several ways."""
    # Pandas makes floats of integers beside which one is missing.
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = str(label)
    whole = _WHOLE_DECIMAL.fullmatch(text)
    return whole[1] if whole else _BOOLEANS.get(text, text)


def of_classes(labels: Iterable, num_classes: int) -> list:
    """The labels of a model, in the order of its outputs.

    Args:
        labels: List of the labels of texts.
        num_classes: Integer, the number of the model's outputs.

    Returns:
        The numbers of the classes where all labels are such; otherwise the
        labels, sorted, by value where all are numbers.

    Raises:
        ValueError: if there are more or fewer labels than classes, or as
            `of_texts`.

    Example:

    >>> of_classes(["yes", "no", "yes"], 2), of_classes([2, 0, 2], 3)
    (['no', 'yes'], [0, 1, 2])
    """
    found = of_texts(dict.fromkeys(labels))
    if all(_is_number_of_class(label, num_classes) for label in found):
        return list(range(num_classes))
    if len(found) != num_classes:
        raise ValueError(
            f"The model has {num_classes} classes. Received: texts of "
            f"{len(found):,}: {listed(found)}"
        )
    return found


def in_order(labels: Iterable) -> list:
    """Labels sorted, by value where all are numbers."""
    labels = list(labels)
    are_numbers = all(map(is_like_a_number, labels))
    return sorted(labels, key=float if are_numbers else str)


def of_texts(labels: Iterable) -> list:
    """The labels that texts have, as `in_order` gives them.

    Args:
        labels: Iterable of labels, each once.

    Raises:
        ValueError: if two are the same label written in two ways: with white
            space around it or without, or as `Finder` takes them for the same.

    Example:

    >>> of_texts(["yes", "no"])
    ['no', 'yes']
    """
    found = in_order(plain(labels))
    firsts: dict = {}
    for label in found:
        first = firsts.setdefault(
            _canonical(label.strip() if isinstance(label, str) else label),
            label,
        )
        if first is not label:
            raise ValueError(
                "Expected labels that differ by more than white space or the "
                "way a number or a boolean is written. "
                f"Received: {first!r:.200} and {label!r:.200}"
            )
    return found


def numbers_of(
    labels: Iterable, known: Sequence, of: str = "text"
) -> np.ndarray:
    """The numbers of the classes of labels.

    Args:
        labels: Iterable of labels; where no known one is a number, of numbers
            of classes too.
        known: List of the labels of a model.
        of: String, what has the labels, for the message.

    Returns:
        int32 array.

    Raises:
        ValueError: if a label is not known.

    Example:

    >>> numbers_of(["yes", "no"], ["no", "yes"]).tolist()
    [1, 0]
    >>> numbers_of([1, 0], ["no", "yes"]).tolist()
    [1, 0]
    """
    find = Finder(known)
    take_numbers = not any(map(is_like_a_number, known))
    numbers_found = []
    for row, label in enumerate(labels, start=1):
        number = find(label)
        if (
            number is None
            and take_numbers
            and _is_number_of_class(label, len(known))
        ):
            number = int(label)
        if number is None:
            raise unknown(label, known, f"{of} {row}")
        numbers_found.append(number)
    return np.array(numbers_found, "int32")


def unknown(label: Any, known: Sequence, of: str) -> ValueError:
    """The `ValueError` of a label that is none of the known ones.

    Args:
        label: What came.
        known: List of the labels of a model.
        of: String, what has the label.
    """
    return ValueError(
        f"Unknown label of {of}: the model knows {listed(known)}. "
        f"Received: {label!r:.200}"
    )


def listed(labels: Sequence, counts: Sequence | None = None) -> str:
    """Labels as messages name them: the first of many, long ones shortened.

    Args:
        labels: List of labels.
        counts: List of a number that stands behind each, or `None`.

    Example:

    >>> listed(["no", "yes"]), listed(["no", "yes"], [1000, 2])
    ('no, yes', 'no (1,000), yes (2)')
    """
    names = list(map(_shortened, labels[:_MOST_LISTED]))
    if counts is not None:
        pairs = zip(names, counts, strict=False)
        names = [f"{name} ({count:,})" for name, count in pairs]
    shown = ", ".join(names)
    if len(labels) > _MOST_LISTED:
        shown += f" and so on, {len(labels):,} in all"
    return shown


def _shortened(label):
    label = one_line(label)
    if len(label) > _LONGEST_LISTED:
        return f"{label[:_LONGEST_LISTED]}..."
    return label


def _is_number_of_class(label, num_classes):
    return (
        isinstance(label, numbers.Real)
        and not isinstance(label, bool)
        and 0 <= label < num_classes
        and float(label).is_integer()
    )


def is_like_a_number(label: Any) -> bool:
    """Whether a label is a number, or the text of one."""
    try:
        number = float(label)
    except ValueError:
        return False
    # NaN has no place among others.
    return number == number

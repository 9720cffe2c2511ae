"""Labeled texts as functions take them, checked before they are unpacked."""

import collections.abc
import os
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import numpy as np

from keras_selfattn.streams import column_names

_ROWS = (tuple, list, np.ndarray)
_EXPECTED = (
    "of a text and its label each, such as list(zip(texts, labels)), or what "
    "keras_selfattn.data.{} reads"
)


def labeled_rows(rows: Iterable) -> Iterator[tuple[Any, Any]]:
    """Rows that are a text and its label, no more and no less.

    Args:
        rows: Iterable of tuples, lists or arrays; each text a string, or one
            of these of the two of a pair.

    Yields:
        The rows as they are.

    Raises:
        ValueError: at a row that is something else.

    Example:

    >>> list(labeled_rows([("A dog.", "yes")]))
    [('A dog.', 'yes')]
    >>> list(labeled_rows(["no"]))
    Traceback (most recent call last):
    ...
    ValueError: Row 1 must be a text and its label. Received: 'no'
    """
    for number, row in enumerate(rows, start=1):
        yield check_row(row, number)


def check_row(row: Any, number: int, most: int | None = 2) -> Any:
    """A row as it was, or `ValueError`.

    Args:
        row: Anything.
        number: Integer, which row it is.
        most: Integer, how many values a row may have, or `None`.
    """
    is_row = isinstance(row, _ROWS) and len(row) >= 2
    if not is_row or (most is not None and len(row) > most):
        raise ValueError(
            f"Row {number} must be a text and its label. Received: {row!r:.200}"
        )
    if not _is_text(row[0]):
        raise ValueError(
            f"The text of row {number} must be a string, or a pair of strings. "
            f"Received: {row[0]!r:.200}"
        )
    return row


def check_rows(rows: Any, name: str) -> None:
    """`ValueError` where labeled texts can't be read again and again.

    Args:
        rows: What is given for labeled texts.
        name: String, the name of the argument.
    """
    received = None
    reader = "open_corpus"
    if isinstance(rows, (str, bytes, os.PathLike)):
        received = repr(rows)
    elif hasattr(rows, "element_spec"):
        received, reader = "a tf.data.Dataset", "DatasetTexts"
    elif column_names(rows):
        received, reader = f"a {type(rows).__name__}", "DatasetTexts"
    elif isinstance(rows, collections.abc.Iterator):
        received = f"a {type(rows).__name__}, which can be read only once"
    elif not hasattr(rows, "__iter__"):
        received = repr(rows)
    elif isinstance(rows, collections.abc.Sized) and not len(rows):
        received = "none"
    if received is not None:
        raise ValueError(
            f"`{name}` must be rows {_EXPECTED.format(reader)}. "
            f"Received: {received}"
        )


def _is_text(text):
    return isinstance(text, str) or (
        isinstance(text, _ROWS)
        and len(text) == 2
        and all(isinstance(part, str) for part in text)
    )

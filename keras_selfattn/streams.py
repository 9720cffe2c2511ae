"""Long streams of rows, worked on a piece at a time."""

import collections
import collections.abc
import concurrent.futures
import numbers
import os
import sys
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import numpy as np

# More would wait for the one thread that reads.
_MOST_THREADS = 4


def several(texts: Iterable) -> Iterable:
    """The texts, or `ValueError` where one string or none is given for them.

    A string is an iterable too, of texts of one character each.
    """
    if getattr(texts, "shape", None) == ():
        texts = np.asarray(texts).item()
    if isinstance(texts, (str, bytes)):
        raise ValueError(
            "Expected a list of texts, or another iterable of them. "
            f"Received: one string: {texts[:40]!r}"
        )
    if texts is None or isinstance(texts, numbers.Number):
        raise ValueError(
            f"Expected a list of texts. Received: {texts!r}, no texts"
        )
    return texts


def column_names(data: Any) -> list:
    """Those of a table, or of a row of one; of anything else none.

    Example:

    >>> column_names({"text": "A dog.", "label": "yes"}), column_names("text")
    (['text', 'label'], [])
    """
    if isinstance(data, collections.abc.Mapping):
        return list(data)
    # As Arrow and Hugging Face call them, and as pandas and polars do.
    columns = getattr(data, "column_names", getattr(data, "columns", None))
    return [] if columns is None else list(columns)


def chunks(rows: Iterable, size: int) -> Iterator[list]:
    """Lists of up to `size` rows of an iterable."""
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def bar_shown(verbose: str | int) -> str | int:
    """What `"auto"` is of a progress bar: 1 in a terminal, 0 elsewhere."""
    return int(sys.stdout.isatty()) if verbose == "auto" else verbose


def map_ahead(function: Callable, items: Iterable) -> Iterator:
    """What `map` gives, in the same order, computed ahead in a few threads.

    Only a few items are held at a time, and an error of `function` or of
    `items` comes out as it is. It pays for functions that leave the
    interpreter, as TensorFlow's ops do.

    Args:
        function: Callable of one argument, safe to call in threads.
        items: Iterable, read in the caller's thread.

    Example:

    >>> list(map_ahead(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        waiting = collections.deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

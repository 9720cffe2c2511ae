"""Rows that wait in a file until all columns of their table are known."""

import contextlib
import json
import pathlib
import pickle
import tempfile

from keras_selfattn.data.values import as_json
from keras_selfattn.files import disk_named


@contextlib.contextmanager
def spooled(path):
    """Keep rows in a temporary file, with the types of all their columns.

    A table begins with its columns, and the last row of the input may have
    one more. Rows that wait here are read, and answered, once.

    Args:
        path: Path of the table, on whose disk they wait.

    Yields:
        A `Spool`.
    """
    folder = pathlib.Path(path).parent
    with disk_named(path), tempfile.TemporaryFile(dir=folder) as file:
        yield Spool(file)


class Spool:
    """Rows in a file, each a dictionary by column and what belongs to it."""

    def __init__(self, file):
        self._file = file
        self._kinds = {}
        self._count = 0

    def add(self, columns, *more):
        for name, value in columns.items():
            kinds = self._kinds.setdefault(name, set())
            if value is not None:
                kinds.add(_kind(value))
        try:
            row = _pickled(columns, *more)
        except RecursionError:
            # What JSON can nest, pickle may not.
            row = _pickled(as_json(columns), *more)
        self._file.write(row)
        self._count += 1

    def columns(self):
        """The types of the columns of all rows, by name."""
        return {
            name: float
            if found == {int, float}
            else found.pop()
            if len(found) == 1
            else None
            for name, found in self._kinds.items()
        }

    def __iter__(self):
        self._file.seek(0)
        for _ in range(self._count):
            columns, *more = pickle.load(self._file)
            if isinstance(columns, str):
                columns = json.loads(columns)
            yield columns, *more


def _pickled(*row):
    return pickle.dumps(row, pickle.HIGHEST_PROTOCOL)


def _kind(value):
    kind = type(value)
    if kind is int and abs(value) >= 2**63:
        return None
    return kind if kind in (str, int, float, bool) else None

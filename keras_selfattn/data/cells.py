"""Rows of cells between delimiters, with their lines."""

import collections
import csv
import warnings

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.text_lines import read_text_lines

TAB = "\t"
# In characters. Of a stray quote the cell holds all that follows.
_LONGEST_CELL = 1 << 28
# A file is read several times, and says it once.
_warned = set()


def read_cells(path, delimiter):
    """The rows of a file, the names of its columns first.

    Cells are quoted as in CSV. Many programs write tabs without quoting: where
    a row between tabs has as many cells as the first one only if its quotes
    are text, they are, and so is one that would make a row's cell of those
    that follow.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        delimiter: The character between two cells.

    Yields:
        The number of a row's first line, from 1, and the list of its cells.

    Raises:
        ValueError: where it can't be told where a row ends.
    """
    if delimiter == TAB:
        yield from _Tabbed(path)
        return
    rows = _quoted(read_text_lines(path), delimiter)
    while True:
        number = rows.line_num + 1
        try:
            row = _next_row(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise _bad(path, number, error) from error
        if row:
            yield number, row


class _Tabbed:
    def __init__(self, path):
        self._path = path
        self._lines = enumerate(read_text_lines(path), 1)
        # Lines that a quote has taken, and that are read again.
        self._again = collections.deque()
        self._width = None

    def __iter__(self):
        for number, line in self._next_lines():
            if not line.rstrip("\r\n"):
                continue
            row = _as_text(line) if '"' not in line else self._row(number, line)
            self._width = self._width or len(row)
            yield number, row

    def _next_lines(self):
        while True:
            if self._again:
                yield self._again.popleft()
            elif (numbered := next(self._lines, None)) is not None:
                yield numbered
            else:
                return

    def _row(self, number, line):
        """The cells of a row that begins with a line, in which are quotes."""
        taken = []
        row, fault = (), None
        try:
            row = _next_row(_quoted(self._cells_of(number, line, taken), TAB))
        except csv.Error as error:
            fault = error
        if self._is_row(line) and len(row) != self._width:
            self._again.extendleft(reversed(taken))
            return _as_text(line)
        if fault is not None:
            raise _bad(self._path, number, fault) from fault
        return row

    def _cells_of(self, number, line, taken):
        yield line
        for further in self._next_lines():
            taken.append(further)
            # Of one column each line of a text would be a row.
            if self._width != 1 and all(map(self._is_row, (line, further[1]))):
                _warn(self._path, number)
                raise csv.Error("a row within a cell")
            yield further[1]

    def _is_row(self, line):
        """Whether a line is a row if its quotes are text."""
        return line.count(TAB) + 1 == self._width


def _warn(path, number):
    if path not in _warned:
        _warned.add(path)
        warnings.warn(
            f"{place(path)}:{number}: a quote that is not closed in its row is "
            "read as text",
            stacklevel=2,
        )


def _as_text(line):
    return line.rstrip("\r\n").split(TAB)


def _quoted(lines, delimiter):
    # Strict, as a stray quote would otherwise swallow the rows that follow.
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _bad(path, number, error):
    return line_error(path, number, "a row of cells", f"a bad one ({error})")


def _next_row(rows):
    # The limit is the whole process's, and so is put back.
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(rows)
    finally:
        csv.field_size_limit(limit)

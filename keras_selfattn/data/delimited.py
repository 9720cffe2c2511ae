"""Cells between delimiters, below a row of column names."""

import itertools

from keras_selfattn.data.cells import TAB
from keras_selfattn.data.cells import read_cells
from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.text_lines import check_columns
from keras_selfattn.data.text_lines import check_text
from keras_selfattn.data.text_lines import read_text_lines
from keras_selfattn.data.values import cell

_DELIMITERS = (",", ";", TAB, "|")


def check_delimiter(delimiter):
    """`ValueError` unless it is a character that can stand between cells."""
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or delimiter in '"\r\n\0'
    ):
        raise ValueError(
            "`delimiter` must be one character, and no quote or line end. "
            f"Received: delimiter={delimiter!r}"
        )


def read_delimited(path, fields, delimiter, may_miss=()):
    """The records of a file of cells, which `read_cells` tells apart.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        fields: Sequence of the names of the fields to read.
        delimiter: The character between two cells.
        may_miss: Names of fields whose cells may say that there is no value.

    Yields:
        As `keras_selfattn.data.readers.read_table`.
    """
    header = None
    for number, row in read_cells(path, delimiter):
        if header is None:
            check_text(path, number, delimiter.join(row))
            header = [name.strip() for name in row]
            _check_header(path, number, fields, header, delimiter)
            places = {field: header.index(field) for field in fields}
            names = _distinct(header)
            continue
        columns = dict(zip(names, row, strict=False))
        try:
            check_text(path, number, delimiter.join(row))
            if len(row) != len(header):
                raise line_error(
                    path, number, f"{len(header)} cells", f"{len(row)}"
                )
            record = {field: row[place] for field, place in places.items()}
            for field in may_miss:
                record[field] = cell(record[field])
        except ValueError as error:
            record = error
            columns = {name: _text(value) for name, value in columns.items()}
        yield number, columns, record


def read_unquoted(path, fields, optional=(), member=None):
    """Like `read_json_lines`, for tab-separated cells that are never quoted.

    Rows may end before the header does, as the last cells of some corpora
    are left out when they are empty.
    """
    name = place(path, member)
    header = None
    for number, line in enumerate(read_text_lines(path, member), 1):
        if not line.strip():
            continue
        cells = line.rstrip("\r\n").split(TAB)
        if header is None:
            check_text(name, number, line)
            check_columns(name, number, fields, cells)
            header = cells
            columns = {field: header.index(field) for field in fields}
            columns |= {f: header.index(f) for f in optional if f in header}
            least = 1 + max(columns.values())
            absent = {field: "" for field in optional}
            continue
        try:
            check_text(name, number, line)
            if not least <= len(cells) <= len(header):
                raise line_error(
                    name, number, f"{len(header)} cells", f"{len(cells)}"
                )
            row = absent | {f: cells[i] for f, i in columns.items()}
        except ValueError as error:
            row = error
        yield number, row


def _check_header(path, number, fields, header, delimiter):
    try:
        check_columns(path, number, fields, header)
    except ValueError as error:
        line = delimiter.join(header)
        for other in _DELIMITERS:
            names = [name.strip() for name in line.split(other)]
            if other != delimiter and (
                len(header) == 1 < len(names) or set(fields) <= set(names)
            ):
                raise ValueError(
                    f"{error}. Cells that are separated by {other!r} need the "
                    f"delimiter {other!r} (--delimiter {other!r})"
                ) from None
        raise


def _distinct(header):
    """The names of the columns; a repeated one gets a number behind."""
    taken = set(header)
    numbers = {}
    names = []
    for name in header:
        if name not in numbers:
            numbers[name] = itertools.count(2)
            names.append(name)
            continue
        numbered = (f"{name}_{number}" for number in numbers[name])
        names.append(next(new for new in numbered if new not in taken))
    return names


def _text(value):
    """What can be read of a cell that is not all text."""
    return value.encode("utf-8", "replace").decode()

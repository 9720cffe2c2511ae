"""Records from files of the usual tabular formats, one at a time."""

import csv
import json
import math
import pathlib

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.lines import read_lines

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_SUFFIXES = (".jsonl", ".json")
# Stands for a NUL byte as surrogateescape's others do for bytes of no UTF-8.
_NUL = "\udc00"


def read_rows(path, fields):
    """The records of a file with their lines, streamed in constant memory.

    Args:
        path: Path of a UTF-8 file. Its suffix tells the format: `.jsonl` or
            `.json` for JSON Lines, one object a line; `.csv` or `.tsv` for
            delimited cells, quoted where needed, below a row of column
            names. Each may have `.gz` behind. Blank lines don't count.
        fields: Sequence of the names of the fields to read.

    Returns:
        An iterator of pairs of a line number, from 1, and either a
        dictionary of exactly `fields`, whose values are strings, or the
        `ValueError` that says what is wrong with the record. Numbers of JSON
        get their shortest form, 5.0 becoming `"5"`, and its booleans become
        `"true"` and `"false"`; cells stay as they are. Where it can't be
        told where the next row begins, as after a stray quote, the error is
        raised instead.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the suffix is unknown, or the file is damaged, holds no
            records or, where it has a row of names, lacks a field.

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "reviews.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"stars": 5.0, "text": "Nice.", "id": 7}')
    ...     list(read_rows(path, ["text", "stars"]))
    [(1, {'text': 'Nice.', 'stars': '5'})]
    """
    if isinstance(fields, str):
        raise ValueError(
            f"`fields` must be a sequence of names. Received: fields={fields!r}"
        )
    name = pathlib.Path(path).name.lower().removesuffix(".gz")
    suffix = pathlib.PurePath(name).suffix
    if suffix in _JSON_SUFFIXES:
        rows = read_json_lines(path, fields)
    elif suffix in _DELIMITERS:
        rows = _read_delimited(path, tuple(fields), _DELIMITERS[suffix])
    else:
        raise ValueError(
            "`path` must end in "
            f"{', '.join((*_JSON_SUFFIXES, *_DELIMITERS))}, "
            f"with or without .gz behind. Received: {path}"
        )
    return not_empty(rows, path)


def read_json_lines(path, fields, optional=(), member=None):
    """Like `read_rows`, for JSON Lines whatever the file's name.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        fields: Sequence of the names of the fields to read.
        optional: Sequence of the names of fields that are `""` where they
            are missing.
        member: Name of a file in a `.zip` archive.
    """
    name = place(path, member)
    for number, line in enumerate(read_text_lines(path, member), 1):
        if not line.strip():
            continue
        try:
            row = _json_record(name, number, line, fields, optional)
        except ValueError as error:
            row = error
        yield number, row


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
        cells = line.rstrip("\r\n").split("\t")
        if header is None:
            check_text(name, number, line)
            _check_columns(name, number, fields, cells)
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


def not_empty(rows, name):
    """The same rows; a `ValueError` where there is none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise line_error(name, 1, "at least one record", "none")


def read_text_lines(path, member=None):
    """The lines of a file as strings, one at a time.

    What is no UTF-8 becomes lone surrogates, and so does NUL: `check_text`
    finds them.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        member: Name of a file in a `.zip` archive.
    """
    for number, line in enumerate(read_lines(path, member), 1):
        # Spreadsheets put a byte order mark before the first line.
        encoding = "utf-8-sig" if number == 1 else "utf-8"
        text = line.decode(encoding, "surrogateescape")
        # Python 3.10's csv stops at NUL.
        yield text.replace("\0", _NUL)


def check_text(path, number, text):
    """Raises `ValueError` if a line of `read_text_lines` is not all text."""
    if text.isascii():
        return
    if _NUL in text:
        raise line_error(path, number, "text", "a NUL byte")
    try:
        text.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError as error:
        raise line_error(path, number, "UTF-8", str(error)) from error


def _json_record(path, number, line, fields, optional):
    check_text(path, number, line)
    try:
        record = json.loads(line)
    # Too deep nesting is no ValueError.
    except (ValueError, RecursionError) as error:
        raise line_error(
            path, number, "a line of JSON", f"{line[:40]!r} ({error})"
        ) from error
    if not isinstance(record, dict):
        raise line_error(path, number, "a JSON object", json.dumps(record))
    _check_columns(path, number, fields, list(record))
    values = {field: record[field] for field in fields}
    for field in optional:
        value = record.get(field)
        values[field] = "" if value is None else value
    return {
        field: _json_value(path, number, field, value)
        for field, value in values.items()
    }


def _json_value(path, number, field, value):
    if isinstance(value, str):
        # JSON can escape half a character, which no tensor can hold.
        if not value.isascii() and not _encodable(value):
            raise line_error(
                path, number, "whole Unicode characters", json.dumps(value)
            )
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value) if value.is_integer() else value)
    raise line_error(
        path,
        number,
        f"a string, number or boolean as {field!r}",
        json.dumps(value),
    )


def _encodable(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_delimited(path, fields, delimiter):
    # Strict, as a stray quote would otherwise swallow the rows that follow.
    rows = csv.reader(read_text_lines(path), delimiter=delimiter, strict=True)
    header = None
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise line_error(
                path, number, "a row of cells", f"a bad one ({error})"
            ) from error
        if not row:
            continue
        if header is None:
            check_text(path, number, delimiter.join(row))
            header = row
            _check_columns(path, number, fields, header)
            columns = {field: header.index(field) for field in fields}
            continue
        try:
            check_text(path, number, delimiter.join(row))
            if len(row) != len(header):
                raise line_error(
                    path, number, f"{len(header)} cells", f"{len(row)}"
                )
            record = {field: row[columns[field]] for field in fields}
        except ValueError as error:
            record = error
        yield number, record


def _check_columns(path, number, fields, columns):
    for field in fields:
        if columns.count(field) != 1:
            raise line_error(
                path, number, f"one column {field!r}", f"columns {columns}"
            )

"""Records from files of the usual tabular formats, one at a time."""

import csv
import json
import math
import pathlib

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import read_lines

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_SUFFIXES = (".jsonl", ".json")


def read_records(path, fields):
    """The records of a file, streamed in constant memory.

    Args:
        path: Path of a UTF-8 file. Its suffix tells the format: `.jsonl` or
            `.json` for JSON Lines, one object a line; `.csv` or `.tsv` for
            delimited cells, quoted where needed, below a row of column
            names. Each may have `.gz` behind. Blank lines don't count.
        fields: Sequence of the names of the fields to read.

    Returns:
        An iterator of dicts with exactly `fields`, whose values are strings.
        Numbers of JSON get their shortest form, 5.0 becoming `"5"`, and its
        booleans become `"true"` and `"false"`; cells stay as they are.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the suffix is unknown; and, with path and line, if the
            file is damaged, holds no records, or a record is malformed or
            lacks a field.

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "reviews.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"stars": 5.0, "text": "Nice.", "id": 7}')
    ...     list(read_records(path, ["text", "stars"]))
    [{'text': 'Nice.', 'stars': '5'}]
    """
    if isinstance(fields, str):
        raise ValueError(
            f"`fields` must be a sequence of names. Received: fields={fields!r}"
        )
    name = pathlib.Path(path).name.lower().removesuffix(".gz")
    suffix = pathlib.PurePath(name).suffix
    if suffix in _JSON_SUFFIXES:
        records = _read_json_lines
    elif suffix in _DELIMITERS:
        records = _read_delimited
    else:
        raise ValueError(
            "`path` must end in "
            f"{', '.join((*_JSON_SUFFIXES, *_DELIMITERS))}, "
            f"with or without .gz behind. Received: {path}"
        )
    return _checked(records(path, tuple(fields), suffix), path)


def read_labelled_texts(path, text="text", label="label"):
    """The labelled texts of a file, streamed in constant memory.

    Args:
        path: Path of a file that `read_records` reads.
        text: The name of the field with the text.
        label: The name of the field with the label.

    Returns:
        An iterator of pairs of strings `(text, label)`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: as `read_records` does.
    """
    records = read_records(path, (text, label))
    return ((record[text], record[label]) for record in records)


def _checked(records, path):
    empty = True
    for number, record in records:
        empty = False
        for value in record.values():
            # JSON can escape half a character, which no tensor can hold.
            if not value.isascii() and not _encodable(value):
                raise line_error(
                    path, number, "whole Unicode characters", json.dumps(value)
                )
        yield record
    if empty:
        raise line_error(path, 1, "at least one record", "none")


def _encodable(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_text_lines(path):
    for number, line in enumerate(read_lines(path), 1):
        if b"\0" in line:
            raise line_error(path, number, "text", "a NUL byte")
        try:
            # Spreadsheets put a byte order mark before the first line.
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise line_error(path, number, "UTF-8", str(error)) from error


def _read_json_lines(path, fields, suffix):
    for number, line in enumerate(_read_text_lines(path), 1):
        if not line.strip():
            continue
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
        yield (
            number,
            {
                field: _json_value(path, number, field, record[field])
                for field in fields
            },
        )


def _json_value(path, number, field, value):
    if isinstance(value, str):
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


def _read_delimited(path, fields, suffix):
    # Strict, as a stray quote would otherwise swallow the rows that follow.
    rows = csv.reader(
        _read_text_lines(path), delimiter=_DELIMITERS[suffix], strict=True
    )
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
            header = row
            _check_columns(path, number, fields, header)
            columns = {field: header.index(field) for field in fields}
        elif len(row) != len(header):
            raise line_error(
                path, number, f"{len(header)} cells", f"{len(row)}"
            )
        else:
            yield number, {field: row[columns[field]] for field in fields}


def _check_columns(path, number, fields, columns):
    for field in fields:
        if columns.count(field) != 1:
            raise line_error(
                path, number, f"one column {field!r}", f"columns {columns}"
            )

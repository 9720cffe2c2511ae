"""Records from files of the usual formats, one at a time."""

import os
import pathlib
import re
from collections.abc import Iterator
from collections.abc import Sequence

from keras_selfattn.data.compression import SUFFIXES
from keras_selfattn.data.compression import without_compression
from keras_selfattn.data.delimited import check_delimiter
from keras_selfattn.data.delimited import read_delimited
from keras_selfattn.data.delimited import read_unquoted as read_unquoted
from keras_selfattn.data.json_lines import read_json_lines as read_json_lines
from keras_selfattn.data.json_lines import read_objects
from keras_selfattn.data.lines import line_error
from keras_selfattn.data.parquet import read_parquet
from keras_selfattn.data.pipes import open_pipe
from keras_selfattn.data.text_lines import check_text
from keras_selfattn.data.text_lines import not_empty
from keras_selfattn.data.text_lines import read_text_lines

CSV = "csv"
TSV = "tsv"
JSON_LINES = "jsonl"
PLAIN = "txt"
PARQUET = "parquet"
FORMATS = (CSV, TSV, JSON_LINES, PLAIN, PARQUET)

_DELIMITERS = {CSV: ",", TSV: "\t"}
_BY_SUFFIX = {
    ".jsonl": JSON_LINES,
    ".json": JSON_LINES,
    ".csv": CSV,
    ".tsv": TSV,
    ".parquet": PARQUET,
}


def read_rows(
    path: str | os.PathLike,
    fields: Sequence[str],
    format: str | None = None,
    delimiter: str | None = None,
) -> Iterator[tuple[int, dict | ValueError]]:
    """The records of a file with their lines, streamed in constant memory.

    Args:
        path: Path of a UTF-8 file, or `-` for standard input. Its suffix tells
            the format: `.jsonl` or `.json` for JSON Lines, one object a line;
            `.csv` or `.tsv` for delimited cells, quoted where needed, below a
            row of column names; `.parquet`. All but the last may have `.gz`,
            `.bz2`, `.xz` or `.zst` behind. Blank lines don't count. Between
            tabs a quote that doesn't end with its cell is text.
        fields: Sequence of the names of the fields to read.
        format: `"csv"`, `"tsv"`, `"jsonl"`, `"parquet"` or, for one text a
            line, `"txt"`, whose one field may have any name; `None` to tell
            by the suffix.
        delimiter: The character between two cells, `None` for the format's.

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
        ImportError: if the package that reads such files is not installed.
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
    rows = read_table(path, fields, format, delimiter)
    return ((number, record) for number, _, record in rows)


def read_table(path, fields, format=None, delimiter=None, may_miss=()):
    """The same beside all columns of the file.

    Args:
        path: As in `read_rows`.
        fields: The same.
        format: The same.
        delimiter: The same.
        may_miss: Those of `fields` that are `None` where the file has no
            value: JSON's `null` and NaN; cells that are empty, `nan` or
            `null`.

    Returns:
        An iterator of the line number, a dictionary of what could be read of
        all columns, as the file has them, and the record as in `read_rows`.
    """
    if isinstance(fields, str):
        raise ValueError(
            f"`fields` must be a sequence of names. Received: fields={fields!r}"
        )
    format = format or guess_format(path)
    if delimiter is not None:
        check_delimiter(delimiter)
        if format not in _DELIMITERS:
            raise ValueError(
                "`delimiter` is that of csv and tsv files, and "
                f"{path} is read as {format}. Received: {delimiter!r}"
            )
    if format == JSON_LINES:
        rows = read_objects(path, fields, may_miss)
    elif format == PARQUET:
        rows = read_parquet(path, fields, may_miss)
    elif format == PLAIN:
        rows = _read_plain(path, fields)
    else:
        delimiter = delimiter or _DELIMITERS[format]
        rows = read_delimited(path, tuple(fields), delimiter, may_miss)
    return not_empty(rows, path)


def guess_format(path):
    """The format of records that a file's name tells, or `ValueError`."""
    name = without_compression(_name(path))
    format = _BY_SUFFIX.get(pathlib.PurePath(name).suffix)
    if format is None or (format == PARQUET and name != _name(path)):
        raise ValueError(
            f"`path` must end in {', '.join(_BY_SUFFIX)}, with or without "
            f"{', '.join(SUFFIXES)} behind all but the last, or have its "
            f"`format` told. Received: {path}"
        )
    return format


def sniff_format(path):
    """The format of records that standard input tells, by its first text."""
    with open_pipe(path) as stream:
        if stream.read(4) == b"PAR1":
            return PARQUET
    first = next(filter(str.strip, read_text_lines(path)), "")
    # Texts may begin with a brace, too.
    if re.match(r'\s*\{\s*(["}]|$)', first):
        return JSON_LINES
    return TSV if "\t" in first else CSV


def _name(path):
    return pathlib.Path(path).name.lower()


def _read_plain(path, fields):
    if len(fields) != 1:
        raise line_error(
            path, 1, f"columns {list(fields)}", "plain text, a text a line"
        )
    for number, line in enumerate(read_text_lines(path), 1):
        record = {fields[0]: line.rstrip("\r\n")}
        try:
            check_text(path, number, line)
        except ValueError as error:
            yield number, {}, error
            continue
        yield number, record, record

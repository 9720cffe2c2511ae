"""Tables that commands write: CSV, TSV, JSON Lines and Parquet."""

import contextlib
import csv
import pathlib

from keras_selfattn.data.parquet import pyarrow
from keras_selfattn.data.parquet import write_parquet
from keras_selfattn.data.values import as_json
from keras_selfattn.data.values import as_text
from keras_selfattn.files import replaced_file
from keras_selfattn.locks import path_held

STANDARD_OUTPUT = "-"
JSON_LINES = ".jsonl"
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
SUFFIXES = (*_DELIMITERS, JSON_LINES, _PARQUET)


def check_table(path, read=()):
    """What is wrong with the path of a table, said before there is one.

    Args:
        path: Path of the file to write.
        read: Paths of the files that are read, as `check_folder_of` takes
            them.

    Raises:
        ValueError: if its suffix is that of no format, there is no folder
            to write it to, or it is one of those that are read.
        ImportError: if the package that writes it is not installed.
    """
    if suffix(path) not in SUFFIXES:
        raise ValueError(
            f"The file to write must end in {', '.join(SUFFIXES)}. "
            f"Received: {path}"
        )
    check_folder_of(path, read)
    if suffix(path) == _PARQUET:
        pyarrow()


def check_folder_of(path, read=()):
    """`ValueError` where a file can't be written, or is one of those `read`."""
    if str(path) == STANDARD_OUTPUT:
        raise ValueError(
            "Expected the path of a file to write. "
            f"Received: {path}, which is standard output elsewhere"
        )
    path = pathlib.Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(
            f"There must be a folder to write the file to. Received: {path}"
        )
    for other in read:
        if other is not None and _is_same(path, pathlib.Path(other)):
            raise ValueError(f"{path} is read: write to another file")


def _is_same(path, other):
    return path.exists() and other.exists() and path.samefile(other)


def suffix(path):
    return pathlib.Path(path).suffix.lower()


@contextlib.contextmanager
def new_table(path, columns):
    """Write a table beside its path, and rename it when it is whole.

    Args:
        path: Path of the file; its suffix tells the format.
        columns: Dictionary of the types of the columns, by name: `str`,
            `int`, `float`, `bool`, or `None` for any value as text.

    Yields:
        A function that writes a row, a dictionary by column. Columns that it
        lacks stay empty.
    """
    with path_held(path), replaced_file(path) as beside:
        if suffix(path) == _PARQUET:
            with write_parquet(beside, columns) as write:
                yield write
            return
        # Half of a surrogate pair can only be written as an escape.
        with open(
            beside, "w", encoding="utf-8", errors="backslashreplace", newline=""
        ) as file:
            if suffix(path) == JSON_LINES:
                yield lambda row: file.write(as_json(row) + "\n")
                return
            writer = csv.DictWriter(
                file, list(columns), delimiter=_DELIMITERS[suffix(path)]
            )
            writer.writeheader()
            yield lambda row: writer.writerow(
                {
                    name: None if value is None else as_text(value)
                    for name, value in row.items()
                }
            )

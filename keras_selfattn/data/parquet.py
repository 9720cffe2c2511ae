"""Parquet files, read and written by pyarrow a batch at a time."""

import contextlib
import io

from keras_selfattn.data import pipes
from keras_selfattn.data.lines import line_error
from keras_selfattn.data.text_lines import check_columns
from keras_selfattn.data.values import as_text
from keras_selfattn.data.values import value
from keras_selfattn.first_use import import_extra

_ROWS = 1024


def pyarrow():
    """The package, or an `ImportError` that tells how to install it."""
    import_extra("pyarrow.parquet", "A Parquet file", "pyarrow", "parquet")
    import pyarrow

    return pyarrow


def read_parquet(path, fields, may_miss=()):
    """The records of a Parquet file.

    Args:
        path: Path of the file, or `-` for standard input.
        fields: Sequence of the names of the fields to read.
        may_miss: Names of fields that may have no value.

    Yields:
        As `keras_selfattn.data.readers.read_table`, with the number of the
        row in the place of the line's.
    """
    pa = pyarrow()
    with _open(path) as file:
        # Of damaged files pyarrow has errors of all kinds.
        try:
            source = pa.parquet.ParquetFile(file)
            names = source.schema_arrow.names
        except Exception as error:
            raise line_error(path, 1, "a Parquet file", str(error)) from error
        check_columns(path, 1, fields, names)
        for number, columns in _rows(path, source):
            try:
                record = {
                    field: value(
                        path, number, field, columns[field], field in may_miss
                    )
                    for field in fields
                }
            except ValueError as error:
                record = error
            yield number, columns, record


def _open(path):
    if pipes.is_pipe(path):
        # The list of its parts stands at a Parquet file's end.
        with pipes.open_pipe(path) as stream:
            return io.BytesIO(stream.readall())
    return open(path, "rb")


def _rows(path, source):
    number = 0
    try:
        for batch in source.iter_batches(_ROWS):
            for columns in batch.to_pylist():
                number += 1
                yield number, columns
    except Exception as error:
        raise line_error(
            path, number + 1, "an intact file", str(error)
        ) from error


@contextlib.contextmanager
def write_parquet(path, columns):
    """Write a Parquet file.

    Args:
        path: Path of the file.
        columns: Dictionary of the types of the columns, by name: `str`,
            `int`, `float`, `bool`, or `None` for any value as text.

    Yields:
        A function that writes a row, a dictionary by column.
    """
    pa = pyarrow()
    types = {
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
    }
    schema = pa.schema(
        [(name, types.get(kind, pa.string())) for name, kind in columns.items()]
    )
    rows = []
    with pa.parquet.ParquetWriter(path, schema) as writer:

        def write_rows():
            writer.write_table(pa.Table.from_pylist(rows, schema))
            rows.clear()

        def write(row):
            rows.append(
                {
                    name: _as_string(row.get(name), kind)
                    for name, kind in columns.items()
                }
            )
            if len(rows) == _ROWS:
                write_rows()

        yield write
        write_rows()


def _as_string(value, kind):
    if value is None or kind in (int, float, bool):
        return value
    # Half of a surrogate pair can only be written as an escape.
    return as_text(value).encode("utf-8", "backslashreplace").decode()

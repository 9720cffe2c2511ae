"""Columns of an encoder, written as Parquet a chunk of rows at a time."""

import contextlib
import json

import numpy as np

from keras_selfattn.data.parquet import pyarrow
from keras_selfattn.data.plan import offsets_of
from keras_selfattn.encoding.views import ATTENTION
from keras_selfattn.encoding.views import PROBABILITIES

# Of a file's metadata: what `new_parquet` is told at its end.
_KEY = b"keras_selfattn"


@contextlib.contextmanager
def new_parquet(path, labels):
    """Write a Parquet file.

    Args:
        path: Path of the file.
        labels: List of the labels; each has a column of its probabilities.

    Yields:
        A function that writes some rows, columns as an encoder gives them,
        and one that keeps a dictionary in the file, asked at most once.
    """
    pa = pyarrow()
    with contextlib.ExitStack() as stack:
        writer = None

        def write(columns):
            nonlocal writer
            table = pa.table(dict(_arrays(pa, columns, labels)))
            if writer is None:
                writer = stack.enter_context(
                    pa.parquet.ParquetWriter(path, table.schema)
                )
            writer.write_table(table)

        def keep(facts):
            writer.add_key_value_metadata({_KEY: json.dumps(facts)})

        yield write, keep


def read_kept(path):
    """The dictionary that is kept in a Parquet file, or `None` without."""
    pa = pyarrow()
    try:
        metadata = pa.parquet.read_metadata(path).metadata
        return json.loads((metadata or {})[_KEY])
    except (pa.ArrowException, KeyError, ValueError):
        return None


def _arrays(pa, columns, labels):
    for name, rows in columns.items():
        if name == PROBABILITIES:
            for label, column in zip(labels, rows.T, strict=True):
                yield f"probability_{label}", pa.array(column)
        elif name.endswith(ATTENTION):
            yield name, _matrices(pa, rows)
        elif isinstance(rows, list):
            yield name, pa.array(rows, pa.list_(pa.string()))
        elif rows.ndim == 2:
            flat = pa.array(np.ascontiguousarray(rows).ravel())
            yield (
                name,
                pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]),
            )
        else:
            yield name, pa.array(rows.tolist(), pa.string())


def _matrices(pa, rows):
    """An array of lists of lists of one matrix a row, `None` for no matrix.

    Lists of Python's numbers would take a hundred times as long.
    """
    matrices = [np.zeros((0, 0), "float32") if m is None else m for m in rows]
    lines = np.array([len(m) for m in matrices], "int64")
    widths = np.repeat([m.shape[1] for m in matrices], lines).astype("int64")
    values = [np.zeros(0, "float32"), *(m.ravel() for m in matrices)]
    inner = pa.ListArray.from_arrays(
        _ends(widths), pa.array(np.concatenate(values), pa.float32())
    )
    ends = pa.array(_ends(lines))
    missing = pa.array([m is None for m in rows], pa.bool_())
    return pa.ListArray.from_arrays(ends, inner, mask=missing)


def _ends(lengths):
    # Those of Arrow's lists.
    return offsets_of(lengths).astype("int32")

"""Files of arrays that commands write: .npz, Parquet, and folders of .npy."""

import contextlib
import pathlib

import numpy as np

from keras_selfattn.cli.tables import check_folder_of
from keras_selfattn.cli.tables import suffix
from keras_selfattn.data.parquet import pyarrow
from keras_selfattn.data.store import Folder
from keras_selfattn.data.store import Memory
from keras_selfattn.files import replaced_file
from keras_selfattn.files import replaced_folder
from keras_selfattn.locks import path_held

_NPZ = ".npz"
_PARQUET = ".parquet"
_LABELS = "labels"


def check_vectors(path):
    """What is wrong with a path of arrays, said before there are any.

    Args:
        path: Path of the file, or of the folder, to write.

    Raises:
        ValueError: if it has the suffix of another format, there is no
            folder to write the file to, or the folder isn't new or empty.
        ImportError: if the package that writes it is not installed.
    """
    if suffix(path) not in (_NPZ, _PARQUET, ""):
        raise ValueError(
            f"What to write must end in {_NPZ} or {_PARQUET}, or be a folder. "
            f"Received: {path}"
        )
    if suffix(path):
        check_folder_of(path)
    else:
        folder = pathlib.Path(path)
        if folder.exists() and not (
            folder.is_dir() and not any(folder.iterdir())
        ):
            raise ValueError(
                f"The folder to write must be new or empty. Received: {path}"
            )
    if suffix(path) == _PARQUET:
        pyarrow()


@contextlib.contextmanager
def new_vectors(path, labels):
    """Write arrays beside a path, and rename them when they are whole.

    Args:
        path: Path of the file or folder.
        labels: List of the labels, kept beside the arrays; in Parquet each
            has a column of its probabilities instead.

    Yields:
        A function that writes some rows, a dictionary of arrays by name.
    """
    with path_held(path):
        if suffix(path) == _PARQUET:
            with (
                replaced_file(path) as beside,
                _parquet(beside, labels) as write,
            ):
                yield write
        elif suffix(path) == _NPZ:
            with replaced_file(path) as beside, Memory() as store:
                yield lambda arrays: _add(store, arrays)
                # Given a path, NumPy would put the suffix behind it.
                with open(beside, "wb") as file:
                    np.savez(file, **store.finish(), labels=_strings(labels))
        else:
            with replaced_folder(path) as beside:
                with Folder(beside) as store:
                    yield lambda arrays: _add(store, arrays)
                    store.finish()
                np.save(beside / f"{_LABELS}.npy", _strings(labels))


def _strings(labels):
    return np.array([str(label) for label in labels])


def _add(store, arrays):
    for name, rows in arrays.items():
        store.add(name, rows)


@contextlib.contextmanager
def _parquet(path, labels):
    pa = pyarrow()
    with contextlib.ExitStack() as stack:
        writer = None

        def write(arrays):
            nonlocal writer
            table = pa.table(dict(_columns(pa, arrays, labels)))
            if writer is None:
                writer = stack.enter_context(
                    pa.parquet.ParquetWriter(path, table.schema)
                )
            writer.write_table(table)

        yield write


def _columns(pa, arrays, labels):
    for name, rows in arrays.items():
        if name == "probabilities":
            for label, column in zip(labels, rows.T, strict=True):
                yield f"probability_{label}", pa.array(column)
        elif rows.ndim == 2:
            flat = pa.array(np.ascontiguousarray(rows).ravel())
            yield (
                name,
                pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]),
            )
        else:
            yield name, pa.array(rows.tolist(), pa.string())

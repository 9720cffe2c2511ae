"""Files of arrays that commands write: .npz, Parquet, and folders of .npy."""

import contextlib
import pathlib

import numpy as np

from keras_selfattn.cli.tables import check_folder_of
from keras_selfattn.cli.tables import suffix
from keras_selfattn.data.parquet import pyarrow
from keras_selfattn.data.store import Folder
from keras_selfattn.data.store import Memory
from keras_selfattn.encoding.tables import new_parquet
from keras_selfattn.encoding.views import ATTENTION
from keras_selfattn.files import replaced_file
from keras_selfattn.files import replaced_folder
from keras_selfattn.locks import path_held

_NPZ = ".npz"
_PARQUET = ".parquet"
_LABELS = "labels"


def check_vectors(path, give, read=()):
    """What is wrong with a path of arrays, said before there are any.

    Args:
        path: Path of the file, or of the folder, to write.
        give: Names of what is to be written.
        read: Paths of the files that are read.

    Raises:
        ValueError: if it has the suffix of another format, there is no
            folder to write the file to, it is one of those that are read,
            the folder isn't new or empty, or the format can't hold what is
            to be written.
        ImportError: if the package that writes it is not installed.
    """
    if suffix(path) not in (_NPZ, _PARQUET, ""):
        raise ValueError(
            f"What to write must end in {_NPZ} or {_PARQUET}, or be a folder. "
            f"Received: {path}"
        )
    if suffix(path):
        check_folder_of(path, read)
    else:
        _check_new(path)
    if suffix(path) == _PARQUET:
        pyarrow()
    elif ATTENTION in give:
        raise ValueError(
            f"{ATTENTION} has as many numbers as a text has words, and is "
            f"written to {_PARQUET} alone. Received: {path}"
        )


def _check_new(path):
    folder = pathlib.Path(path)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(
            f"The folder to write must be new or empty. Received: {path}"
        )


@contextlib.contextmanager
def new_vectors(path, labels):
    """Write arrays beside a path, and rename them when they are whole.

    Args:
        path: Path of the file or folder.
        labels: List of the labels, kept beside the arrays; in Parquet each
            has a column of its probabilities instead.

    Yields:
        A function that writes some rows, a dictionary of arrays by name.

    Raises:
        ValueError: if another process is writing it, or has meanwhile written
            the folder.
    """
    with path_held(path):
        if suffix(path) == _PARQUET:
            with (
                replaced_file(path) as beside,
                new_parquet(beside, labels) as (write, _),
            ):
                yield write
        elif suffix(path) == _NPZ:
            with replaced_file(path) as beside, Memory() as store:
                yield lambda arrays: _add(store, arrays)
                # Given a path, NumPy would put the suffix behind it.
                with open(beside, "wb") as file:
                    np.savez(file, **store.finish(), labels=_strings(labels))
        else:
            _check_new(path)
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

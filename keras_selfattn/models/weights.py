"""The file of a model's weights: written whole, and read with doubts."""

import io
import os
import warnings

import h5py
import numpy as np
from keras import ops

from keras_selfattn.controls import one_line
from keras_selfattn.files import write_bytes
from keras_selfattn.models.packed_weights import PACKED_FILE
from keras_selfattn.models.packed_weights import load_packed

WEIGHTS_FILE = "model.weights.h5"


class _Memory(io.BytesIO):
    """What Keras takes for a file of weights."""

    def __str__(self):
        return WEIGHTS_FILE


class SavesWeights:
    """A model whose file of weights can't end the process.

    HDF5 does, in a segmentation fault, where its disk is full: so it writes
    to memory.
    """

    def save_weights(self, filepath, overwrite=True, **kwargs):
        if not overwrite or kwargs or not _is_plain(filepath):
            super().save_weights(filepath, overwrite, **kwargs)
            return
        memory = _Memory()
        super().save_weights(memory)
        write_bytes(filepath, memory.getbuffer())


def _is_plain(path):
    return (
        isinstance(path, (str, os.PathLike))
        and os.fspath(path).endswith(".weights.h5")
        and "://" not in os.fspath(path)
    )


def load_weights(model, folder):
    """Load the weights of a model from the file in its folder.

    Args:
        model: The model.
        folder: `pathlib.Path` of the folder.

    Raises:
        ValueError: if the file is not that of such a model, or a weight is
            not finite.
    """
    path = folder / PACKED_FILE
    if path.exists():
        load_packed(model, path)
    else:
        path = folder / WEIGHTS_FILE
        _load_keras_weights(model, path)
    for weight in model.weights:
        if not np.isfinite(ops.convert_to_numpy(weight)).all():
            raise ValueError(
                f"{path}: the weight {weight.path} holds values that are not "
                "finite"
            )


def _load_keras_weights(model, path):
    try:
        # Keras warns where it leaves fresh weights in a layer.
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            # From memory: HDF5 keeps a file open whose reading has failed,
            # and would read that one again where another takes its place.
            memory = _Memory(path.read_bytes())
            _check_numbers(memory)
            model.load_weights(memory)
    # HDF5 and Keras have all kinds of errors for a damaged file.
    except Exception as error:
        raise ValueError(
            f"{path} does not hold the weights of the model: {one_line(error)}"
        ) from error


def _check_numbers(memory):
    """NumPy would read text as numbers, and drop what is imaginary."""

    def check(name, item):
        if (
            isinstance(item, h5py.Dataset)
            and item.dtype.kind not in "biuf"
            # NumPy itself has no type for it.
            and item.attrs.get("dtype") != "bfloat16"
        ):
            raise ValueError(
                f"{name} must hold real numbers. Received: {item.dtype}"
            )

    with h5py.File(memory, "r") as file:
        file.visititems(check)

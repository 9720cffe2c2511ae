"""Weights in a quarter of the bits: what a model that ships is stored as.

Matrices are whole numbers of 8 bits, with a scale for each unit, or for each
word of a table; all other weights are float16. Loaded, they are the float32
numbers that they stand for.
"""

import io

import numpy as np
from keras import ops

from keras_selfattn.controls import one_line
from keras_selfattn.files import write_bytes
from keras_selfattn.layers import WordEmbedding

PACKED_FILE = "weights.npz"

_SCALE = "scale"


def save_packed(model, path):
    """Write the weights of a model to a packed file.

    Args:
        model: A classifier.
        path: Path of the file.

    Raises:
        ValueError: if a weight is too large for float16.
    """
    arrays = {}
    for name, layer, weight in _weights(model):
        if is_matrix(weight):
            numbers, scale = quantize(weight, _scaled_axis(layer))
            arrays[name], arrays[f"{name}/{_SCALE}"] = numbers, scale
            continue
        array = ops.convert_to_numpy(weight).astype("float32")
        if np.abs(array).max(initial=0.0) > np.finfo("float16").max:
            raise ValueError(
                f"The weight {weight.path} is too large for half precision"
            )
        arrays[name] = array.astype("float16")
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)
    write_bytes(path, memory.getbuffer())


def quantize(weight, axis):
    """A matrix as whole numbers and float32 scales.

    Numbers times scales, quantized again, give the same numbers and scales.

    Args:
        weight: A `keras.Variable`, or an array.
        axis: Integer, the axis along which numbers share their scale.

    Returns:
        An int8 array of the weight's shape, and the float32 array that it is
        to be multiplied by.
    """
    array = np.asarray(ops.convert_to_numpy(weight), "float32")
    largest = np.abs(array).max(axis=axis, keepdims=True)
    # A unit whose weights are all zero has a scale too.
    scale = np.maximum(largest, np.float32(1e-30)) / np.float32(127)
    return np.round(array / scale).astype("int8"), scale


def is_matrix(weight):
    """Whether a weight is one that is multiplied or looked up."""
    return len(weight.shape) > 1 and "bias" not in weight.name


def load_packed(model, path):
    """Give a model the weights of a packed file.

    Args:
        model: A classifier.
        path: `pathlib.Path` of the file.

    Raises:
        ValueError: if the file is not that of such a model.
    """
    try:
        # NumPy leaves a damaged file open.
        memory = io.BytesIO(path.read_bytes())
        with np.load(memory, allow_pickle=False) as file:
            arrays = dict(file)
        for name, layer, weight in _weights(model):
            shape = list(weight.shape)
            if f"{name}/{_SCALE}" not in arrays:
                weight.assign(_take(arrays, name, shape, "float16"))
                continue
            array = _take(arrays, name, shape, "int8")
            shape[_scaled_axis(layer)] = 1
            scale = _take(arrays, f"{name}/{_SCALE}", shape, "float32")
            weight.assign(array * scale)
        if arrays:
            raise ValueError(f"more weights than the model has: {[*arrays]}")
    # What NumPy makes of a damaged file may be any error.
    except Exception as error:
        raise ValueError(
            f"{path} does not hold the weights of the model: {one_line(error)}"
        ) from error


def _take(arrays, name, shape, dtype):
    array = arrays.pop(name)
    if list(array.shape) != shape or array.dtype != dtype:
        raise ValueError(
            f"{name} must be {dtype} of the shape {tuple(shape)}. "
            f"Received: {array.dtype} of the shape {array.shape}"
        )
    return array.astype("float32")


def _scaled_axis(layer):
    """The axis that one scale stands for: a word's, or what a unit sums up."""
    return -1 if isinstance(layer, WordEmbedding) else -2


def _weights(model):
    """Each weight with its layer, and a name that tells it from the others."""
    for layer in model.layers:
        for number, weight in enumerate(layer.weights):
            yield f"{layer.name}/{number}", layer, weight

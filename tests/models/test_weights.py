"""The file of a model's weights: read anew each time, and numbers only."""

import re

import h5py
import keras
import numpy as np
import pytest

from keras_selfattn.models.weights import WEIGHTS_FILE
from keras_selfattn.models.weights import load_weights
from tests.tiny_classifier import tiny_classifier


def test_a_file_that_failed_is_read_anew(tmp_path):
    """HDF5 takes a file it still has open for one written in its place."""
    model = tiny_classifier()
    path = tmp_path / WEIGHTS_FILE
    model.save_weights(path)
    whole = path.read_bytes()
    with h5py.File(path, "r+") as file:
        del file["layers/structured_self_attention"]
    # Whoever keeps the error, keeps what it was reading.
    with pytest.raises(ValueError) as kept:
        load_weights(model, tmp_path)
    path.write_bytes(whole)
    weights = model.get_weights()
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    load_weights(model, tmp_path)
    for read, saved in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(read, saved)
    assert WEIGHTS_FILE in str(kept.value)


@pytest.mark.parametrize("dtype", ["S8", "complex64"])
def test_what_is_no_number_is_refused(tmp_path, dtype):
    model = tiny_classifier()
    path = tmp_path / WEIGHTS_FILE
    model.save_weights(path)
    with h5py.File(path, "r+") as file:
        kernel = file["layers/dense/vars/0"][()]
        del file["layers/dense/vars/0"]
        file["layers/dense/vars/0"] = kernel.astype(dtype)
    error = f"layers/dense/vars/0 must hold real numbers.*{dtype}"
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} .*{error}"):
        load_weights(model, tmp_path)


def test_brain_floats_are_numbers(tmp_path):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("bfloat16")
    try:
        model = tiny_classifier()
    finally:
        keras.config.set_dtype_policy(before)
    assert "bfloat16" in {weight.dtype for weight in model.weights}
    model.save_weights(tmp_path / WEIGHTS_FILE)
    load_weights(model, tmp_path)

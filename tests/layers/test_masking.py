"""The shared masked operations at the edges of float16 and of the mask."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import masking

MASK = np.array([[True, False, True], [False, False, False]])


def test_softmax_by_hand():
    logits = np.log([[1.0, 50.0, 3.0], [1.0, 1.0, 1.0]]).astype("float32")
    weights = masking.masked_softmax(ops.convert_to_tensor(logits), MASK, -1)
    np.testing.assert_allclose(
        ops.convert_to_numpy(weights),
        [[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]],
        rtol=1e-6,
    )


@pytest.mark.parametrize("size", [6e4, -6e4])
def test_softmax_of_the_largest_half_precision_logits(size):
    logits = np.array([[size, -size, size], [size, size, size]], "float16")
    weights = masking.masked_softmax(ops.convert_to_tensor(logits), MASK, -1)
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    np.testing.assert_array_equal(
        ops.convert_to_numpy(weights), [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]
    )


def test_the_mean_of_a_long_text_does_not_overflow():
    states = np.full((1, 4, 1), 6e4, "float16")
    mean = masking.masked_mean(
        ops.convert_to_tensor(states), ops.ones((1, 4), dtype="bool")
    )
    assert float(ops.squeeze(ops.cast(mean, "float32"))) == states[0, 0, 0]


def test_the_maximum_of_negative_states_is_negative():
    states = ops.convert_to_tensor(
        np.array([[[-3.0], [-1.0], [-2.0]]] * 2, "float32")
    )
    highest = masking.masked_max(states, ops.convert_to_tensor(MASK))
    assert ops.convert_to_numpy(highest).tolist() == [[-2.0], [0.0]]


def test_no_mask_keeps_all_steps():
    mask = masking.validate_mask(None, np.zeros((2, 3, 4)))
    assert ops.convert_to_numpy(mask).tolist() == [[True] * 3] * 2


def test_a_mask_of_numbers_is_read_as_booleans():
    mask = masking.validate_mask(np.array([[2, 0, 1]]), np.zeros((1, 3, 4)))
    assert ops.convert_to_numpy(mask).tolist() == [[True, False, True]]


def test_an_unknown_size_fits_any_mask():
    inputs = keras.KerasTensor((None, None, 4))
    masking.validate_mask(np.ones((2, 3), bool), inputs)
    with pytest.raises(ValueError, match=r"`mask`.*\(None, None\).*\(2,\)"):
        masking.validate_mask(np.ones(2, bool), inputs)

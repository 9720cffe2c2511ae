"""The shared masked operations at the edges of float16 and of the mask."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import masking
from tests.gradients import value_and_gradients

MASK = np.array([[True, False, True], [False, False, False]])


def test_softmax_by_hand():
    logits = np.log([[1.0, 50.0, 3.0], [1.0, 1.0, 1.0]]).astype("float32")
    weights = masking.masked_softmax(ops.convert_to_tensor(logits), MASK, -1)
    np.testing.assert_allclose(
        ops.convert_to_numpy(weights),
        [[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]],
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("logits", "mask"),
    [
        # One step; and a highest score that rounds to 1.
        ([[2.0, 5.0]], [[True, False]]),
        ([[90.0, 1.0, 2.0]], [[True, True, True]]),
    ],
)
def test_softmax_of_a_single_weight_has_no_gradient(logits, mask):
    logits = keras.Variable(np.array(logits, "float32"))
    mask = ops.convert_to_tensor(np.array(mask))
    factors = ops.arange(3.0, 3.0 + logits.shape[1])
    value, (gradient,) = value_and_gradients(
        lambda: ops.sum(
            factors
            * masking.masked_softmax(ops.convert_to_tensor(logits), mask, -1)
        ),
        [logits],
    )
    assert value == 3.0
    np.testing.assert_allclose(gradient, 0.0, atol=1e-30)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_has_a_softmax_of_nothing(shape):
    logits = ops.zeros(shape, dtype="float16")
    mask = ops.ones(shape, dtype="bool")
    weights = masking.masked_softmax(logits, mask, -1)
    assert tuple(weights.shape) == shape
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"


@pytest.mark.parametrize("function", [masking.masked_max, masking.masked_mean])
@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4)])
def test_nothing_is_pooled_to_zeros(function, shape):
    pooled = function(ops.ones(shape), ops.ones(shape[:2], dtype="bool"))
    assert ops.convert_to_numpy(pooled).tolist() == [[0.0] * 4] * shape[0]


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


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float16", [65_504.0, -65_504.0, 2.0]),
        ("bfloat16", [2.0**17, -(2.0**17), 2.0]),
        ("float32", [2.0**17, -(2.0**17), 2.0]),
    ],
)
def test_a_cast_stays_finite(dtype, expected):
    values = ops.convert_to_tensor([2.0**17, -(2.0**17), 2.0])
    cast = masking.saturating_cast(values, dtype)
    assert keras.backend.standardize_dtype(cast.dtype) == dtype
    cast = ops.convert_to_numpy(ops.cast(cast, "float32"))
    assert cast.tolist() == expected

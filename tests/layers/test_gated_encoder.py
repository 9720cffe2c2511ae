import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import GatedEncoder
from tests.gradients import value_and_gradients


def test_each_row_has_its_own_matrix():
    layer = GatedEncoder(units=1)
    layer.build([(1, 2, 2), (1, 2, 2)])
    layer.left_kernel.assign([[[1.0], [2.0]], [[3.0], [4.0]]])
    layer.right_kernel.assign([[[5.0], [6.0]], [[7.0], [8.0]]])
    left = np.array([[[1.0, 1.0], [1.0, 0.0]]])
    right = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_allclose(
        ops.convert_to_numpy(layer((left, right))), [[[3 * 5], [3 * 8]]]
    )


def test_both_sides_start_apart():
    layer = GatedEncoder(units=3)
    layer([keras.Input((2, 4)), keras.Input((2, 4))])
    left, right = map(ops.convert_to_numpy, layer.weights)
    assert np.abs(left - right).max() > 0.01


def test_rows_must_be_known():
    sides = [keras.Input((None, 4)), keras.Input((2, 4))]
    with pytest.raises(ValueError, match=r"rows.*\(None, None, 4\)"):
        GatedEncoder(units=3)(sides)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(200.0, 65_504), (-200.0, -65_504), (40_000.0, 65_504), (2.0, 16)],
)
def test_products_past_float16_are_its_largest_number(size, expected):
    layer = GatedEncoder(1, kernel_initializer="ones", dtype="mixed_float16")
    left = keras.Variable(np.full((1, 3, 2), size))
    right = keras.Variable(np.full((1, 3, 2), abs(size)))
    layer.build([left.shape, right.shape])

    def call():
        return layer(tuple(map(ops.convert_to_tensor, (left, right))))

    assert keras.backend.standardize_dtype(call().dtype) == "float16"
    np.testing.assert_array_equal(
        ops.convert_to_numpy(call()), np.full((1, 3, 1), expected)
    )
    _, gradients = value_and_gradients(
        lambda: ops.sum(ops.cast(call(), "float32")),
        [left, right, *layer.trainable_weights],
    )
    for gradient in gradients:
        assert np.isfinite(gradient).all()

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import GatedEncoder


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

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import PrunedDense


@pytest.mark.parametrize(
    ("row_units", "column_units", "weights", "biases"),
    [
        (150, 10, 2_880_000, 10_500),
        (25, 20, 810_000, 12_750),
        (300, 10, 5_580_000, 15_000),
    ],
    ids=["yelp", "age", "snli"],
)
def test_sizes_of_table_4(row_units, column_units, weights, biases):
    layer = PrunedDense(row_units, column_units)
    rows, columns = layer(keras.Input((30, 600)))
    assert layer.count_params() == weights + biases
    assert rows.shape == (None, 30, row_units)
    assert columns.shape == (None, 600, column_units)
    without = PrunedDense(row_units, column_units, use_bias=False)
    without.build((None, 30, 600))
    assert without.count_params() == weights


def test_one_kind_of_units_gives_one_tensor():
    matrix = np.array([[[1.0, -2.0, 3.0], [4.0, 5.0, 6.0]]])
    rows = PrunedDense(row_units=1, kernel_initializer="ones")(matrix)
    columns = PrunedDense(column_units=1, kernel_initializer="ones")(matrix)
    np.testing.assert_allclose(ops.convert_to_numpy(rows), [[[2], [15]]])
    np.testing.assert_allclose(ops.convert_to_numpy(columns), [[[5], [3], [9]]])
    assert PrunedDense(4).compute_output_shape((None, 2, 3)) == (None, 2, 4)


def test_stacks_on_rows_and_on_columns():
    inputs = keras.Input((4, 6))
    rows, columns = PrunedDense(5, 3)(inputs)
    for tensor, sizes in ((rows, (4, 5)), (columns, (6, 3))):
        more_rows, more_columns = PrunedDense(2, 7)(tensor)
        assert more_rows.shape == (None, sizes[0], 2)
        assert more_columns.shape == (None, sizes[1], 7)


@pytest.mark.parametrize("shape", [(None, 6), (4, None)])
def test_rows_and_columns_must_be_known(shape):
    expected = r"\(None, None, 6\)" if shape[0] is None else r"4, None\)"
    with pytest.raises(ValueError, match=expected):
        PrunedDense(5, 3)(keras.Input(shape))


def test_kernels_start_at_the_scale_of_one_matrix():
    layer = PrunedDense(25, 20)
    layer.build((None, 30, 60))
    for kernel in (layer.row_kernel, layer.column_kernel):
        _, features, units = kernel.shape
        limit = np.sqrt(6 / (features + units))
        largest = np.abs(ops.convert_to_numpy(kernel)).max()
        assert 0.95 * limit < largest < 1.001 * limit

"""What `MaskedConv1D` adds to a convolution besides its equation."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import MaskedConv1D
from tests.gradients import value_and_gradients

MASK = np.array([[True] * 5, [True] * 3 + [False] * 2])


def words():
    return np.ones((2, 5, 4), dtype="float32")


def test_dropout_only_trains():
    keras.utils.set_random_seed(1)
    layer = MaskedConv1D(6, 1, dropout=0.5)
    plain = ops.convert_to_numpy(layer(words(), mask=MASK))
    assert (plain[MASK] == plain[0, 0]).all()
    dropped = ops.convert_to_numpy(layer(words(), mask=MASK, training=True))
    # Each word's inputs are dropped by themselves, and the others scaled up.
    assert len(np.unique(dropped[MASK], axis=0)) > 2
    assert not dropped[~MASK].any()
    layer.set_weights([np.ones((1, 4, 6)), np.zeros(6)])
    sums = ops.convert_to_numpy(layer(words(), mask=MASK, training=True))
    assert set(np.unique(sums[MASK])) <= {0.0, 2.0, 4.0, 6.0, 8.0}
    assert len(np.unique(sums[MASK])) > 1


@pytest.mark.parametrize(
    "argument",
    [{"padding": "valid"}, {"strides": 2}, {"data_format": "channels_first"}],
)
def test_one_output_step_for_each_input_step(argument):
    ((name, value),) = argument.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value!r}"):
        MaskedConv1D(6, 3, **argument)


def test_features_are_last_whatever_images_have_first():
    before = keras.config.image_data_format()
    keras.config.set_image_data_format("channels_first")
    try:
        layer = MaskedConv1D(6, 3)
        assert layer(words(), mask=MASK).shape == (*MASK.shape, 6)
        assert MaskedConv1D.from_config(layer.get_config()).filters == 6
    finally:
        keras.config.set_image_data_format(before)


@pytest.mark.parametrize("activation", [None, "relu"])
def test_the_gradient_of_a_bias_is_the_sum_over_many_steps(activation):
    inputs = np.ones((2, 2000, 3), "float32")
    found = []
    for dtype in ("float32", "mixed_bfloat16"):
        layer = MaskedConv1D(
            4,
            3,
            activation=activation,
            kernel_initializer="zeros",
            bias_initializer="ones",
            dtype=dtype,
        )
        layer.build(inputs.shape)
        value, (gradient,) = value_and_gradients(
            lambda layer=layer: ops.sum(ops.cast(layer(inputs), "float32")),
            [layer.bias],
        )
        assert value == 4 * 4000
        found.append(ops.convert_to_numpy(gradient))
    np.testing.assert_allclose(found[0], [4000.0] * 4)
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)

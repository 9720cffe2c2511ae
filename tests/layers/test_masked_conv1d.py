"""What `MaskedConv1D` adds to a convolution besides its equation."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import MaskedConv1D

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


@pytest.mark.parametrize("argument", [{"padding": "valid"}, {"strides": 2}])
def test_one_output_step_for_each_input_step(argument):
    ((name, value),) = argument.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value!r}"):
        MaskedConv1D(6, 3, **argument)

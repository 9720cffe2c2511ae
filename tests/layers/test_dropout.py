import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import Dropout

ONES = np.ones((40, 6, 5), "float32")


def outputs_of(layer, inputs=ONES):
    return ops.convert_to_numpy(layer(inputs, training=True))


def test_only_training_drops():
    layer = Dropout(0.5, seed=1)
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(ONES)), ONES)
    outputs = outputs_of(layer)
    assert set(np.unique(outputs)) == {0.0, 2.0}
    assert (outputs != outputs_of(layer)).any()
    np.testing.assert_array_equal(outputs_of(Dropout(0.5, seed=1)), outputs)


def test_no_rate_and_all_of_it():
    assert (outputs_of(Dropout(0.0)) == 1).all()
    assert (outputs_of(Dropout(1.0)) == 0).all()


@pytest.mark.parametrize("noise_shape", [(None, 1, None), (40, 1, 5)])
def test_one_draw_for_several(noise_shape):
    outputs = outputs_of(Dropout(0.5, noise_shape=noise_shape, seed=1))
    assert (outputs == outputs[:, :1]).all()
    assert set(np.unique(outputs[:, 0])) == {0.0, 2.0}


def test_it_stands_in_for_that_of_keras():
    theirs = keras.layers.Dropout(0.3, noise_shape=(None, 1), seed=2)
    ours = Dropout.from_config(theirs.get_config())
    assert ours.get_config() == theirs.get_config()
    assert isinstance(ours, keras.layers.Dropout)
    assert len(ours.variables) == len(theirs.variables) == 1


def test_a_saved_state_goes_on():
    layer, again = Dropout(0.5, seed=1), Dropout(0.5, seed=9)
    outputs_of(layer)
    again.seed_generator.state.assign(layer.seed_generator.state)
    np.testing.assert_array_equal(outputs_of(again), outputs_of(layer))

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import optimizers


def three_steps(make, dense):
    """A table of word vectors after three steps on repeated words."""
    table = keras.Variable(np.arange(12.0, dtype="float32").reshape(4, 3) / 10)
    optimizer = make()
    optimizer.build([table])
    ids = tf.constant([1, 1, 3, 1])
    weights = tf.constant([[1.0], [2.0], [3.0], [-1.0]])
    for _ in range(3):
        with tf.GradientTape() as tape:
            rows = tf.gather(table.value, ids)
            loss = tf.reduce_sum(weights * rows**2)
        gradient = tape.gradient(loss, table.value)
        assert isinstance(gradient, tf.IndexedSlices)
        if dense:
            gradient = tf.convert_to_tensor(gradient)
        optimizer.apply([gradient], [table])
    return table.numpy()


@pytest.mark.parametrize("name", sorted(optimizers.OPTIMIZERS))
def test_a_repeated_word_moves_as_with_the_dense_gradient(name):
    def make():
        return optimizers.get(name, learning_rate=0.1)

    np.testing.assert_allclose(
        three_steps(make, dense=False), three_steps(make, dense=True), rtol=1e-5
    )


def test_keras_s_own_adagrad_differs():
    # The day this fails, Keras adds the rows up itself.
    def make():
        return keras.optimizers.Adagrad(0.1)

    difference = three_steps(make, False) - three_steps(make, True)
    assert np.abs(difference).max() > 0.01


@pytest.mark.parametrize("name", sorted(optimizers.OPTIMIZERS))
def test_config_is_that_of_keras(name):
    arguments = {"learning_rate": 0.25, "global_clipnorm": 2.0, "name": "x"}
    ours = optimizers.get(name, **arguments)
    theirs = type(ours).__mro__[2](**arguments)
    assert type(theirs).__module__.startswith("keras.")
    assert ours.get_config() == theirs.get_config()
    copy = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(ours)
    )
    assert type(copy) is type(ours)


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="sgd, adam, adagrad.*'lion'"):
        optimizers.get("lion")

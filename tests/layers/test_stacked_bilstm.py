"""`StackedBiLSTM` against Keras's own bidirectional layers."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers

RIGHT_PADDED = np.array([[True] * 5, [True] * 3 + [False] * 2])


def words():
    return np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")


def same_weights(layer, features, source):
    layer.build((None, None, features))
    layer.set_weights(source.get_weights())
    return layer


def keras_bilstm(units):
    return keras.layers.Bidirectional(
        keras.layers.LSTM(units, return_sequences=True)
    )


@pytest.mark.parametrize("shortcut", [True, False])
def test_equals_the_layers_of_keras(shortcut):
    stack = layers.StackedBiLSTM([3, 2], shortcut=shortcut)
    stack.build((None, None, 4))
    below, above = stack.directions
    first = same_weights(keras_bilstm(3), 4, below)
    second = same_weights(keras_bilstm(2), 4 + 6 if shortcut else 6, above)
    mask = ops.convert_to_tensor(RIGHT_PADDED)
    inputs = ops.convert_to_tensor(words())
    states = first(inputs, mask=mask)
    if shortcut:
        states = ops.concatenate([inputs, states], axis=-1)
    expected = ops.convert_to_numpy(second(states, mask=mask))
    expected = expected * RIGHT_PADDED[:, :, np.newaxis]
    received = ops.convert_to_numpy(stack(inputs, mask=mask))
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


def test_an_integer_is_one_layer():
    stack = layers.StackedBiLSTM(3)
    assert tuple(stack(words()).shape) == (2, 5, 6)
    assert len(stack.weights) == 6
    assert stack.get_config()["units"] == [3]


def test_each_direction_ends_where_last_pooling_looks():
    stack = layers.StackedBiLSTM(3)
    inputs = words()
    states = ops.convert_to_numpy(stack(inputs, mask=RIGHT_PADDED))
    inputs[1, 0] += 1.0
    moved = ops.convert_to_numpy(stack(inputs, mask=RIGHT_PADDED))
    changed = moved[1] != states[1]
    # Forward states all follow the first word; of the backward ones, the
    # first alone does.
    assert changed[:3, :3].all()
    assert changed[0, 3:].all()
    assert not changed[1:, 3:].any()


def test_dropout_only_trains():
    stack = layers.StackedBiLSTM(3, dropout=0.5, seed=1)
    plain = ops.convert_to_numpy(stack(words()))
    np.testing.assert_array_equal(ops.convert_to_numpy(stack(words())), plain)
    dropped = ops.convert_to_numpy(stack(words(), training=True))
    assert (dropped != plain).any()


@pytest.mark.parametrize(
    ("use_cudnn", "implementation"),
    [("auto", "auto"), (True, "cudnn"), (False, "keras")],
)
def test_the_older_name_of_the_implementation(use_cudnn, implementation):
    older = layers.StackedBiLSTM(3, use_cudnn=use_cudnn)
    newer = layers.StackedBiLSTM(3, implementation=implementation)
    copy = layers.StackedBiLSTM.from_config(older.get_config())
    for stack in (older, newer, copy):
        assert stack.implementation == implementation
        assert stack.use_cudnn == use_cudnn
        assert stack.directions[0].forward_layer.use_cudnn == use_cudnn


@pytest.mark.parametrize("use_cudnn", [None, "keras", 1, 0.0, ["auto"]])
def test_the_older_name_takes_its_own_values(use_cudnn):
    message = (
        "`use_cudnn` must be 'auto', True or False. "
        f"Received: use_cudnn={use_cudnn!r}"
    )
    with pytest.raises(ValueError) as error:
        layers.StackedBiLSTM(3, use_cudnn=use_cudnn)
    assert str(error.value) == message


def test_both_names_of_the_implementation_agree():
    stack = layers.StackedBiLSTM(3, use_cudnn=True, implementation="cudnn")
    assert stack.implementation == "cudnn"
    for implementation in ("auto", "keras"):
        with pytest.raises(
            ValueError,
            match="one of them. Received: use_cudnn=True, "
            f"implementation='{implementation}'",
        ):
            layers.StackedBiLSTM(
                3, use_cudnn=True, implementation=implementation
            )

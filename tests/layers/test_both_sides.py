"""`BothSides` calls one layer on each side with that side's own mask."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers

LEFT = np.array([[[1.0], [2.0], [6.0]]], "float32")
RIGHT = np.array([[[4.0], [8.0], [9.0]]], "float32")
FIRST = np.array([[True, False, False]])


@pytest.mark.parametrize(
    "mask, expected",
    [
        (None, [3.0, 7.0]),
        ((FIRST, None), [1.0, 7.0]),
        ((None, FIRST), [3.0, 4.0]),
        ((FIRST, FIRST), [1.0, 4.0]),
    ],
)
def test_a_mask_is_of_one_side_alone(mask, expected):
    pooled = layers.BothSides(layers.MaskedMeanPooling())
    means = pooled((LEFT, RIGHT), mask=mask)
    assert [float(ops.squeeze(x)) for x in means] == expected


def test_masks_are_handed_on_as_the_shared_layer_does():
    ids = [keras.Input((None,), dtype="int32") for _ in range(2)]
    words = [layers.WordEmbedding(5, 3)(x) for x in ids]
    encoder = layers.StackedBiLSTM(2, implementation="keras")
    states = layers.BothSides(encoder)(words)
    means = [layers.MaskedMeanPooling()(x) for x in states]
    model = keras.Model(ids, means)
    short = [np.array([[1, 2]]), np.array([[3, 4, 2]])]
    long = [np.pad(x, ((0, 0), (0, 4))) for x in short]
    for before, after in zip(
        model([ops.convert_to_tensor(x) for x in short]),
        model([ops.convert_to_tensor(x) for x in long]),
        strict=True,
    ):
        np.testing.assert_allclose(
            ops.convert_to_numpy(after),
            ops.convert_to_numpy(before),
            rtol=1e-5,
        )


def test_a_pooling_hands_on_no_mask():
    ids = [keras.Input((None,), dtype="int32") for _ in range(2)]
    words = [layers.WordEmbedding(5, 4)(x) for x in ids]
    dense = keras.layers.Dense(2)
    dense.supports_masking = False
    # A mask that reached it would be a warning, and so an error.
    for pooled in layers.BothSides(layers.LastPooling())(words):
        assert tuple(dense(pooled).shape) == (None, 2)


@pytest.mark.parametrize("mask", [FIRST, (FIRST,), (FIRST,) * 3])
def test_masks_that_are_no_pair(mask):
    with pytest.raises(ValueError, match="pair of masks.*left, right"):
        layers.BothSides(layers.MaskedMeanPooling())((LEFT, RIGHT), mask=mask)


def test_a_copy_has_weights_of_the_same_names():
    both = layers.BothSides(keras.layers.Dense(2, name="shared"), name="both")
    inputs = (np.ones((3, 4), "float32"), np.ones((3, 4), "float32"))
    both(inputs)
    copies = [
        layers.BothSides.from_config(both.get_config()),
        keras.saving.deserialize_keras_object(
            keras.saving.serialize_keras_object(both)
        ),
    ]
    for copy in copies:
        copy(inputs)
        paths = [weight.path for weight in copy.weights]
        assert paths == ["both/shared/kernel", "both/shared/bias"]


def test_a_wrapper_that_is_fixed_trains_no_weight():
    words = [keras.Input((None, 3)) for _ in range(2)]
    encoder = layers.StackedBiLSTM(2, implementation="keras")
    both = layers.BothSides(encoder, trainable=False)
    model = keras.Model(words, both(words))
    assert model.weights
    assert model.trainable_weights == []


@pytest.mark.parametrize(
    "layer",
    [
        keras.layers.Dense(2),
        keras.layers.LayerNormalization(),
        keras.layers.Dropout(0.5),
    ],
)
def test_a_layer_that_takes_no_mask_is_given_none(layer):
    words = layers.WordEmbedding(5, 3)
    ids = [np.array([[1, 2, 0]]), np.array([[3, 0]])]
    both = layers.BothSides(layer)
    received = both([words(each) for each in ids])
    for found, each in zip(received, ids, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(found),
            ops.convert_to_numpy(layer(words(each))),
            rtol=1e-6,
        )
    inputs = [keras.Input((None,), dtype="int32") for _ in range(2)]
    model = keras.Model(inputs, both([words(each) for each in inputs]))
    for found, each in zip(model(ids), received, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(found), ops.convert_to_numpy(each), rtol=1e-6
        )

"""A layer that is called twice in a functional model has two penalties."""

import gc
import weakref

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers
from keras_selfattn import regularizers

BACKEND = keras.backend.backend()


def structured():
    return layers.StructuredSelfAttention(
        3, 2, attention_regularizer=regularizers.Orthogonality(0.7)
    )


def generalized():
    penalty = regularizers.HeadDiversity(0.3, margin=9.0)
    return layers.GeneralizedPooling(
        3, 2, attention_regularizer=penalty, embedding_regularizer=penalty
    )


def sides():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(3, n, 4)).astype("float32") for n in (5, 6, 7)]


def model_of(layer, calls):
    """A model of several calls; the loss is all penalties."""
    inputs = [keras.Input((None, 4)) for _ in range(calls)]
    flat = [keras.layers.Flatten()(layer(each)) for each in inputs]
    model = keras.Model(inputs, keras.layers.Concatenate()(flat))
    model.compile("sgd", loss=lambda y, p: 0.0 * ops.mean(p))
    return model


def encoder_of(layer):
    inputs = keras.Input((None, 4))
    return keras.Model(inputs, layer(inputs))


@pytest.mark.parametrize("make", [structured, generalized])
@pytest.mark.parametrize(
    "within", [encoder_of, lambda layer: keras.Sequential([layer])]
)
def test_each_call_of_a_model_that_holds_it_counts(make, within):
    layer = make()
    encoder = within(layer)
    model = model_of(encoder, 2)
    first, second, _ = sides()
    arrays = [first, second[:, :5]]
    expected = penalties(layer, arrays)
    for _ in range(2):
        received = model.evaluate(arrays, np.zeros(3), batch_size=3, verbose=0)
        np.testing.assert_allclose(received, expected, rtol=1e-5)
    # Beside a call of the layer itself.
    inputs = [keras.Input((None, 4)) for _ in range(3)]
    parts = [layer(inputs[0]), encoder(inputs[1]), layer(inputs[2])]
    flat = [keras.layers.Flatten()(part) for part in parts]
    model = keras.Model(inputs, keras.layers.Concatenate()(flat))
    model.compile("sgd", loss=lambda y, p: 0.0 * ops.mean(p))
    received = model.evaluate(
        [*arrays, first], np.zeros(3), batch_size=3, verbose=0
    )
    expected = penalties(layer, [*arrays, first])
    np.testing.assert_allclose(received, expected, rtol=1e-5)


def penalties(layer, arrays):
    total = 0.0
    for array in arrays:
        layer(array)
        total += sum(float(ops.convert_to_numpy(x)) for x in layer.losses)
    return total


@pytest.mark.parametrize("make", [structured, generalized])
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_each_call_counts(make, calls):
    layer = make()
    model = model_of(layer, calls)
    arrays = sides()[:calls]
    expected = penalties(layer, arrays)
    # Traced anew for other lengths, and run again for the same ones.
    shorter = [array[:, 1:] for array in arrays]
    for feed, value in (
        (arrays, expected),
        (shorter, penalties(layer, shorter)),
        (arrays, expected),
    ):
        received = model.evaluate(feed, np.zeros(3), batch_size=3, verbose=0)
        np.testing.assert_allclose(received, value, rtol=1e-5)


def test_both_calls_have_gradients():
    layer = structured()
    model = model_of(layer, 2)
    first, second, _ = sides()
    together = []
    for feed in ((first, second), (first, first), (second, second)):
        weights = [ops.convert_to_numpy(w) for w in layer.weights]
        model.train_on_batch(list(feed), np.zeros(3))
        together.append(
            [
                ops.convert_to_numpy(w) - before
                for w, before in zip(layer.weights, weights, strict=True)
            ]
        )
        layer.set_weights(weights)
    for both, twice_first, twice_second in zip(*together, strict=True):
        np.testing.assert_allclose(
            both, (twice_first + twice_second) / 2, rtol=1e-4, atol=1e-6
        )


def test_two_layers_and_both_sides_called_twice():
    inner = structured()
    both = layers.BothSides(inner)
    other = generalized()
    inputs = [keras.Input((None, 4)) for _ in range(3)]
    a, b, c = inputs
    parts = [*both((a, b)), *both((b, c)), other(a), other(c), inner(b)]
    flat = [keras.layers.Flatten()(part) for part in parts]
    model = keras.Model(inputs, keras.layers.Concatenate()(flat))
    model.compile("sgd", loss=lambda y, p: 0.0 * ops.mean(p))
    first, second, third = arrays = sides()
    expected = penalties(inner, (first, second, second, third, second))
    expected += penalties(other, (first, third))
    received = model.evaluate(arrays, np.zeros(3), batch_size=3, verbose=0)
    np.testing.assert_allclose(received, expected, rtol=1e-5)


def test_a_layer_by_itself_has_the_penalty_of_its_last_call():
    layer = structured()
    first, second, _ = sides()
    layer(first)
    layer(second)
    assert len(layer.losses) == 1
    alone = penalties(layer, [second])
    np.testing.assert_allclose(
        float(ops.convert_to_numpy(layer.losses[0])), alone, rtol=1e-6
    )


@pytest.mark.skipif(
    BACKEND != "jax", reason="Only JAX traces by stateless_call"
)
def test_a_traced_step_is_let_go():
    traced = []

    class Watched(keras.layers.Layer):
        def call(self, inputs):
            if not isinstance(inputs, keras.KerasTensor):
                traced.append(weakref.ref(inputs))
            return inputs * 1.0

    inputs = keras.Input((None, 4))
    outputs = keras.layers.Flatten()(structured()(Watched()(inputs)))
    model = keras.Model(inputs, outputs)
    model.compile("sgd", loss=lambda y, p: 0.0 * ops.mean(p))
    gc.collect()
    gc.disable()
    try:
        model.fit(sides()[0], np.zeros(3), batch_size=3, verbose=0)
        # What waits for a collection may be collected by another thread,
        # where Keras doesn't drop the masks of its addresses.
        assert traced
        assert all(reference() is None for reference in traced)
    finally:
        gc.enable()


def test_an_address_of_a_step_before_takes_no_penalty_away():
    inputs = sides()[0]
    first, second = structured(), structured()
    for layer in (first, second):
        layer.build(inputs.shape)
    with keras.StatelessScope(collect_losses=True) as scope:
        first(inputs)
        # As a penalty's that is gone may have been.
        second._loss_ids.add(id(scope.losses[0]))
        second(inputs)
        assert len(scope.losses) == 2
        assert len(first.losses) == len(second.losses) == 1

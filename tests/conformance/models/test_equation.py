"""Law 6: from ids to probabilities, losses and gradients as in the papers."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.models.dropout import scaled
from tests.conformance.models.objective import cross_entropy
from tests.conformance.models.objective import loss_outputs_and_gradients
from tests.conformance.models.table import arrays_of
from tests.conformance.models.table import built
from tests.conformance.models.table import by_layer
from tests.conformance.models.table import weights_of


def assert_equal(received, expected):
    received = keras.tree.flatten(received)
    for x, reference in zip(received, expected, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(x), reference, rtol=5e-5, atol=5e-6
        )


def test_outputs_and_views(model_row):
    model = built(model_row)
    batch = model_row.batch()
    expected = model_row.solve(weights_of(model), batch)
    views = (model.attention_model(), model.embedding_model())
    # In one model, because each call takes long.
    every = keras.Model(model.input, [model.output, *(v.output for v in views)])
    outputs, scores, embeddings = every(batch)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
    assert_equal(outputs, [expected.outputs])
    assert_equal(scores, expected.scores)
    assert_equal(embeddings, expected.embeddings)


def test_whole_loss(model_row):
    model = built(model_row)
    model.compile("sgd", cross_entropy(model_row), run_eagerly=True)
    batch = model_row.batch()
    received = model.evaluate(
        batch, model_row.labels(), batch_size=99, verbose=0
    )
    expected = model_row.whole_loss(weights_of(model), batch)
    np.testing.assert_allclose(received, expected, rtol=5e-5)


@pytest.mark.usefixtures("scaled_dropout")
def test_gradients_in_training(model_row):
    model = built(model_row)
    batch = model_row.batch()
    value, _, gradients = loss_outputs_and_gradients(
        model_row, model, batch, training=True
    )
    arrays = arrays_of(model)
    weights = by_layer(arrays)

    def reference():
        return model_row.whole_loss(weights, batch, scaled)

    np.testing.assert_allclose(value, reference(), rtol=5e-5)
    rng = np.random.default_rng(3)
    step = 1e-6
    flat = set()
    for weight, gradient in zip(
        model.trainable_weights, gradients, strict=True
    ):
        # What a step of size 1 into any direction changes.
        size = np.linalg.norm(gradient)
        if size < 1e-5:
            flat.add(weight.path)
        array = arrays[weight.path]
        # All entries at once: one by one they would take minutes.
        direction = rng.choice([-1.0, 1.0], array.shape)
        array += step * direction
        above = reference()
        array -= 2 * step * direction
        below = reference()
        array += step * direction
        np.testing.assert_allclose(
            (gradient * direction).sum(),
            (above - below) / (2 * step),
            rtol=0,
            atol=1e-3 * size + 2e-6,
            err_msg=weight.path,
        )
    assert flat == {
        path for path in arrays if path.endswith(model_row.zero_gradients)
    }

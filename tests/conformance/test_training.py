"""Law 8: one compiled step trains every weight; a seed repeats the run."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.test_saving import functional


def train(row):
    keras.utils.set_random_seed(4)
    inner = functional(row, row.create())
    squares = [
        ops.mean(ops.square(ops.cast(x, "float32") - 1.0))
        for x in inner.outputs
    ]
    model = keras.Model(inner.inputs, ops.reshape(sum(squares), (1,)))
    model.compile(keras.optimizers.SGD(0.1), lambda y, loss: loss)
    before = [ops.convert_to_numpy(w) for w in model.trainable_weights]
    inputs, masks = row.batch()
    batch = list(inputs) + (list(masks) if row.takes_mask else [])
    y = np.zeros(len(inputs[0]))
    history = model.fit(batch, y, epochs=2, shuffle=False, verbose=0)
    after = [ops.convert_to_numpy(w) for w in model.trainable_weights]
    paths = [w.path for w in model.trainable_weights]
    return paths, before, after, history.history["loss"]


@pytest.fixture(autouse=True)
def skip_rows_without_weights(row):
    if not row.weights:
        pytest.skip("the layer has no weights")


def test_no_weight_of_a_fixed_layer_trains(row):
    layer = row.create(trainable=False)
    model = functional(row, layer)
    assert layer.weights
    # Of the model's, which an optimizer takes, and not of the layer's alone.
    assert model.trainable_weights == model.trainable_variables == []


@pytest.mark.filterwarnings("ignore::UserWarning:torch")
def test_every_weight_trains_and_a_seed_repeats_the_run(row):
    paths, before, first, losses = train(row)
    assert np.isfinite(losses).all()
    for path, old, new in zip(paths, before, first, strict=True):
        assert np.isfinite(new).all(), path
        if not path.endswith(tuple(row.zero_gradients) or ("\0",)):
            assert (old != new).any(), path
    *_, second, again = train(row)
    assert losses == again
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y)

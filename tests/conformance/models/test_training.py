"""Law 8: one compiled step trains every weight; a seed repeats the run."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.conftest import BACKEND
from tests.conformance.models.dropout import scaled
from tests.conformance.models.objective import cross_entropy
from tests.conformance.models.table import arrays_of
from tests.conformance.models.table import by_layer


@pytest.mark.usefixtures("scaled_dropout")
def test_a_compiled_step_trains_every_weight(traced_row):
    model = traced_row.make()
    model.compile(keras.optimizers.SGD(0.1), cross_entropy(traced_row))
    batch = traced_row.batch()
    before = arrays_of(model)
    loss = model.train_on_batch(batch, traced_row.labels())
    expected = traced_row.whole_loss(by_layer(before), batch, scaled)
    np.testing.assert_allclose(loss, expected, rtol=5e-5)
    trained = {weight.path for weight in model.trainable_weights}
    for path, after in arrays_of(model).items():
        assert np.isfinite(after).all(), path
        changed = (after != before[path]).any()
        if path not in trained:
            assert not changed, path
        elif not path.endswith(traced_row.zero_gradients):
            assert changed, path


def weights_after_training(row):
    keras.utils.set_random_seed(4)
    model = row.create()
    model.compile(
        keras.optimizers.SGD(0.1),
        cross_entropy(row),
        # Tracing twice takes longer than all that is traced.
        run_eagerly=BACKEND == "tensorflow",
    )
    batch = row.batch()
    losses = [model.train_on_batch(batch, row.labels()) for _ in range(2)]
    return losses, [ops.convert_to_numpy(w) for w in model.weights]


@pytest.mark.filterwarnings("ignore::UserWarning:torch")
def test_a_seed_repeats_the_run(traced_row):
    losses, weights = weights_after_training(traced_row)
    again, same = weights_after_training(traced_row)
    assert losses == again
    for x, y in zip(weights, same, strict=True):
        np.testing.assert_array_equal(x, y)

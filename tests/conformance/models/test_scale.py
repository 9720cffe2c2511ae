"""Law 12: no rows give nothing, no steps what an empty sentence gives."""

import keras
import numpy as np
from keras import ops

from tests.conformance.models.objective import loss_outputs_and_gradients
from tests.conformance.models.table import built
from tests.conformance.models.table import weights_of
from tests.conformance.table import penalty_of


def without(model_row, cut):
    return {name: ids[cut] for name, ids in model_row.batch().items()}


def assert_nothing_is_scored(model, batch):
    for scores in keras.tree.flatten(model.attention_model()(batch)):
        assert 0 in scores.shape


def test_no_rows(model_row):
    model = built(model_row)
    batch = without(model_row, np.s_[:0])
    assert tuple(model(batch).shape) == (0, len(set(model_row.labels())))
    if model.losses:
        # Of a sentence; that of weights and of parameters is there.
        assert np.isfinite(penalty_of(model))
    assert_nothing_is_scored(model, batch)


def test_no_steps(model_row):
    model = built(model_row)
    batch = without(model_row, np.s_[:, :0])
    expected = model_row.solve(weights_of(model), batch)
    np.testing.assert_allclose(
        ops.convert_to_numpy(model(batch)),
        expected.outputs,
        rtol=5e-5,
        atol=5e-6,
    )
    assert_nothing_is_scored(model, batch)
    _, _, gradients = loss_outputs_and_gradients(model_row, model, batch)
    for weight, gradient in zip(
        model.trainable_weights, gradients, strict=True
    ):
        assert np.isfinite(gradient).all(), weight.path

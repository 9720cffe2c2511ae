"""Law 2: half precision is near the equation, and never NaN."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.models.objective import loss_and_gradients
from tests.conformance.models.table import weights_of
from tests.conformance.table import penalty_of


@pytest.mark.parametrize(
    "policy", ["mixed_float16", "mixed_bfloat16"], indirect=True
)
def test_half_precision(model_row, policy):
    model = model_row.make()
    batch = model_row.batch()
    outputs = model(batch)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
    expected = model_row.solve(weights_of(model), batch)
    tolerance = {"mixed_float16": 0.01, "mixed_bfloat16": 0.08}[policy]
    np.testing.assert_allclose(
        ops.convert_to_numpy(outputs),
        expected.outputs,
        rtol=tolerance,
        atol=tolerance,
    )
    for loss in model.losses:
        assert keras.backend.standardize_dtype(loss.dtype) == "float32"
    if model.losses:
        np.testing.assert_allclose(
            penalty_of(model), expected.penalty, rtol=tolerance
        )
    _, gradients = loss_and_gradients(model_row, model, batch, training=True)
    for weight, gradient in zip(
        model.trainable_weights, gradients, strict=True
    ):
        assert np.isfinite(gradient).all(), weight.path

"""Law 2: half precision is near the equation, and never NaN."""

import numpy as np
import pytest

from tests.conformance.models.dropout import scaled
from tests.conformance.models.objective import loss_outputs_and_gradients
from tests.conformance.models.table import weights_of


@pytest.mark.usefixtures("scaled_dropout")
@pytest.mark.parametrize(
    "policy", ["mixed_float16", "mixed_bfloat16"], indirect=True
)
def test_half_precision(model_row, policy):
    model = model_row.make()
    batch = model_row.batch()
    _, (outputs, added), gradients = loss_outputs_and_gradients(
        model_row, model, batch, training=True
    )
    expected = model_row.solve(weights_of(model), batch, scaled)
    tolerance = {"mixed_float16": 0.01, "mixed_bfloat16": 0.08}[policy]
    assert outputs.dtype == "float32"
    np.testing.assert_allclose(
        outputs, expected.outputs, rtol=tolerance, atol=tolerance
    )
    for loss in added:
        assert loss.dtype == "float32"
    np.testing.assert_allclose(sum(added), expected.penalty, rtol=tolerance)
    for weight, gradient in zip(
        model.trainable_weights, gradients, strict=True
    ):
        assert np.isfinite(gradient).all(), weight.path

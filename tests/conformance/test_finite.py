"""Law 2: nothing is NaN, also in half precision and without any step."""

import keras
import numpy as np
from keras import ops

from tests.conformance.objective import coefficients
from tests.conformance.objective import layer_objective
from tests.conformance.table import run


def test_a_row_without_steps_gives_zeros_and_finite_gradients(row, policy):
    layer = row.make()
    inputs, masks = row.batch()
    outputs = [
        ops.convert_to_numpy(ops.cast(x, "float32"))
        for x in run(layer, inputs, masks, scores=True)
    ]
    for output in outputs:
        assert np.isfinite(output).all()
        if row.takes_mask or row.ids:
            assert (output[-1] == 0).all()
        assert (output[0] != 0).any()
    factors = coefficients([x.shape for x in outputs])
    _, gradients = layer_objective(row, layer, inputs, masks, factors)
    for gradient in gradients:
        assert np.isfinite(gradient).all()


def test_half_precision_is_near_float32(row, policy):
    layer = row.make()
    inputs, masks = row.batch()
    outputs = run(layer, inputs, masks, scores=True)
    weights = [ops.convert_to_numpy(w) for w in layer.trainable_weights]
    expected = row.solve(weights, inputs, masks)
    dtypes = [layer.compute_dtype] * len(expected.outputs)
    dtypes += ["float32"] * len(expected.scores)
    for output, reference, dtype in zip(
        outputs, expected.outputs + expected.scores, dtypes, strict=True
    ):
        # A wrapper gives what the layer in it does, scores among outputs.
        if row.wraps is None:
            assert keras.backend.standardize_dtype(output.dtype) == dtype
        np.testing.assert_allclose(
            ops.convert_to_numpy(ops.cast(output, "float32")),
            reference,
            rtol=0.1,
            atol=0.1,
        )
    for loss in layer.losses:
        assert keras.backend.standardize_dtype(loss.dtype) == "float32"

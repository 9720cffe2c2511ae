"""Law 6: outputs, penalties and gradients are the paper's."""

import numpy as np
import pytest
from keras import ops

from tests.conformance.objective import coefficients
from tests.conformance.objective import layer_objective
from tests.conformance.objective import reference_of_arrays
from tests.conformance.table import penalty_of
from tests.conformance.table import run
from tests.gradients import finite_differences


def weights_of(layer):
    return [ops.convert_to_numpy(w) for w in layer.trainable_weights]


def test_outputs_scores_and_penalties(row):
    layer = row.make()
    inputs, masks = row.batch()
    outputs = run(layer, inputs, masks, scores=True)
    expected = row.solve(weights_of(layer), inputs, masks)
    assert len(outputs) == len(expected.outputs) + len(expected.scores)
    for output, reference in zip(
        outputs, expected.outputs + expected.scores, strict=True
    ):
        np.testing.assert_allclose(
            ops.convert_to_numpy(output), reference, rtol=2e-5, atol=2e-6
        )
    np.testing.assert_allclose(
        penalty_of(layer), expected.penalty, rtol=2e-5, atol=1e-6
    )


def test_whole_numbers_are_read_as_floats(row):
    if row.ids:
        pytest.skip("the layer takes ids")
    layer = row.make()
    inputs, masks = row.batch()
    inputs = [np.rint(3 * x) for x in inputs]
    expected = run(layer, inputs, masks, scores=True)
    inputs = [x.astype("int32") for x in inputs]
    received = run(layer, inputs, masks, scores=True)
    for output, reference in zip(received, expected, strict=True):
        assert output.dtype == reference.dtype
        np.testing.assert_allclose(
            ops.convert_to_numpy(output),
            ops.convert_to_numpy(reference),
            rtol=1e-5,
            atol=1e-6,
        )


def test_gradients(row):
    layer = row.make()
    inputs, masks = row.batch()
    weights = weights_of(layer)
    shapes = [
        np.shape(x) for x in tensors_of(row.solve(weights, inputs, masks))
    ]
    factors = coefficients(shapes)
    value, gradients = layer_objective(row, layer, inputs, masks, factors)
    arrays, reference = reference_of_arrays(
        row, weights, inputs, masks, factors
    )
    np.testing.assert_allclose(value, reference(arrays), rtol=5e-5, atol=1e-5)
    expected = finite_differences(reference, arrays)
    for gradient, difference in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, difference, rtol=1e-3, atol=2e-4)


def tensors_of(result):
    return result.outputs + result.scores


def test_weights_without_gradient_are_those_named(row):
    layer = row.make()
    inputs, masks = row.batch()
    shapes = [
        np.shape(x)
        for x in tensors_of(row.solve(weights_of(layer), inputs, masks))
    ]
    _, gradients = layer_objective(
        row, layer, inputs, masks, coefficients(shapes)
    )
    flat = {
        name
        for name, gradient in zip(row.weights, gradients, strict=False)
        if np.abs(gradient).max() < 1e-5
    }
    assert flat == set(row.zero_gradients)

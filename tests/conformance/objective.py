"""A scalar that depends on all outputs, scores and penalties of a layer."""

import keras
import numpy as np
from keras import ops

from tests.conformance.table import run
from tests.gradients import value_and_gradients


def coefficients(shapes):
    rng = np.random.default_rng(5)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def reference_objective(row, weights, inputs, masks, factors):
    result = row.solve(weights, inputs, masks)
    tensors = result.outputs + result.scores
    return result.penalty + sum(
        (factor * tensor).sum()
        for factor, tensor in zip(factors, tensors, strict=True)
    )


def reference_of_arrays(row, weights, inputs, masks, factors):
    """The same of all that has a gradient, as a function of it.

    Returns:
        The weights and, where they are no ids, the inputs, in a list; and a
        function of such a list.
    """

    def reference(arrays):
        return reference_objective(
            row,
            arrays[: len(weights)],
            inputs if row.ids else arrays[len(weights) :],
            masks,
            factors,
        )

    return weights + ([] if row.ids else inputs), reference


def layer_objective(row, layer, inputs, masks, factors):
    """The same scalar, and its gradients in the weights and the inputs."""
    variables = list(layer.trainable_weights)
    if not row.ids:
        inputs = [keras.Variable(x) for x in inputs]
        variables += inputs

    def objective():
        tensors = run(
            layer,
            [ops.convert_to_tensor(x) for x in inputs],
            masks,
            scores=True,
        )
        total = sum(layer.losses)
        for factor, tensor in zip(factors, tensors, strict=True):
            total = total + ops.sum(
                ops.multiply(ops.cast(tensor, "float32"), factor)
            )
        return total

    return value_and_gradients(objective, variables)

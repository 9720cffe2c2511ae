"""Gradients on whichever backend runs, and of a NumPy function."""

import keras
import numpy as np
from keras import ops


def value_and_gradients(function, variables):
    """The scalar that `function()` returns and its gradients, as arrays.

    A variable that the scalar does not depend on has a gradient of zeros.
    """
    value, _, gradients = value_outputs_and_gradients(
        lambda: (function(), ()), variables
    )
    return value, gradients


def value_outputs_and_gradients(function, variables):
    """The same for a function that returns a scalar and further tensors."""
    backend = keras.backend.backend()
    values = [variable.value for variable in variables]
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            value, outputs = function()
        gradients = tape.gradient(
            value, values, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        gradients = [tf.convert_to_tensor(each) for each in gradients]
    elif backend == "jax":
        import jax

        def stateless(values):
            with keras.StatelessScope(
                state_mapping=list(zip(variables, values, strict=True)),
                collect_losses=True,
            ):
                return function()

        (value, outputs), gradients = jax.jit(
            jax.value_and_grad(stateless, has_aux=True)
        )(values)
    else:
        import torch

        value, outputs = function()
        gradients = [None] * len(values)
        if value.requires_grad:
            gradients = torch.autograd.grad(value, values, allow_unused=True)
        gradients = [
            torch.zeros_like(x) if gradient is None else gradient
            for x, gradient in zip(values, gradients, strict=True)
        ]
    return (
        float(ops.convert_to_numpy(value)),
        keras.tree.map_structure(ops.convert_to_numpy, outputs),
        [ops.convert_to_numpy(gradient) for gradient in gradients],
    )


def finite_differences(function, arrays, step=1e-6):
    """Central differences of `function(arrays)` in each entry, in float64."""
    arrays = [np.array(array, dtype="float64") for array in arrays]
    gradients = []
    for array in arrays:
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            kept = array[index]
            array[index] = kept + step
            above = function(arrays)
            array[index] = kept - step
            below = function(arrays)
            array[index] = kept
            gradient[index] = (above - below) / (2 * step)
        gradients.append(gradient)
    return gradients

"""The moving averages of a model's weights."""

import contextlib

import keras
from keras import ops


@contextlib.contextmanager
def averaged_weights(model):
    """Give a model the moving averages of its weights, within a block.

    Keras's `SwapEMAWeights` swaps by sums on TensorFlow, which changes the
    weights by what is rounded off; a resumed run then would not be the same.

    Args:
        model: A compiled model. Nothing happens if its optimizer does not
            keep averages.
    """
    # Keras wraps the optimizer of a model that computes in float16.
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    if not optimizer.use_ema:
        yield
        return
    variables = model.trainable_variables
    weights = [ops.convert_to_numpy(variable) for variable in variables]
    optimizer.finalize_variable_values(variables)
    if keras.backend.backend() == "jax":
        for variable in variables:
            # It has become the average's array, which JAX gives up with
            # either of them.
            variable.assign(ops.convert_to_numpy(variable))
    try:
        yield
    finally:
        for variable, value in zip(variables, weights, strict=True):
            variable.assign(value)

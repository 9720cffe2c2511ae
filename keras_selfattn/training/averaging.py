"""The moving averages of a model's weights, and their evaluation."""

import contextlib
import math
from collections.abc import Iterator
from collections.abc import Mapping

import keras
import numpy as np
from keras import ops

from keras_selfattn.training.values import batch_size_for


@contextlib.contextmanager
def averaged_weights(model: keras.Model) -> Iterator[None]:
    """Give a model the moving averages of its weights, within a block.

    Weights that the block sets stay as they are then.

    Keras's `SwapEMAWeights` swaps by sums on TensorFlow, which changes the
    weights by what is rounded off; a resumed run then would not be the same.

    Args:
        model: A compiled model. Nothing happens if its optimizer does not
            keep averages.
    """
    optimizer = _optimizer(model)
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
    averages = [ops.convert_to_numpy(variable) for variable in variables]
    try:
        yield
    finally:
        for variable, average, value in zip(
            variables, averages, weights, strict=True
        ):
            # What a callback has set stays.
            now = ops.convert_to_numpy(variable)
            if np.array_equal(now, average, equal_nan=True):
                variable.assign(value)


def set_reach(model: keras.Model, training: Mapping, rows: int) -> None:
    """Let the averages reach over as many epochs as a recipe says.

    An average over more steps than there have been is of the first weights.

    Args:
        model: A compiled model.
        training: Dictionary of training values. Without `ema_epochs` nothing
            happens.
        rows: Integer, the number of training texts.
    """
    epochs = training.get("ema_epochs")
    if epochs is not None:
        steps = math.ceil(rows / batch_size_for(training, rows))
        _optimizer(model).ema_momentum = 1 - 1 / (epochs * steps)


def _optimizer(model):
    # Keras wraps the optimizer of a model that computes in float16.
    return getattr(model.optimizer, "inner_optimizer", model.optimizer)


class EvaluateAverages(keras.callbacks.Callback):
    """Gives a model its averages from its evaluation to the epoch's end."""

    def __init__(self) -> None:
        super().__init__()
        self.averaged = contextlib.ExitStack()

    def on_test_begin(self, logs: Mapping | None = None) -> None:
        self.averaged.enter_context(averaged_weights(self.model))

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        self.averaged.close()


class ShowAverages(keras.callbacks.Callback):
    """Gives a model its averages while callbacks look at a finished epoch.

    It stands before them, and its `end` behind them.

    Attributes:
        end: The callback that gives the model its weights back.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown = contextlib.ExitStack()
        self.end = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: self._shown.close()
        )

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        self._shown.enter_context(averaged_weights(self.model))

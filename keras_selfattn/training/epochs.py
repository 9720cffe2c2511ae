"""What is done at the beginning and at the end of an epoch: Keras callbacks."""

import math
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_selfattn.training.averaging import EvaluateAverages


def learning_rate_decay(training: Mapping) -> list:
    """The callbacks that let the learning rate fall.

    Args:
        training: Dictionary of training values.

    Returns:
        A list of one callback, or of none without `decay_epochs`.
    """
    start, epochs = training["learning_rate"], training.get("decay_epochs")
    if epochs is None:
        return []

    def rate(epoch, _):
        share = min(epoch / epochs, 1.0)
        return start * (1 + math.cos(math.pi * share)) / 2

    return [keras.callbacks.LearningRateScheduler(rate)]


class SetEpoch(keras.callbacks.Callback):
    """Ties the order of the rows to the epoch, and the dropout on torch.

    Args:
        plan: The `keras_selfattn.data.batches.BatchPlan` of the rows.
        seed: Integer, the seed of the training, or `None` for any.
    """

    def __init__(self, plan: Any, seed: int) -> None:
        super().__init__()
        self.plan = plan
        self.seed = seed

    def on_epoch_begin(self, epoch: int, logs: Mapping | None = None) -> None:
        self.plan.epoch = epoch
        if keras.backend.backend() == "torch" and self.seed is not None:
            import torch

            # Keras draws dropout from torch's own generator there, whose
            # state is no variable of the model.
            words = np.random.SeedSequence((self.seed, epoch))
            torch.manual_seed(int(words.generate_state(1)[0]))


class KeepRun(EvaluateAverages):
    """Keeps each epoch, and ends the run where a loss is not finite.

    Args:
        run: The `Run`.
    """

    def __init__(self, run):
        super().__init__()
        self.run = run

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch, logs)
        self._epoch = epoch + 1
        # On JAX it stands still within an epoch.
        self._steps = int(self.model.optimizer.iterations)

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        # The last of several steps that are executed at once, or that would be
        # at the end of an epoch.
        batch = min(batch + 1, self.params["steps"] or math.inf)
        self.run.check_finite(
            float(logs["loss"]),
            f"by step {self._steps + batch}, batch {batch} of epoch "
            f"{self._epoch}",
        )

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.run.keep(self.model, logs)
        if self.run.is_over():
            self.model.stop_training = True

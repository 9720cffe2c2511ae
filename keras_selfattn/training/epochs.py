"""What is done at the beginning and at the end of an epoch: Keras callbacks."""

import math
import time
from collections.abc import Mapping
from typing import Any

import keras

from keras_selfattn import validation
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
    """Ties the order of the rows to the epoch.

    Args:
        plan: The `keras_selfattn.data.batches.BatchPlan` of the rows.
    """

    def __init__(self, plan: Any) -> None:
        super().__init__()
        self.plan = plan

    def on_epoch_begin(self, epoch: int, logs: Mapping | None = None) -> None:
        self.plan.epoch = epoch


class Clock:
    """Tells when a checkpoint is due.

    Args:
        minutes: Number, how many are between two of them, or `None` where
            none is due.
    """

    def __init__(self, minutes):
        self._seconds = None
        if minutes is not None:
            self._seconds = 60 * validation.positive(
                minutes, "checkpoint_minutes"
            )
        self._last = time.monotonic()

    def is_due(self):
        """Whether the minutes have passed since it last was."""
        now = time.monotonic()
        if self._seconds is None or now - self._last < self._seconds:
            return False
        self._last = now
        return True


class KeepRun(EvaluateAverages):
    """Keeps each epoch, and ends the run where a loss is not finite.

    Args:
        run: The `Run`.
        before: Integer, how many batches of the first epoch were before.
        clock: The `Clock` of the checkpoints within an epoch.
    """

    def __init__(self, run, before, clock):
        super().__init__()
        self.run = run
        self._before = before
        self._clock = clock

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch, logs)
        self.run.restore_epoch(self.model)
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
            f"by step {self._steps + batch}, batch {self._before + batch} of "
            f"epoch {self._epoch}",
        )
        if self._clock.is_due():
            self.keep_batches(batch)

    def keep_batches(self, batches, metrics=None):
        """Keep the run as it is within an epoch.

        Args:
            batches: Integer, how many have been, of those that there are.
            metrics: As of `Run.keep_batches`.
        """
        # The end of the epoch has a checkpoint of its own.
        if batches != self.params["steps"]:
            self.run.keep_batches(self.model, self._before + batches, metrics)

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.run.keep(self.model, logs)
        if self.run.is_over():
            self.model.stop_training = True

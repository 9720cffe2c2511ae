"""KerasTuner's tuners: the preset first, a time limit, and resuming."""

import contextlib
import inspect
import os
import threading
import time
from typing import Any

import keras_tuner

from keras_selfattn import endings
from keras_selfattn import validation
from keras_selfattn.files import FullDiskError
from keras_selfattn.files import disk_named
from keras_selfattn.tuning import oracles

_BEGUN_FILE = "begun"
_MOST_BEGINNINGS = 3


def role():
    """`"chief"`, `"worker"`, or `None` where the search is not shared."""
    if "KERASTUNER_ORACLE_IP" not in os.environ:
        return None
    tuner_id = os.environ.get("KERASTUNER_TUNER_ID", "")
    # As KerasTuner tells them apart.
    return "chief" if "chief" in tuner_id else "worker"


class _Tuner:
    """What the tuners add to those of KerasTuner."""

    oracle_class: Any = None
    # Gets the events of the trials; see `keras_selfattn.tuning.progress`.
    listener = None

    def __init__(
        self,
        hypermodel: Any,
        objective: Any = "val_accuracy",
        max_trials: int | None = 10,
        minutes: float | None = None,
        **kwargs: Any,
    ) -> None:
        if minutes is not None:
            validation.positive(minutes, "minutes")
        of_tuner = inspect.signature(keras_tuner.Tuner).parameters
        space = keras_tuner.HyperParameters()
        hypermodel.settings(space)
        oracle = self.oracle_class(
            objective=objective,
            max_trials=max_trials,
            hyperparameters=space,
            **{
                # Ten failures in a row are no accident.
                "max_consecutive_failed_trials": 10,
                **{k: v for k, v in kwargs.items() if k not in of_tuner},
            },
        )
        self.minutes = minutes
        self.deadline = None
        oracle.folder = os.path.join(
            kwargs.get("directory") or ".",
            kwargs.get("project_name") or "untitled_project",
        )
        keras_tuner.Tuner.__init__(
            self,
            oracle,
            # KerasTuner would build a model for each condition of the space.
            hypermodel=None,
            **{k: v for k, v in kwargs.items() if k in of_tuner},
        )
        self.hypermodel = hypermodel

    def search(self, *args, **kwargs):
        if self.minutes is not None:
            self.deadline = time.monotonic() + 60 * self.minutes
        if role() == "worker":
            super().search(*args, **kwargs)
            return
        self.oracle.deadline = self.deadline
        if self.listener is not None:
            self.oracle.on_end = self.listener.on_trial_end
        watch = contextlib.nullcontext()
        if role() == "chief":
            watch = _every(oracles.HEARTBEAT, self.oracle.give_up_lost_workers)
        with watch:
            super().search(*args, **kwargs)

    def reload(self):
        if role() != "worker":
            oracles.remove_unrecorded(self.project_dir)
        super().reload()

    def pre_create_trial(self):
        super().pre_create_trial()
        if role() == "worker":
            # KerasTuner's workers, told to wait, ask again at once.
            time.sleep(0.5)

    def on_trial_begin(self, trial):
        super().on_trial_begin(trial)
        if self.listener is not None:
            self.listener.on_trial_begin(trial)

    def run_trial(self, trial, *args, **kwargs):
        alive = contextlib.nullcontext()
        if role() == "worker":
            alive = _every(
                oracles.HEARTBEAT,
                lambda: self.oracle.get_trial(trial.trial_id),
            )
        if self.listener is not None:
            kwargs["callbacks"] = [
                *kwargs.get("callbacks", ()),
                *self.listener.callbacks(trial),
            ]
        with alive, self._beginning_counted(trial), _full_disk_ends_all(self):
            return super().run_trial(trial, *args, **kwargs)

    @contextlib.contextmanager
    def _beginning_counted(self, trial):
        """Fail a trial in which the process has ended again and again.

        That happens where the operating system kills it for want of memory.
        """
        path = os.path.join(self.get_trial_dir(trial.trial_id), _BEGUN_FILE)
        before = os.path.getsize(path) if os.path.exists(path) else 0
        if before + 1 >= _MOST_BEGINNINGS:
            raise keras_tuner.errors.FailedTrialError(
                f"the process ended in it {before} times, maybe for want of "
                "memory"
            )
        with open(path, "a") as file:
            file.write(".")
        try:
            yield
        finally:
            os.remove(path)

    def on_batch_end(self, trial, model, batch, logs=None):
        super().on_batch_end(trial, model, batch, logs)
        if self.deadline is not None and time.monotonic() > self.deadline:
            model.stop_training = True
        if self.listener is not None:
            self.listener.on_batch_end(trial, batch)

    def on_epoch_end(self, trial, model, epoch, logs=None):
        super().on_epoch_end(trial, model, epoch, logs)
        if self.listener is not None:
            self.listener.on_epoch_end(trial, epoch, logs)

    def on_trial_end(self, trial):
        # What a lost signal has made of a trial is not how it ends.
        endings.raise_if_asked()
        super().on_trial_end(trial)
        if self.listener is not None and role() == "worker":
            self.listener.on_trial_end(self.oracle.get_trial(trial.trial_id))


class RandomSearch(_Tuner, keras_tuner.RandomSearch):
    """`keras_tuner.RandomSearch`, with the preset's own values first.

    The first trial has the default of each hyperparameter: the preset's own
    value, or the first of a list that lacks it. The best one is, on the data
    that chooses it, no worse than this trial.

    Args:
        hypermodel: A hypermodel of `keras_selfattn.tuning`.
        objective: As in KerasTuner.
        max_trials: Integer, the number of trials at most, or `None`.
        minutes: Number, how long a search lasts at most, or `None`. The
            trial that is under way then stops where it is and is measured.
        **kwargs: Further arguments of `keras_tuner.RandomSearch`, such as
            `seed`, `directory` and `project_name`.

    Raises:
        ValueError: if `minutes` is not a number above 0.
    """

    oracle_class = oracles.RandomSearchOracle


class Hyperband(_Tuner, keras_tuner.Hyperband):
    """`keras_tuner.Hyperband`, with the preset's own values first.

    The arguments are those of `keras_selfattn.tuning.RandomSearch` and of
    `keras_tuner.Hyperband`. The first trial gets `max_epochs` epochs, and
    stands beside the brackets.
    """

    oracle_class = oracles.HyperbandOracle


class GridSearch(_Tuner, keras_tuner.GridSearch):
    """`keras_tuner.GridSearch`, which goes on where it was interrupted.

    The arguments are those of `keras_selfattn.tuning.RandomSearch`.
    """

    oracle_class = oracles.GridSearchOracle


class BayesianOptimization(_Tuner, keras_tuner.BayesianOptimization):
    """`keras_tuner.BayesianOptimization`, with the preset's own values first.

    The arguments are those of `keras_selfattn.tuning.RandomSearch` and of
    `keras_tuner.BayesianOptimization`.
    """

    oracle_class = oracles.BayesianOptimizationOracle


TUNERS = {
    "random": RandomSearch,
    "hyperband": Hyperband,
    "grid": GridSearch,
    "bayesian": BayesianOptimization,
}


class _FullDiskError(keras_tuner.errors.FatalError, FullDiskError):
    """One that KerasTuner doesn't take for the failure of a trial."""


@contextlib.contextmanager
def _full_disk_ends_all(tuner):
    try:
        with disk_named(tuner.project_dir):
            yield
    except FullDiskError as error:
        raise _FullDiskError(str(error)) from error


@contextlib.contextmanager
def _every(seconds, function):
    """Call a function again and again in a thread while the block runs."""
    done = threading.Event()

    def repeat():
        while not done.wait(seconds):
            function()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()

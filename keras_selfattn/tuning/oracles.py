"""KerasTuner's oracles, which choose the values of each trial.

These begin with the defaults of the search space, keep to a time budget, and
give up workers that are lost.
"""

import functools
import json
import os
import pathlib
import shutil
import time
import warnings

import keras_tuner
from keras_tuner.engine.trial import TrialStatus

from keras_selfattn.files import read_json
from keras_selfattn.files import write_text

# Seconds between two signs of life of a worker, and until one is given up.
HEARTBEAT = 5
WORKER_TIMEOUT = 60

_STATE_FILE = "oracle.json"

_STOP = {"status": TrialStatus.STOPPED, "values": None}


def _begin(values):
    return {"status": TrialStatus.RUNNING, "values": values}


class _PresetFirst:
    """What the oracles add to those of KerasTuner.

    Attributes:
        folder: Path of the folder of the trials.
        deadline: The `time.monotonic()` after which no trial begins, or
            `None`.
        on_end: Callable that gets each trial that has ended, or `None`.
    """

    folder = None
    deadline = None
    on_end = None

    def __init__(self, *args, max_trials=None, seed=None, **kwargs):
        # KerasTuner takes 0 for no seed.
        super().__init__(*args, seed=10_001 if seed == 0 else seed, **kwargs)
        self.max_trials = max_trials
        self._last_sign = {}

    def save(self):
        _write_state(self, os.path.join(self.folder, _STATE_FILE))

    def populate_space(self, trial_id):
        if self.deadline is not None and time.monotonic() > self.deadline:
            return _STOP
        if not self.start_order:
            return _begin(self.first_values())
        return self.next_values(trial_id)

    def first_values(self):
        """The defaults: the preset's own values where the space has them."""
        return next(_combinations(self.hyperparameters.space))

    def next_values(self, trial_id):
        return super().populate_space(trial_id)

    def is_tried(self, values):
        """Whether a trial has these values."""
        trials = self.trials.values()
        return any(trial.hyperparameters.values == values for trial in trials)

    @keras_tuner.synchronized
    def create_trial(self, tuner_id):
        self._last_sign[tuner_id] = time.monotonic()
        trial = super().create_trial(tuner_id)
        trial.save = functools.partial(_write_state, trial)
        return trial

    def get_trial(self, trial_id):
        # Workers ask for their trial as a sign of life.
        for tuner_id, trial in list(self.ongoing_trials.items()):
            if trial.trial_id == trial_id:
                self._last_sign[tuner_id] = time.monotonic()
        return super().get_trial(trial_id)

    @keras_tuner.synchronized
    def end_trial(self, trial):
        # Floats come back from workers rounded.
        trial.hyperparameters = self.trials[trial.trial_id].hyperparameters
        super().end_trial(trial)
        if self.on_end is not None:
            self.on_end(self.trials[trial.trial_id])

    @keras_tuner.synchronized
    def give_up_lost_workers(self):
        """Count the trials of workers without a sign of life as failed."""
        now = time.monotonic()
        for tuner_id in list(self.tuner_ids):
            if now - self._last_sign.get(tuner_id, now) < WORKER_TIMEOUT:
                continue
            trial = self.ongoing_trials.get(tuner_id)
            if trial is not None:
                trial.status = TrialStatus.FAILED
                trial.message = f"the worker {tuner_id} was lost"
                self.end_trial(trial)
            self.tuner_ids.discard(tuner_id)


def _write_state(thing, path):
    """Write a file of KerasTuner's, which it writes in place."""
    write_text(path, json.dumps(thing.get_state()))


def remove_unrecorded(folder):
    """Remove the trials that the oracle's state has not, as it was cut off.

    KerasTuner would count them, and never run them.
    """
    folder = pathlib.Path(folder)
    if not (folder / _STATE_FILE).exists():
        return
    begun = read_json(folder / _STATE_FILE)["start_order"]
    for trial in folder.glob("trial_*"):
        if trial.name.removeprefix("trial_") not in begun:
            shutil.rmtree(trial)


class RandomSearchOracle(_PresetFirst, keras_tuner.oracles.RandomSearchOracle):
    """Random values."""


class BayesianOptimizationOracle(
    _PresetFirst, keras_tuner.oracles.BayesianOptimizationOracle
):
    """Values that a Gaussian process expects the most of."""

    def next_values(self, trial_id):
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            # A few trials don't determine the process's length scale.
            warnings.simplefilter("ignore", ConvergenceWarning)
            response = super().next_values(trial_id)
        # It may propose values that were tried already.
        if response["values"] and self.is_tried(response["values"]):
            random = keras_tuner.oracles.RandomSearchOracle
            return random.populate_space(self, trial_id)
        return response


class HyperbandOracle(_PresetFirst, keras_tuner.oracles.HyperbandOracle):
    """Random values, of which the better ones are trained on."""

    def first_values(self):
        # It belongs to no bracket, and gets all epochs.
        return {
            **super().first_values(),
            "tuner/epochs": self.max_epochs,
            "tuner/initial_epoch": 0,
            "tuner/bracket": 0,
            "tuner/round": 0,
        }


class GridSearchOracle(_PresetFirst, keras_tuner.oracles.GridSearchOracle):
    """All combinations, the last hyperparameters varying first.

    KerasTuner's own loses its place when it is reloaded; this one finds it
    again from the trials.
    """

    def next_values(self, trial_id):
        for values in _combinations(self.hyperparameters.space):
            if not self.is_tried(values):
                return _begin(values)
        return _STOP


def _combinations(space, values=None):
    """All combinations of active hyperparameters, the defaults first."""
    values = values or {}
    if not space:
        yield values
        return
    hp, *rest = space
    if not all(condition.is_active(values) for condition in hp.conditions):
        yield from _combinations(rest, values)
        return
    others = [value for value in hp.values if value != hp.default]
    for value in (hp.default, *others):
        yield from _combinations(rest, {**values, hp.name: value})


def in_order(oracle):
    """The trials of an oracle, in the order in which they began."""
    return [oracle.trials[trial_id] for trial_id in list(oracle.start_order)]


def best_trial(oracle):
    """The first of the best trials, or `None` where none has completed."""
    done = [t for t in in_order(oracle) if t.status == TrialStatus.COMPLETED]
    return max(done, key=lambda trial: trial.score, default=None)

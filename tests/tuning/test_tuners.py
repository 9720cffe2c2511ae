import ast
import pathlib

import keras_tuner
import numpy as np
import pytest

from keras_selfattn import endings
from keras_selfattn import tuning
from keras_selfattn.tuning import oracles
from tests.tuning.test_hypermodels import encode
from tests.tuning.texts import TINY

TUNERS = {
    tuning.RandomSearch: {},
    tuning.Hyperband: {"max_epochs": 2, "hyperband_iterations": None},
    tuning.GridSearch: {},
    tuning.BayesianOptimization: {"num_initial_points": 2},
}
STRUCTURED = {"pooling": "structured", "attention_dim": 3}
SPACE = {"num_heads": [1, 2, 3], "learning_rate": [2e-3, 1e-3, 0.06]}


class Recipe(tuning.SentenceHyperModel):
    """Trials that cost nothing, whose figures follow from their values."""

    def build(self, hp):
        self.settings(hp)
        return None

    def figure(self, hp):
        return hp.get("learning_rate") + hp.get("num_heads")


def hypermodel(cls=Recipe, **arguments):
    given = {**TINY, **SPACE, **STRUCTURED, **arguments}
    return cls("lin2017_yelp", 11, 2, papers_space=False, **given)


def instant(tuner_class):
    """The tuner without what it does with a model."""

    class Instant(tuner_class):
        def run_trial(self, trial, *args, **kwargs):
            with self._beginning_counted(trial):
                return self.hypermodel.figure(trial.hyperparameters)

    return Instant


def make(tuner_class, folder, model=None, trials=6, seed=0, **kwargs):
    return instant(tuner_class)(
        model or hypermodel(),
        max_trials=trials,
        seed=seed,
        directory=str(folder),
        project_name="search",
        **TUNERS[tuner_class],
        **kwargs,
    )


def trials(tuner):
    return [
        (trial.hyperparameters.values, trial.score)
        for trial in oracles.in_order(tuner.oracle)
    ]


@pytest.mark.parametrize("tuner_class", TUNERS)
def test_the_first_trial_is_the_preset(tuner_class, tmp_path):
    tuner = make(tuner_class, tmp_path)
    tuner.search(verbose=0)
    found = trials(tuner)
    assert len(found) == 6
    values, _ = found[0]
    assert values["learning_rate"] == 0.06
    assert values["num_heads"] == 1
    if tuner_class is tuning.Hyperband:
        assert values["tuner/epochs"] == 2
    else:
        assert values == tuner.hypermodel.first_values()
        # No setting is tried twice.
        settings = [sorted(values.items()) for values, _ in found]
        assert len({str(s) for s in settings}) == 6


@pytest.mark.parametrize("tuner_class", TUNERS)
def test_the_same_seed_gives_the_same_trials(tuner_class, tmp_path):
    found = []
    for number, seed in enumerate((0, 0, 5)):
        tuner = make(tuner_class, tmp_path / str(number), seed=seed)
        tuner.search(verbose=0)
        found.append(trials(tuner))
    assert found[0] == found[1]
    # The grid takes all in one order.
    assert (found[0] == found[2]) == (tuner_class is tuning.GridSearch)


@pytest.mark.parametrize("tuner_class", TUNERS)
def test_a_search_goes_on_where_it_was_stopped(tuner_class, tmp_path):
    whole = make(tuner_class, tmp_path / "whole")
    whole.search(verbose=0)

    class Interrupted(Recipe):
        def figure(self, hp):
            self.count = getattr(self, "count", 0) + 1
            if self.count == 4:
                raise KeyboardInterrupt
            return super().figure(hp)

    stopped = make(tuner_class, tmp_path / "parts", hypermodel(Interrupted))
    with pytest.raises(KeyboardInterrupt):
        stopped.search(verbose=0)
    resumed = make(tuner_class, tmp_path / "parts")
    resumed.search(verbose=0)
    if tuner_class is tuning.BayesianOptimization:
        # Its own random state is not kept.
        assert trials(resumed)[:4] == trials(whole)[:4]
        assert len(trials(resumed)) == 6
    else:
        assert trials(resumed) == trials(whole)


@pytest.mark.parametrize("tuner_class", TUNERS)
def test_what_a_lost_signal_makes_of_a_trial_is_not_its_end(
    tuner_class, tmp_path, monkeypatch
):
    whole = make(tuner_class, tmp_path / "whole", trials=3)
    whole.search(verbose=0)

    class Swallowed(Recipe):
        def figure(self, hp):
            if hp.get("learning_rate") != 0.06:
                monkeypatch.setattr(endings, "_asked", True)
                raise ValueError("Error: None values not supported.")
            return super().figure(hp)

    parts = tmp_path / "parts"
    stopped = make(tuner_class, parts, hypermodel(Swallowed), trials=3)
    with pytest.raises(KeyboardInterrupt):
        stopped.search(verbose=0)
    monkeypatch.setattr(endings, "_asked", False)
    resumed = make(tuner_class, parts, trials=3)
    resumed.search(verbose=0)
    found = trials(resumed)
    assert None not in [score for _, score in found]
    if tuner_class is not tuning.BayesianOptimization:
        # Its own random state is not kept.
        assert found == trials(whole)


@pytest.mark.parametrize("tuner_class", TUNERS)
def test_a_trial_that_was_cut_off_as_it_began(
    tuner_class, tmp_path, monkeypatch
):
    whole = make(tuner_class, tmp_path / "whole", trials=3)
    whole.search(verbose=0)
    stopped = make(tuner_class, tmp_path / "parts", trials=3)
    write = oracles.write_text
    second = tmp_path / "parts" / "search" / "trial_1" / "trial.json"

    def cut_off(path, text):
        if path.endswith("oracle.json") and second.exists():
            raise KeyboardInterrupt
        write(path, text)

    monkeypatch.setattr(oracles, "write_text", cut_off)
    with pytest.raises(KeyboardInterrupt):
        stopped.search(verbose=0)
    monkeypatch.undo()
    assert second.exists()
    resumed = make(tuner_class, tmp_path / "parts", trials=3)
    resumed.search(verbose=0)
    found = trials(resumed)
    assert len(found) == 3
    if tuner_class is not tuning.BayesianOptimization:
        assert found == trials(whole)


def test_the_grid_takes_each_active_combination_once(tmp_path):
    model = hypermodel(
        pooling=["structured", "max"], num_heads=[2, 3], learning_rate=[0.1]
    )
    model.figure = lambda hp: 0.5
    tuner = make(tuning.GridSearch, tmp_path, model, trials=None)
    tuner.search(verbose=0)
    assert [values for values, _ in trials(tuner)] == [
        {"pooling": "structured", "num_heads": 2, "learning_rate": 0.1},
        {"pooling": "structured", "num_heads": 3, "learning_rate": 0.1},
        {"pooling": "max", "learning_rate": 0.1},
    ]


def test_a_failed_trial_fails_alone(tmp_path):
    class Failing(Recipe):
        def figure(self, hp):
            if hp.get("num_heads") == 1:
                raise keras_tuner.errors.FailedTrialError("out of memory")
            return super().figure(hp)

    tuner = make(tuning.GridSearch, tmp_path, hypermodel(Failing), trials=9)
    tuner.search(verbose=0)
    status = [t.status for t in oracles.in_order(tuner.oracle)]
    assert status == ["FAILED"] * 3 + ["COMPLETED"] * 6
    best = oracles.best_trial(tuner.oracle)
    assert best.hyperparameters.get("num_heads") == 3


def test_the_first_of_equal_trials_is_the_best(tmp_path):
    model = hypermodel()
    model.figure = lambda hp: 0.5
    tuner = make(tuning.RandomSearch, tmp_path, model)
    tuner.search(verbose=0)
    assert (
        oracles.best_trial(tuner.oracle) is (oracles.in_order(tuner.oracle)[0])
    )


def test_a_trial_that_ends_the_process_each_time_is_given_up(tmp_path):
    folder = tmp_path / "search" / "trial_0"
    tuner = make(tuning.RandomSearch, tmp_path)
    folder.mkdir(parents=True)
    # As two killed processes would have left it.
    (folder / "begun").write_text("..")
    tuner.search(verbose=0)
    first = oracles.in_order(tuner.oracle)[0]
    assert first.status == "FAILED"
    assert "the process ended in it 2 times" in first.message
    assert not list(tmp_path.glob("search/trial_[1-5]/begun"))


def test_no_trial_begins_after_the_time(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(oracles.time, "monotonic", lambda: clock[0])

    class Slow(Recipe):
        def figure(self, hp):
            clock[0] += 40
            return super().figure(hp)

    tuner = make(
        tuning.RandomSearch, tmp_path, hypermodel(Slow), trials=None, minutes=1
    )
    tuner.search(verbose=0)
    # They begin at 0 and 40 seconds, and would at 80.
    assert len(trials(tuner)) == 2


@pytest.mark.parametrize("minutes", [0, float("nan"), "5"])
def test_the_time_is_a_number_above_0(tmp_path, minutes):
    with pytest.raises(ValueError, match=f"minutes={minutes!r}"):
        make(tuning.RandomSearch, tmp_path, minutes=minutes)


def test_the_trial_under_way_stops_where_it_is_and_is_measured(tmp_path):
    model = hypermodel(
        tuning.SentenceHyperModel,
        num_heads=1,
        batch_size=1,
        steps_per_execution=1,
    )
    tuner = tuning.RandomSearch(
        model, max_trials=9, minutes=1e-4, directory=str(tmp_path), seed=0
    )
    tuner.search(encode(6), validation_data=encode(4), epochs=900, verbose=0)
    (trial,) = oracles.in_order(tuner.oracle)
    assert trial.status == "COMPLETED"
    assert 0 <= trial.score <= 1


def test_a_lost_worker_costs_its_trial_alone(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(oracles.time, "monotonic", lambda: clock[0])
    oracle = make(tuning.RandomSearch, tmp_path).oracle
    lost = oracle.create_trial("lost")
    kept = oracle.create_trial("kept")
    clock[0] = oracles.WORKER_TIMEOUT - 1
    oracle.get_trial(kept.trial_id)
    clock[0] += 2
    oracle.give_up_lost_workers()
    assert oracle.trials[lost.trial_id].status == "FAILED"
    assert "the worker lost was lost" in oracle.trials[lost.trial_id].message
    assert oracle.trials[kept.trial_id].status == "RUNNING"
    assert oracle.tuner_ids == {"kept"}
    assert list(oracle.ongoing_trials) == ["kept"]


def test_rounded_floats_of_a_worker_do_not_count(tmp_path):
    oracle = make(tuning.GridSearch, tmp_path).oracle
    trial = oracle.create_trial("worker")
    rounded = keras_tuner.engine.trial.Trial(
        trial.hyperparameters.copy(), trial.trial_id, "COMPLETED"
    )
    rounded.hyperparameters.values["learning_rate"] = float(np.float32(0.06))
    oracle.update_trial(trial.trial_id, {"val_accuracy": 0.5})
    oracle.end_trial(rounded)
    values = oracle.trials[trial.trial_id].hyperparameters.values
    assert values["learning_rate"] == 0.06


def test_nothing_private_of_keras_tuner_is_used():
    theirs = {
        name
        for thing in (
            keras_tuner.Hyperband,
            keras_tuner.HyperModel,
            keras_tuner.HyperParameters(),
            keras_tuner.oracles.BayesianOptimizationOracle("accuracy"),
            keras_tuner.oracles.HyperbandOracle("accuracy"),
        )
        for name in dir(thing)
        if name.startswith("_") and not name.endswith("__")
    }
    assert "_random_populate_space" in theirs
    for path in pathlib.Path(tuning.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", getattr(node, "name", None))
            assert name not in theirs, path.name
            if isinstance(node, ast.ImportFrom):
                assert not node.module.startswith("keras_tuner.src")

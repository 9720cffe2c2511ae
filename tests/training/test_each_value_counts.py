"""No training value is ignored: each changes the run, or is refused."""

import pytest

from keras_selfattn import training
from keras_selfattn.training import values
from tests.training.small import WITHOUT_WIDTH
from tests.training.small import final_weights
from tests.training.small import reviews

BASE = {
    "optimizer": "adam",
    "learning_rate": 0.01,
    "batch_size": 16,
    "epochs": 2,
    "min_count": 2,
}
SGD = {"optimizer": "sgd", "learning_rate": 0.1}
UNCLIPPED = {**SGD, "global_clipnorm": None}
ADAGRAD = {"optimizer": "adagrad", "learning_rate": 0.1}
# By name another value and, where it tells only beside others, these.
CHANGES = {
    "optimizer": ("sgd", {}),
    "learning_rate": (0.02, {}),
    "batch_size": (8, {}),
    "max_batch_size": (32, {}),
    "epochs": (3, {}),
    # The first epoch is the best where nothing is learned.
    "patience": (1, {"learning_rate": 1e-30, "epochs": 4}),
    "monitor": ("macro_f1", {}),
    "class_weight": ("balanced", {}),
    "decay_epochs": (2, {}),
    "ema_momentum": (0.5, {}),
    "ema_epochs": (1, {}),
    "lowercase": (False, {}),
    "max_tokens": (3, {}),
    "prepend_null": (True, {}),
    "num_oov_indices": (3, {}),
    "min_count": (4, {}),
    "learn_vectors": (4, {}),
    "normalize_vectors": (True, {}),
    "momentum": (0.5, SGD),
    "nesterov": (True, {**SGD, "momentum": 0.5}),
    "beta_1": (0.5, {}),
    "beta_2": (0.5, {}),
    "amsgrad": (True, {"beta_2": 0.5}),
    "epsilon": (0.1, {}),
    "initial_accumulator_value": (1.0, ADAGRAD),
    "weight_decay": (0.5, {}),
    "clipnorm": (0.001, UNCLIPPED),
    "global_clipnorm": (0.001, SGD),
    "clipvalue": (0.0001, UNCLIPPED),
    "gradient_accumulation_steps": (2, {}),
}
# What takes a file of vectors, or teachers, and what is said without.
REFUSED = {
    "unseen_words": (5, "pretrained word vectors"),
    "induce_vectors": (True, "pretrained word vectors"),
    "student_loss_weight": (0.5, "is for `teachers`"),
}
# What changes the speed, or by a factor of 2, which rounds nothing.
SAME = {"steps_per_execution": 2, "loss_scale_factor": 2.0}


def outcome(folder, training_values):
    model = training.train(
        "lin2017_yelp",
        reviews(96, 1)[:91],
        reviews(40, 2),
        folder,
        model_overrides=WITHOUT_WIDTH,
        training_overrides={**BASE, **training_values},
        verbose=0,
    )
    weights = [array.tobytes() for array in final_weights(folder)]
    history = (folder / training.HISTORY_FILE).read_text()
    return model.preprocessor.get_vocabulary(), history, weights


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The outcome of a run, of each of some values once."""
    known = {}

    def find(others):
        key = repr(others)
        if key not in known:
            folder = tmp_path_factory.mktemp("base") / "run"
            known[key] = outcome(folder, others)
        return known[key]

    return find


def test_all_are_here():
    assert {*CHANGES, *REFUSED, *SAME} == {v.name for v in values.VALUES}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_value_changes_the_run(name, base, tmp_path, monkeypatch):
    monkeypatch.setattr(values, "_LONG_EPOCH", 3)
    value, others = CHANGES[name]
    changed = outcome(tmp_path / "run", {**others, name: value})
    assert changed != base(others)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME)
def test_a_value_that_changes_no_number(name, base, tmp_path):
    assert outcome(tmp_path / "run", {name: SAME[name]}) == base({})


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_something_is_missing_for(name, tmp_path):
    value, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        outcome(tmp_path / "run", {name: value})

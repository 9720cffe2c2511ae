import math
import subprocess
import sys

import pytest

from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn import training
from keras_selfattn.training import values
from tests.training.small import reviews
from tests.training.small import train

NAN = float("nan")


def test_a_momentum_out_of_range(tmp_path):
    with pytest.raises(ValueError, match=r"ema_momentum.*Received.*1\.5"):
        train(tmp_path / "x", training_overrides={"ema_momentum": 1.5})
    assert not (tmp_path / "x").exists()


def test_unknown_training_value(tmp_path):
    with pytest.raises(ValueError, match="'initial_accumulator_value'"):
        train(
            tmp_path / "x", training_overrides={"initial_accumulator_value": 1}
        )


@pytest.mark.parametrize(
    "name, value",
    [
        ("max_tokens", 0),
        ("num_oov_indices", None),
        ("min_count", -1),
        ("min_count", "often"),
        ("decay_epochs", 0),
        ("batch_size", 0),
        ("batch_size", None),
        ("epochs", 0),
        ("epochs", 2.5),
        ("steps_per_execution", True),
        ("lowercase", "False"),
        ("prepend_null", 1),
        ("ema_momentum", "slow"),
        ("induce_vectors", "yes"),
        ("unseen_words", -1),
        ("unseen_words", None),
        ("unseen_words", True),
        ("unseen_words", 2.0),
        ("learn_vectors", None),
        ("learn_vectors", True),
        ("momentum", "fast"),
        ("momentum", 1.0),
        ("momentum", -0.1),
        ("momentum", NAN),
        ("momentum", None),
        ("nesterov", "yes"),
        ("nesterov", 1),
        ("learning_rate", None),
        ("learning_rate", NAN),
        ("learning_rate", math.inf),
        ("learning_rate", 0.0),
        ("learning_rate", -0.06),
        ("learning_rate", True),
        ("global_clipnorm", -0.5),
        ("clipnorm", 0),
        ("clipvalue", NAN),
        ("weight_decay", -1e-3),
        ("loss_scale_factor", 0.0),
        ("gradient_accumulation_steps", 1),
        ("gradient_accumulation_steps", 2.0),
        ("gradient_accumulation_steps", True),
        ("ema_momentum", 1.0),
        ("ema_momentum", NAN),
        ("optimizer", ["sgd"]),
    ],
)
def test_a_training_value_that_cannot_be(tmp_path, name, value):
    with pytest.raises(ValueError, match="must be.*Received") as raised:
        train(tmp_path / "x", training_overrides={name: value})
    assert name in str(raised.value)
    assert repr(value) in str(raised.value)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("optimizer", "name", "value"),
    [
        ("adam", "beta_1", 1.0),
        ("adam", "beta_2", NAN),
        ("adam", "epsilon", 0),
        ("adam", "amsgrad", 0),
        ("adagrad", "initial_accumulator_value", -0.1),
        ("adagrad", "epsilon", -1e-7),
    ],
)
def test_a_value_of_another_optimizer_that_cannot_be(optimizer, name, value):
    preset = models.get_preset("lin2017_yelp")
    with pytest.raises(ValueError, match=f"`{name}` must be.*{name}="):
        training.training_values(preset, {"optimizer": optimizer, name: value})


def test_values_at_the_end_of_their_range():
    preset = models.get_preset("lin2017_yelp")
    for overrides in (
        {"momentum": 0, "nesterov": True, "weight_decay": 0.0},
        {"clipnorm": None, "global_clipnorm": None, "clipvalue": 1},
        {"gradient_accumulation_steps": 2, "ema_momentum": 0.0},
        {"optimizer": "adagrad", "initial_accumulator_value": 0},
    ):
        training.training_values(preset, overrides)


def test_arguments_of_the_optimizer_are_training_values():
    preset = models.get_preset("lin2017_yelp")
    values = training.training_values(preset, {"momentum": 0.9})
    assert values["momentum"] == 0.9
    assert training.is_training_value("initial_accumulator_value")
    assert not training.is_training_value("units")


def test_another_optimizer_takes_none_of_the_preset_s_arguments():
    preset = models.get_preset("parikh2016_snli")
    values = training.training_values(preset, {"optimizer": "adam"})
    assert "initial_accumulator_value" not in values
    assert values["prepend_null"] is True
    # Adam's own, as Keras has it; 0.05 is the preset's for Adagrad.
    assert values["learning_rate"] == 0.001
    given = {"optimizer": "adam", "learning_rate": 0.05}
    values = training.training_values(preset, given)
    assert values["learning_rate"] == 0.05
    same = training.training_values(preset, {"optimizer": "adagrad"})
    assert same["initial_accumulator_value"] == 0.1
    assert same["learning_rate"] == 0.05


def test_the_values_of_optimizers_are_those_that_keras_takes():
    taken = {
        name
        for optimizer in optimizers.OPTIMIZERS
        for name in optimizers.argument_names(optimizer)
    }
    own = {v.name for v in values.VALUES if v.is_optimizers}
    # Keras would average the weights itself by this name.
    assert own == taken - {"ema_momentum"}
    for optimizer in optimizers.OPTIMIZERS:
        assert optimizer in values.BY_NAME["optimizer"].expected
        for name, default in optimizers.defaults(optimizer).items():
            values.BY_NAME[name].check(default)
            assert values.BY_NAME[name].or_none >= (default is None)


@pytest.mark.parametrize("value", values.VALUES, ids=lambda v: v.name)
def test_a_default_is_in_its_range_and_each_preset_gives_the_others(value):
    for name in models.list_presets():
        preset = models.get_preset(name)
        found = training.training_values(preset, {}).get(
            value.name, value.default
        )
        if found is values.OPEN:
            assert value.is_optimizers
        else:
            value.check(found)


def test_the_list_of_values_says_all_about_each():
    words = " ".join(training.describe_values().split())
    for value in values.VALUES:
        said = f"{value.name} {value.help} ({value.expected}"
        if value.default is not values.OPEN:
            said += f"; default: {value.default}"
        assert f"{said})" in words
    lines = training.describe_values().splitlines()
    assert max(map(len, lines)) < 80


def test_they_can_be_read_without_keras():
    code = (
        "import runpy, sys;"
        "print(runpy.run_path(sys.argv[1])['describe_values']());"
        "assert not {'keras', 'tensorflow'} & sys.modules.keys()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, values.__file__],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.rstrip("\n") == training.describe_values()


def test_what_a_run_records():
    preset = models.get_preset("lin2017_yelp")
    assert training.training_values(preset, {}) == {
        **preset.training,
        "max_tokens": 512,
        "min_count": 2,
        "induce_vectors": False,
        "steps_per_execution": 8,
        "ema_momentum": None,
        "decay_epochs": None,
    }


@pytest.mark.parametrize(
    "overrides, epochs",
    [
        ({}, 10),
        ({"epochs": 4}, 4),
        ({"epochs": 20}, 20),
        ({"epochs": 4, "decay_epochs": 7}, 7),
        ({"epochs": 4, "decay_epochs": None}, None),
        ({"decay_epochs": 7}, 7),
    ],
)
def test_a_rate_that_falls_over_all_epochs(overrides, epochs):
    ten = {"epochs": 10, "decay_epochs": 10, "batch_size": 32}
    both = values.with_overrides(ten, overrides)
    assert both == {**ten, **overrides, "decay_epochs": epochs}


def test_a_rate_that_falls_over_some_epochs_does_so_over_as_many():
    ten = {"epochs": 10, "decay_epochs": 6}
    both = values.with_overrides(ten, {"epochs": 4})
    assert both == {"epochs": 4, "decay_epochs": 6}
    assert values.with_overrides({"epochs": 3}, {"epochs": 4}) == {"epochs": 4}


@pytest.mark.parametrize("epochs", [0, 2.5, "all", None])
def test_wrong_epochs_are_told_as_such_where_the_rate_falls(epochs):
    with pytest.raises(ValueError, match="`epochs` must be.*Received: epochs"):
        values.with_overrides(
            {"epochs": 10, "decay_epochs": 10}, {"epochs": epochs}
        )


@pytest.mark.parametrize(
    "rows, most, size",
    [
        (0, 128, 16),
        (16 * 640, 128, 16),
        (16 * 640 + 1, 128, 32),
        (32 * 640, 128, 32),
        (32 * 640 + 1, 128, 64),
        (1_000_000, 128, 128),
        (1_000_000, 127, 64),
        (1_000_000, 8, 16),
        (1_000_000, None, 16),
    ],
)
def test_many_texts_come_in_larger_batches(rows, most, size):
    given = {"batch_size": 16, "max_batch_size": most}
    assert values.batch_size_for(given, rows) == size


def test_a_batch_size_that_is_given_is_taken():
    own = {"batch_size": 16, "max_batch_size": 128}
    assert values.with_overrides(own, {"epochs": 2}) == {**own, "epochs": 2}
    given = values.with_overrides(own, {"batch_size": 8})
    assert values.batch_size_for(given, 1_000_000) == 8
    both = {"batch_size": 8, "max_batch_size": 32}
    assert values.with_overrides(own, both) == both


def test_a_momentum_that_is_given_is_taken():
    own = {"ema_epochs": 2}
    given = {"ema_momentum": None}
    assert values.with_overrides(own, given) == given
    both = {"ema_momentum": 0.9, "ema_epochs": 1}
    assert values.with_overrides(own, both) == both


@pytest.mark.slow
def test_a_model_to_start_from_and_its_falling_rate(tmp_path):
    first = {"epochs": 2, "decay_epochs": 2, "batch_size": 16}
    train(tmp_path / "first", training_overrides=first)
    model = training.train(
        None,
        reviews(48, 1),
        reviews(20, 2),
        tmp_path / "next",
        start=str(tmp_path / "first"),
        training_overrides={"epochs": 1},
        verbose=0,
    )
    assert model.training_record["training"]["decay_epochs"] == 1

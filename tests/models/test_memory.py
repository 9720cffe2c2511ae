"""What a model needs of a machine's memory."""

import pytest

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.backends.memory import machine_memory
from keras_selfattn.models import arguments
from keras_selfattn.models import memory
from tests.conformance.models.table import ROWS
from tests.conformance.models.table import built

SIZES = {"vocabulary_size": 9, "num_classes": 3}


@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_the_weights_are_counted_as_they_will_be(row):
    values = {**arguments.defaults(row.model), **row.config}
    model = built(row)
    seeds = sum(
        weight.shape[0] for weight in model.weights if "seed" in weight.path
    )
    assert memory.count_weights(row.model, values) == (
        model.count_params() - seeds
    )


def test_a_model_beyond_the_machine_is_refused_with_the_numbers():
    there = f"this machine has {machine_memory() / 1e9:,.1f} GB of memory"
    with pytest.raises(ValueError, match=there) as raised:
        models.from_preset("lin2017_yelp", **SIZES, units=99999999999)
    assert "units=99999999999" in str(raised.value)
    for preset, changes in (
        ("chen2018_snli", {"num_heads": 10**8}),
        ("parikh2016_snli_intra", {"attend_units": [10**6, 10**6]}),
        ("lin2017_snli_pruned", {"row_units": 10**9}),
        ("lin2017_bilstm_max_age", {"hidden_units": 10**9}),
    ):
        with pytest.raises(ValueError, match="GB of memory"):
            models.from_preset(preset, **SIZES, **changes)


def test_what_an_optimizer_keeps_counts(monkeypatch):
    small = {"units": 5, "attention_dim": 3, "hidden_units": 7}
    values = {**models.get_preset("lin2017_yelp").model, **small, **SIZES}
    needed = 4 * memory.count_weights(
        models.SentenceClassifier,
        {**arguments.defaults(models.SentenceClassifier), **values},
    )
    monkeypatch.setattr(memory, "machine_memory", lambda: 2 * needed)
    for name, fits in (("sgd", True), ("adam", False)):
        settings = {"optimizer": name, "learning_rate": 0.1}
        if fits:
            training.make_model("lin2017_yelp", settings, **SIZES, **small)
            continue
        with pytest.raises(ValueError, match="weights and their optimizer"):
            training.make_model("lin2017_yelp", settings, **SIZES, **small)
    monkeypatch.setattr(memory, "machine_memory", lambda: None)
    memory.check_memory(models.SentenceClassifier, {"vocabulary_size": 10**20})

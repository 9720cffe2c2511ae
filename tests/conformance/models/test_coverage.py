"""Every classifier, and every choice that its arguments leave, has a row."""

import inspect

import pytest

from keras_selfattn import models
from keras_selfattn.models import sentence_encoder
from keras_selfattn.models import sentence_pair_classifier
from tests.conformance.models.table import ROWS

BOOLEAN = (True, False)

# Arguments with a few values, all of which some row has.
CHOICES = {
    "trainable_embeddings": BOOLEAN,
    "character_cnn": BOOLEAN,
    "encoder": sentence_encoder.ENCODERS,
    "pooling": sentence_encoder.POOLINGS,
    "interaction": sentence_pair_classifier.INTERACTIONS,
    "hidden_shortcut": BOOLEAN,
    "exact_match": BOOLEAN,
    "intra_sentence": BOOLEAN,
    "activation": ("softmax", None),
    "lstm_implementation": ("auto", "keras"),
}
# Numbers of which 0 switches something off, and arguments that may be `None`:
# some row has it on, some off.
SWITCHES = (
    "character_vocabulary_size",
    "ngram_buckets",
    "parameter_penalty",
    "attention_penalty",
    "embedding_penalty",
    "ambiguity_penalty",
    "row_units",
    "column_units",
    "dropout",
    "encoder_dropout",
    "l2",
    "initializer_stddev",
)
# Widths of layers: some row has one layer, some more.
LAYERS = (
    "units",
    "hidden_units",
    "attend_units",
    "compare_units",
    "aggregate_units",
)
# Sizes that leave the graph as it is: some row has another than the default.
SIZES = (
    "vocabulary_size",
    "num_classes",
    "embedding_dim",
    "embeddings_initializer",
    "kernel_size",
    "attention_dim",
    "num_heads",
    "margin",
    "interaction_units",
    "projection_dim",
    "max_distance",
)

CLASSES = [
    value
    for value in (getattr(models, name) for name in dir(models))
    if isinstance(value, type)
    and issubclass(value, models.Classifier)
    and value is not models.Classifier
]


def layers(units):
    return 1 if isinstance(units, int) else len(units)


@pytest.mark.parametrize("model", CLASSES)
def test_every_option_has_a_row(model):
    configs = [row.config for row in ROWS if row.model is model]
    parameters = dict(inspect.signature(model).parameters)
    parameters.pop("kwargs", None)
    for argument, parameter in parameters.items():
        values = [config[argument] for config in configs if argument in config]
        if argument in CHOICES:
            assert set(values) >= set(CHOICES[argument]), argument
        elif argument in SWITCHES:
            assert {bool(value) for value in values} == {True, False}, argument
        elif argument in LAYERS:
            assert {layers(value) > 1 for value in values} == {True, False}
        else:
            assert argument in SIZES, f"{argument} is of no kind"
            assert any(value != parameter.default for value in values), argument


def test_rows_name_only_arguments_that_exist():
    for row in ROWS:
        assert set(row.config) <= set(inspect.signature(row.model).parameters)


@pytest.mark.parametrize("model", CLASSES)
def test_rows_differ(model):
    variants = [row.variant for row in ROWS if row.model is model]
    assert len(set(variants)) == len(variants) > 0


def test_rows_that_repeat_nothing_have_every_choice():
    traced = [row for row in ROWS if not row.repeats]
    for argument in (*CHOICES, *SWITCHES):
        every, some = (
            {
                bool(value) if argument in SWITCHES else value
                for row in rows
                for value in [row.config.get(argument)]
            }
            for rows in (ROWS, traced)
        )
        assert some == every, argument

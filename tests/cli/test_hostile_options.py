"""Whatever `--set` and `--search` are given, one line says what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies

from keras_selfattn import models
from keras_selfattn.cli import make_parser
from keras_selfattn.cli.options import overrides
from keras_selfattn.models import arguments
from keras_selfattn.training.values import VALUES
from keras_selfattn.training.values import training_values
from tests.hostile import any_json
from tests.hostile import tried

SMALL = {
    "embedding_dim": 3,
    "units": 2,
    "attention_dim": 2,
    "num_heads": 2,
    "hidden_units": 3,
}
PRESETS = {
    "lin2017_yelp": SMALL,
    "chen2018_snli": {**SMALL, "hidden_shortcut": False},
    "parikh2016_snli_intra": {
        "embedding_dim": 3,
        "projection_dim": 2,
        "attend_units": [2],
        "compare_units": [2],
        "aggregate_units": [2],
    },
}
names = strategies.sampled_from(
    [
        *(value.name for value in VALUES),
        *arguments.names(models.SentenceClassifier),
        *arguments.names(models.SentencePairClassifier),
        *arguments.names(models.DecomposableClassifier),
        *("", "a b", "__class__", "self", "use_cudnn"),
    ]
)
values = any_json | strategies.sampled_from(
    [
        *(1, 2, 5, 99999999999, -1, 0, 0.5, 1.5, True, None, [2], [2, 3], []),
        *("cnn", "max", "adam", "float16", "uniform", "generalized", {}),
        {"class_name": "RandomNormal", "config": {"stddev": "x"}},
        {"module": "os", "class_name": "system", "config": "true"},
    ]
)


@tried(300)
@given(strategies.text(max_size=30), strategies.booleans())
def test_any_assignment(capsys, text, is_search):
    parsed(["tune", *(["--search" if is_search else "--set", text])], capsys)


@pytest.mark.parametrize(
    "text",
    ["a=" + "[" * 100_000, "a=" + "9" * 9999, "a=[NaN]", "=", "a=\ud800"],
)
@pytest.mark.parametrize("option", ["--set", "--search"])
def test_assignments(capsys, option, text):
    parsed(["tune", f"{option}={text}"], capsys)


def parsed(words, capsys):
    words = [*words, "texts.csv", "--output=run", "--preset=lin2017_yelp"]
    try:
        options = make_parser().parse_args(words)
    except SystemExit as error:
        assert error.code == 2
        assert "Traceback" not in capsys.readouterr().err
        return None
    try:
        return overrides(options)
    except ValueError as error:
        assert str(error)
        return None


@tried(60)
@given(strategies.sampled_from(sorted(PRESETS)), names, values)
def test_any_value(capsys, preset, name, value):
    given = parsed(["train", f"--set={name}={json.dumps(value)}"], capsys)
    if given is None:
        return
    model, training = given
    try:
        training_values(models.get_preset(preset), training)
        built = models.from_preset(
            preset,
            vocabulary_size=9,
            num_classes=2,
            **{**PRESETS[preset], **model},
        )
    except ValueError as error:
        assert str(error)
    else:
        assert built.count_params() < 10**7


def test_an_initializer_of_other_types():
    value = {"class_name": "RandomNormal", "config": {"stddev": "x"}}
    with pytest.raises(ValueError, match="can't be built of its arguments"):
        models.from_preset(
            "lin2017_yelp",
            vocabulary_size=9,
            num_classes=2,
            **{**SMALL, "embeddings_initializer": value},
        )

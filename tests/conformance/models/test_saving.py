"""Law 3: models survive saving, at any batch size and length."""

import functools
import json

import keras
import pytest

from keras_selfattn import models
from tests.conformance.models import structure
from tests.conformance.models.objective import plain
from tests.conformance.models.objective import tensors
from tests.conformance.models.table import built
from tests.conformance.models.test_padding import assert_near


def other_batch(row):
    return row.batch(
        seed=8, batch=6, steps={"": 8, "premise_": 8, "hypothesis_": 4}
    )


@functools.cache
def answer(row):
    """What a row's model gives for `other_batch`, and the losses it adds."""
    model = built(row)
    outputs = model(other_batch(row))
    return outputs, list(model.losses)


def assert_same_model(row, received, expected):
    assert type(received) is type(expected)
    outputs, losses = answer(row)
    assert_near(received(other_batch(row)), outputs, atol=1e-6)
    assert_near(list(received.losses), losses, atol=1e-6)
    for of in (structure.dropout_rates, structure.regularizers):
        assert of(received) == of(expected)
    assert [w.path for w in received.trainable_weights] == [
        w.path for w in expected.trainable_weights
    ]


def test_keras_file(model_row, tmp_path):
    model = built(model_row)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert_same_model(model_row, copy, model)


def test_preset_folder(model_row, tmp_path):
    model = built(model_row)
    model.save_to_preset(tmp_path / "model")
    copy = models.from_preset(tmp_path / "model")
    assert_same_model(model_row, copy, model)


def test_clone(model_row):
    model = built(model_row)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    assert_same_model(model_row, clone, model)
    for view in ("attention_model", "embedding_model"):
        received, expected = (
            keras.tree.flatten(getattr(each, view)()(other_batch(model_row)))
            for each in (clone, model)
        )
        for ours, theirs in zip(received, expected, strict=True):
            assert_near(ours, theirs, atol=1e-6)


def test_config_survives_json(model_row):
    config = json.loads(json.dumps(built(model_row).get_config()))
    for argument, value in model_row.config.items():
        assert config[argument] == value, argument
    copy = model_row.model.from_config(config)
    assert json.loads(json.dumps(copy.get_config())) == config


@pytest.mark.usefixtures("tensorflow_only")
def test_saved_model(traced_row, tmp_path):
    import tensorflow as tf

    model = built(traced_row)
    model.export(tmp_path / "model", verbose=False)
    copy = tf.saved_model.load(tmp_path / "model")
    outputs, _ = answer(traced_row)
    received = copy.serve(tensors(other_batch(traced_row)))
    assert_near(received, outputs, atol=1e-6)
    _, (outputs, _), _ = plain(traced_row)
    received = copy.serve(tensors(traced_row.batch()))
    assert_near(received, outputs, atol=1e-6)

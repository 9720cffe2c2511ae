"""Law 3: models survive saving, at any batch size and length."""

import json

import keras
import pytest

from keras_selfattn import models
from tests.conformance.models import structure
from tests.conformance.models.objective import tensors
from tests.conformance.models.table import built
from tests.conformance.models.test_padding import assert_near
from tests.conformance.table import penalty_of


def other_batch(row):
    return row.batch(
        seed=8, batch=6, steps={"": 8, "premise_": 8, "hypothesis_": 4}
    )


def assert_same_model(row, received, expected):
    assert type(received) is type(expected)
    batch = other_batch(row)
    assert_near(received(batch), expected(batch), atol=1e-6)
    if expected.losses:
        assert_near(penalty_of(received), penalty_of(expected), atol=1e-6)
    assert len(received.losses) == len(expected.losses)
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
    for batch in (traced_row.batch(), other_batch(traced_row)):
        assert_near(copy.serve(tensors(batch)), model(batch), atol=1e-6)

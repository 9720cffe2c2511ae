"""What is made before the first step, which is traced once for that."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.models import raw_texts
from tests.backend import tensorflow_only
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food .", "bad", "n't good , n't bad food", "Food ."] * 3
LABELS = ["two", "1", "gütig", "1"] * 3
WEIGHTS = np.linspace(0, 2, len(TEXTS))
# Elsewhere nothing is made before.
pytestmark = tensorflow_only


def fit(
    loss="sparse_categorical_crossentropy",
    labels=LABELS,
    as_ids=False,
    **arguments,
):
    model = tiny_classifier()
    optimizer = keras.optimizers.Adam(0.1, use_ema=True)
    model.compile(optimizer, loss, metrics=["accuracy"], **arguments)
    more = {"epochs": 2, "verbose": 0}
    if as_ids:
        numbers = np.array([model.labels.index(label) for label in labels])
        rows = model.preprocess(TEXTS), numbers, WEIGHTS.astype("float32")
        batches = tf.data.Dataset.from_tensor_slices(rows).batch(3)
        return model, model.fit(batches, shuffle=False, **more).history
    history = model.fit(TEXTS, labels, sample_weight=WEIGHTS, **more)
    return model, history.history


@pytest.mark.parametrize("arguments", [{}, {"as_ids": True}])
@pytest.mark.parametrize("steps", [1, 4])
def test_a_step_is_traced_once(steps, arguments, monkeypatch):
    traces = []
    step = models.SentenceClassifier.train_step

    def traced(self, data):
        traces.append(data)
        return step(self, data)

    monkeypatch.setattr(
        models.SentenceClassifier, "train_step", traced, raising=False
    )
    fit(steps_per_execution=steps, **arguments)
    assert len(traces) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"as_ids": True},
        {
            "loss": "categorical_crossentropy",
            "labels": np.eye(3, dtype="float32")[[0, 1, 2, 1] * 3],
        },
    ],
)
def test_it_changes_no_number(arguments, monkeypatch):
    model, history = fit(**arguments)
    monkeypatch.setattr(raw_texts, "make_variables", lambda *_: None)
    late_model, late_history = fit(**arguments)
    assert history == late_history
    for one, other in zip(
        model.get_weights(), late_model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


class Lengths(models.SentenceClassifier):
    """Has a metric of the inputs."""

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        results = super().compute_metrics(x, y, y_pred, sample_weight)
        return {**results, "length": keras.ops.shape(x["token_ids"])[1]}


def test_metrics_of_the_inputs():
    source = tiny_classifier()
    model = Lengths.from_config(source.get_config())
    model.preprocessor, model.labels = source.preprocessor, source.labels
    model.compile("sgd", "sparse_categorical_crossentropy")
    history = model.fit(TEXTS, LABELS, verbose=0).history
    assert history["length"][-1] >= 6

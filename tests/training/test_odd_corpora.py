"""Corpora of a shape that nobody had in mind are trained on all the same."""

import numpy as np
import pytest

from keras_selfattn import evaluation
from keras_selfattn import training
from tests.tiny_classifier import tiny_classifier
from tests.training.small import SMALL
from tests.training.small import reviews


def train(folder, train_texts, dev_texts, **values):
    return training.train(
        "lin2017_yelp",
        train_texts,
        dev_texts,
        folder,
        model_overrides={**SMALL, "encoder": "cnn"},
        training_overrides={"epochs": 1, "batch_size": 16, **values},
        verbose=0,
    )


def assert_answers(model, texts):
    ((_, probabilities),) = evaluation.predict(model, texts)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, atol=1e-5)


def test_a_very_long_text(tmp_path):
    texts = reviews(40, 1)
    long = " ".join(text for text, _ in texts) * 20
    assert len(long.split()) > 8000
    model = train(
        tmp_path / "run",
        [*texts, (long, "3")],
        [*texts[:4], (long, "3")],
        max_tokens=None,
    )
    assert_answers(model, [long, "good"])


def test_all_classes_of_dev_but_one_are_absent(tmp_path):
    texts = reviews(64, 1)
    dev = [(text, label) for text, label in texts if label == "5"]
    model = train(tmp_path / "run", texts, dev, class_weight="balanced")
    assert len(model.labels) == 5
    found = evaluation.evaluate(model, dev)
    assert found.confusion.sum() == found.confusion[4].sum() == len(dev)
    assert 0 <= found.macro_f1 <= 1
    history = training.read_history(tmp_path / "run")
    assert all(np.isfinite(list(logs.values())).all() for logs in history)


def test_all_classes_but_one_are_absent(tmp_path):
    texts = [(text, "5") for text, _ in reviews(20, 1)]
    with pytest.raises(ValueError, match="must have two labels or more"):
        train(tmp_path / "run", texts, texts)
    model = tiny_classifier()
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit([text for text, _ in texts], ["two"] * 20, verbose=0)
    assert_answers(model, ["good", "bad"])


def test_one_row():
    model = tiny_classifier()
    model.compile(
        "adam", "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(["good food"], ["two"], verbose=0)
    assert np.isfinite(model.evaluate(["good"], ["1"], verbose=0)).all()
    assert evaluation.evaluate(model, [("good", "1")]).confusion.sum() == 1
    assert_answers(model, ["good"])

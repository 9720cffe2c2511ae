"""Classifiers in scikit-learn's tools, on raw texts."""

import importlib
import sys

import keras
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402

from keras_selfattn import models  # noqa: E402
from keras_selfattn import wrappers  # noqa: E402
from keras_selfattn.wrappers import SKLearnTextClassifier  # noqa: E402

TEXTS = ["good food", "bad food", "good", "bad"] * 6
LABELS = ["yes", "no", "yes", "no"] * 6


def make(units=8, activation="softmax", **arguments):
    keras.utils.set_random_seed(0)
    model = models.SentenceClassifier(
        embedding_dim=6,
        encoder="cnn",
        units=units,
        pooling="max",
        hidden_units=5,
        dropout=0.0,
        activation=activation,
        **arguments,
    )
    loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=model.gives_logits
    )
    model.compile(keras.optimizers.Adam(0.05), loss)
    return model


def classifier(**changes):
    return SKLearnTextClassifier(
        make, fit_kwargs={"epochs": 5, "batch_size": 4, "verbose": 0}, **changes
    )


@pytest.mark.parametrize("texts", [TEXTS, np.array(TEXTS)])
def test_cross_validation(texts):
    assert cross_val_score(classifier(), texts, LABELS, cv=2).tolist() == [1, 1]


def test_grid_search():
    search = GridSearchCV(
        classifier(), {"model_kwargs": [{"units": 2}, {"units": 3}]}, cv=2
    )
    search.fit(TEXTS, LABELS)
    assert search.best_params_["model_kwargs"]["units"] in (2, 3)
    assert search.predict(["good"]).tolist() == ["yes"]


def test_labels_come_back_as_they_were():
    numbers = [7, 3] * 12
    fitted = classifier().fit(TEXTS, numbers)
    assert fitted.classes_.tolist() == [3, 7]
    assert fitted.predict(TEXTS[:2]).tolist() == [7, 3]


def test_logits_become_probabilities():
    fitted = classifier(model_kwargs={"activation": None}).fit(TEXTS, LABELS)
    probabilities = fitted.predict_proba(TEXTS[:3])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


class OnDevice:
    """What torch has on a GPU: NumPy can't read it, and Keras copies it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def test_probabilities_come_from_any_device(monkeypatch):
    fitted = classifier().fit(TEXTS, LABELS)
    expected = fitted.predict_proba(TEXTS[:2])
    copy = wrappers.ops.convert_to_numpy
    monkeypatch.setattr(
        wrappers.ops,
        "convert_to_numpy",
        lambda x: copy(x.values if isinstance(x, OnDevice) else x),
    )
    monkeypatch.setattr(
        wrappers, "as_probabilities", lambda model, outputs: OnDevice(outputs)
    )
    np.testing.assert_array_equal(fitted.predict_proba(TEXTS[:2]), expected)


def test_the_vocabulary_is_that_of_the_training_texts():
    fitted = classifier(preprocessor_kwargs={"lowercase": True})
    fitted.fit(["GOOD", "bad"] * 3, ["yes", "no"] * 3)
    words = fitted.model_.preprocessor.get_vocabulary()
    assert words == ["", "[UNK]", "bad", "good"]


def test_a_clone_is_untrained():
    with pytest.raises(NotFittedError):
        clone(classifier().fit(TEXTS, LABELS)).predict(TEXTS)


@pytest.mark.parametrize(
    "scoring", ["roc_auc", pytest.param("neg_log_loss", marks=pytest.mark.slow)]
)
def test_scores_know_the_order_of_the_classes(scoring):
    # As numbers they would be in another order than as text.
    labels = [{"yes": "9", "no": "10"}[label] for label in LABELS]
    found = [
        cross_val_score(classifier(), TEXTS, each, cv=2, scoring=scoring)
        for each in (labels, [{"9": "b", "10": "a"}[x] for x in labels])
    ]
    np.testing.assert_allclose(*found, rtol=1e-4)
    fitted = classifier().fit(TEXTS, labels)
    assert fitted.classes_.tolist() == np.unique(labels).tolist()


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_may_be_a_column():
    fitted = classifier().fit(TEXTS, np.array(LABELS)[:, None])
    assert fitted.predict(["good", "bad"]).tolist() == ["yes", "no"]


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, wrappers.__name__)
    expected = r'needs scikit-learn: pip install "keras_selfattn\[sklearn\]"'
    with pytest.raises(ImportError, match=expected):
        importlib.import_module(wrappers.__name__)

"""A classifier, or a view of one, within a user's own model."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.models import SentenceClassifier
from keras_selfattn.text import TextPreprocessor
from tests.backend import tensorflow_only

WORDS = ["a", "dog", "cat", "runs"]
SMALL = {"embedding_dim": 4, "units": 3, "hidden_units": 6, "dropout": 0.0}
TEXTS = ["a dog", "runs cat a", "cat"]


def penalized():
    keras.utils.set_random_seed(0)
    return SentenceClassifier(
        vocabulary_size=9,
        num_classes=2,
        attention_dim=5,
        num_heads=2,
        l2=0.0,
        **SMALL,
    )


def pooled(**arguments):
    keras.utils.set_random_seed(0)
    return SentenceClassifier(pooling="max", **SMALL, **arguments)


def total(losses):
    return sum(float(ops.convert_to_numpy(loss)) for loss in losses)


@pytest.mark.parametrize(
    "of", [lambda model: model, lambda model: model.embedding_model()]
)
def test_each_call_of_a_classifier_has_its_penalty(of):
    model = penalized()
    ids = [np.array([[3, 4, 0], [2, 1, 5]]), np.array([[3, 6], [2, 8]])]
    expected = 0.0
    for each in ids:
        model({"token_ids": each})
        expected += total(model.losses)
    within = of(model)
    inputs = [keras.Input((None,), dtype="int32") for _ in ids]
    sides = [within({"token_ids": each}) for each in inputs]
    sides = [keras.layers.Flatten()(each) for each in sides]
    zeros = keras.layers.Dense(1, kernel_initializer="zeros")
    outer = keras.Model(inputs, zeros(keras.layers.Concatenate()(sides)))
    outer.compile("sgd", "mse")
    loss = outer.evaluate(ids, np.zeros((2, 1)), verbose=0)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_a_view_is_saved_within_a_model(tmp_path):
    view = penalized().embedding_model()
    ids = keras.Input((None,), dtype="int32")
    outer = keras.Model(ids, keras.layers.Flatten()(view({"token_ids": ids})))
    outer.save(tmp_path / "outer.keras")
    copy = keras.saving.load_model(tmp_path / "outer.keras")
    given = np.array([[3, 4, 0], [2, 1, 5]])
    for one, other in ((copy, outer), (keras.models.clone_model(outer), None)):
        if other is None:
            one.set_weights(outer.get_weights())
        np.testing.assert_allclose(
            ops.convert_to_numpy(one(given)),
            ops.convert_to_numpy(outer(given)),
            rtol=1e-6,
        )


def of_ids(preprocessor):
    return pooled(vocabulary_size=preprocessor.vocabulary_size(), num_classes=2)


def of_the_same_texts(preprocessor):
    return pooled(preprocessor=preprocessor, labels=["no", "yes"])


@tensorflow_only
@pytest.mark.parametrize("make", [of_ids, of_the_same_texts])
def test_a_model_of_strings_is_saved(make, tmp_path):
    preprocessor = TextPreprocessor(WORDS)
    model = make(preprocessor)
    strings = keras.Input((), dtype="string")
    outer = keras.Model(strings, model(preprocessor(strings)))
    outer.save(tmp_path / "outer.keras")
    copy = keras.saving.load_model(tmp_path / "outer.keras")
    texts = ops.convert_to_tensor(TEXTS)
    np.testing.assert_allclose(copy(texts), outer(texts), rtol=1e-6)
    inner = copy.get_layer(model.name)
    if model.labels is not None:
        assert inner.labels == model.labels
        np.testing.assert_allclose(
            inner.predict(TEXTS, verbose=0), outer(texts), rtol=1e-6
        )


@tensorflow_only
def test_two_classifiers_of_one_preprocessor_are_saved(tmp_path):
    preprocessor = TextPreprocessor(WORDS)
    models = [of_the_same_texts(preprocessor) for _ in range(2)]
    ids = keras.Input((None,), dtype="int32")
    outer = keras.Model(ids, [model({"token_ids": ids}) for model in models])
    outer.save(tmp_path / "outer.keras")
    copy = keras.saving.load_model(tmp_path / "outer.keras")
    for model in models:
        np.testing.assert_allclose(
            copy.get_layer(model.name).predict(TEXTS, verbose=0),
            model.predict(TEXTS, verbose=0),
            rtol=1e-6,
        )

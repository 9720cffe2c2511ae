import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_selfattn.evaluation import Evaluation
from keras_selfattn.evaluation import answers
from keras_selfattn.evaluation import evaluate
from keras_selfattn.evaluation import predict
from keras_selfattn.text import count_words
from tests.tiny_classifier import tiny_classifier


def test_figures_of_a_confusion_matrix():
    # Of 4 "a" 3 are found; of 6 answers "a" 3 are wrong.
    result = Evaluation(
        ["a", "b", "c"], np.array([[3, 1, 0], [3, 2, 0], [0, 0, 0]])
    )
    assert result.accuracy == 5 / 9
    # No "c" was there, and none was answered.
    assert result.macro_f1 == pytest.approx((0.6 + 0.5) / 2)
    figures = result.per_class()
    assert figures["a"] == {
        "precision": 0.5,
        "recall": 0.75,
        "f1": 0.6,
        "rows": 4,
    }
    assert figures["b"]["precision"] == pytest.approx(2 / 3)
    assert figures["c"] == {"precision": 0, "recall": 0, "f1": 0, "rows": 0}


def test_counts_each_text_under_its_label():
    model = tiny_classifier()
    texts = ["good food", "", "bad", "the food was good ! " * 9, "x"]
    found = ops.convert_to_numpy(model(model.preprocess(texts)))
    found = found.argmax(axis=-1)
    gold = [0, 1, 1, 0, 0]
    result = evaluate(
        model,
        ((t, model.labels[g]) for t, g in zip(texts, gold, strict=True)),
        batch_size=2,
    )
    expected = np.zeros_like(result.confusion)
    for true, answer in zip(gold, found, strict=True):
        expected[true, answer] += 1
    np.testing.assert_array_equal(result.confusion, expected)
    # Counts are shown as they are.
    assert result.confusion.dtype == "int64"


def test_batches_of_all_lengths_are_compiled_once():
    model = tiny_classifier()
    traced = []

    class Traced:
        input = model.input
        sides = model.sides
        weights = model.weights
        gives_logits = False
        preprocess = model.preprocess

        def __call__(self, inputs, training):
            traced.append(inputs)
            return model(inputs, training=training)

    texts = ["good", "the food was good", "bad", "was bad !", "good food"]
    for (batch, found), text in zip(
        predict(Traced(), texts, batch_size=1), texts, strict=True
    ):
        assert batch == [text]
        expected = ops.convert_to_numpy(model(model.preprocess([text])))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    # JAX compiles one length for all that are at most as long; TensorFlow
    # answers the first batch without a graph.
    calls = {"tensorflow": 2, "jax": 1, "torch": len(texts)}
    assert len(traced) == calls[keras.backend.backend()]


def test_logits_are_answered_with_probabilities():
    texts = ["good food", "bad"]
    model = tiny_classifier()
    logits = tiny_classifier(activation=None)
    logits.set_weights(model.get_weights())
    assert logits.gives_logits and not model.gives_logits
    ((_, expected),) = predict(model, texts)
    ((_, found),) = predict(logits, texts)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_tensorflow_has_nothing_to_warn_of(monkeypatch):
    said = []
    monkeypatch.setattr(
        tf.get_logger(), "warning", lambda text, *rest: said.append(text)
    )
    model = tiny_classifier()
    for _ in range(6):
        list(predict(model, ["good food"]))
        count_words(["good food"])
    assert said == []


def test_an_unknown_label_is_named():
    with pytest.raises(ValueError, match="text 2.*'unheard'"):
        model = tiny_classifier()
        evaluate(model, [("a", model.labels[0]), ("b", "unheard")])


def test_nothing_to_evaluate():
    with pytest.raises(ValueError, match="nothing to evaluate"):
        evaluate(tiny_classifier(), [])


@pytest.mark.parametrize("batch_size", [0, -1, 2.5])
def test_a_batch_has_a_whole_number_of_texts(batch_size):
    model = tiny_classifier()
    with pytest.raises(ValueError, match="`batch_size` must be an integer"):
        predict(model, ["good"], batch_size)
    with pytest.raises(ValueError, match="`batch_size` must be an integer"):
        evaluate(model, [("good", model.labels[0])], batch_size)


def test_a_model_without_labels_is_not_evaluated():
    model = tiny_classifier()
    model.labels = None
    with pytest.raises(ValueError, match="evaluated with `labels`"):
        evaluate(model, [("good", "1")])
    with pytest.raises(ValueError, match="model's `labels`.*without"):
        next(answers([("good", "1")], model))

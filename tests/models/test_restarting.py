import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn.models.restarting import restarted
from tests.tiny_classifier import tiny_classifier

TEXTS = ["Good food.", "Bad."]


@pytest.fixture
def model():
    return tiny_classifier()


def weights(model, but=()):
    return {
        layer.name: layer.get_weights()
        for layer in model.layers
        if layer.name not in but
    }


def assert_equal(first, second):
    assert first.keys() == second.keys()
    for name, arrays in first.items():
        for one, other in zip(arrays, second[name], strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_other_labels_have_a_last_layer_of_their_own(model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    other = models.from_preset(tmp_path / "model", labels=["no", "yes"])
    assert other.labels == ["no", "yes"]
    assert other.output_shape == (None, 2)
    assert other.preprocessor.get_vocabulary() == (
        model.preprocessor.get_vocabulary()
    )
    last = ("probabilities",)
    assert_equal(weights(model, last), weights(other, last))


def test_the_same_labels_keep_it(model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    same = models.from_preset(tmp_path / "model", labels=model.labels)
    assert_equal(weights(model), weights(same))


def test_nothing_else_is_taken_with_a_trained_model(model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    with pytest.raises(ValueError, match="no arguments but its name and"):
        models.from_preset(tmp_path / "model", labels=["a", "b"], units=3)


def test_new_words_come_behind_the_known_ones(model):
    preprocessor = model.preprocessor.extended(["zebra", "good"])
    other = restarted(model, model.labels, preprocessor)
    before = model.get_layer("word_vectors").get_weights()[0]
    after = other.get_layer("word_vectors").get_weights()[0]
    assert len(after) == len(before) + 1
    np.testing.assert_array_equal(after[:-1], before)
    assert np.abs(after[-1]).max() > 0
    np.testing.assert_array_equal(
        other.predict(TEXTS, verbose=0), model.predict(TEXTS, verbose=0)
    )


def test_arguments_without_weights_may_change(model):
    other = restarted(model, model.labels, dropout=0.3)
    assert other.get_config()["dropout"] == 0.3
    for one, same in zip(model.weights, other.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), same.numpy())


def test_arguments_of_other_shapes_are_refused(model):
    with pytest.raises(ValueError, match="same shapes.*with units"):
        restarted(model, model.labels, units=9)


def test_labels_of_the_same_text_keep_the_last_layer(tmp_path):
    model = tiny_classifier()
    model.labels = [str(number) for number in range(len(model.labels))]
    model.save_to_preset(tmp_path / "model")
    numbers = list(range(len(model.labels)))
    same = models.from_preset(tmp_path / "model", labels=numbers)
    assert same.labels == numbers
    assert_equal(weights(model), weights(same))
    turned = models.from_preset(tmp_path / "model", labels=numbers[::-1])
    last = "probabilities"
    assert (weights(turned)[last][0] != weights(model)[last][0]).any()


@pytest.mark.parametrize("arguments", [{}, {"ngram_buckets": 64}])
def test_the_first_labels_alone_have_a_last_layer_of_their_own(arguments):
    model = tiny_classifier(**arguments)
    other = restarted(model, model.labels[:2])
    assert other.labels == model.labels[:2]
    assert other.output_shape == (None, 2) != model.output_shape
    last = ("probabilities", "logits", "ngram_logits")
    assert_equal(weights(model, last), weights(other, last))


def test_what_was_not_trained_learns_other_classes(model):
    model.get_layer("word_vectors").trainable = False
    model.get_layer("hidden_1").trainable = False
    other = restarted(model, ["no", "yes"])
    assert other.get_layer("hidden_1").trainable
    assert not other.get_layer("word_vectors").trainable


def test_a_model_that_was_not_trained_at_all_learns_other_classes(model):
    expected = len(restarted(model, ["no", "yes"]).trainable_weights)
    model.trainable = False
    other = restarted(model, ["no", "yes"])
    assert len(other.trainable_weights) == expected > 0

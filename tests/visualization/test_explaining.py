import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn.effects.measuring import METHODS
from keras_selfattn.effects.measuring import measure
from keras_selfattn.effects.reader import Reader
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import string_tensor
from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import Explanation
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import explain
from tests.same_weights import draw_weights
from tests.tiny_classifier import tiny_classifier
from tests.visualization.examples import HEADS
from tests.visualization.examples import TEXTS
from tests.visualization.examples import decomposable
from tests.visualization.examples import siamese
from tests.visualization.examples import with_text

WORDS = ["a bb ccc", "ddddd", "e ff", "ééééé x y z", "g"]


class FakePreprocessor:
    def tokenize(self, texts):
        return tf.strings.split(string_tensor(texts))

    def count_unread(self, texts):
        return np.zeros(len(texts), int)

    def __call__(self, texts):
        lengths = tf.strings.length(self.tokenize(texts))
        return {"token_ids": lengths.to_tensor().numpy()}


class FakeModel:
    """A head that looks at everything and one that looks at the first."""

    sides = ("",)
    layers = ()

    def __init__(self, labels=("short", "long"), logits=False):
        self.preprocessor = FakePreprocessor()
        self.labels = None if labels is None else list(labels)
        self.gives_logits = logits
        self.weights = []
        self.input = {"token_ids": keras.KerasTensor((None, None), "int32")}

    def preprocess(self, texts):
        return self.preprocessor(texts)

    def outputs(self, features):
        longest = ops.max(features["token_ids"], axis=1)
        is_long = ops.cast(longest > 4, "float32")
        outputs = ops.stack([1.0 - is_long, is_long], axis=1)
        return 10.0 * outputs - 5.0 if self.gives_logits else outputs

    def explanation_model(self):
        def run(features, training):
            kept = ops.cast(features["token_ids"] > 0, "float32")
            first = ops.one_hot(ops.zeros_like(kept[:, 0], "int32"), 99)
            even = kept / ops.sum(kept, axis=1, keepdims=True)
            scores = ops.stack([even, first[:, : ops.shape(kept)[1]]], axis=1)
            return {
                "outputs": self.outputs(features),
                "attention_scores": scores,
            }

        return run


def test_every_text_has_its_own_tokens_and_scores():
    seen = list(explain(FakeModel(), WORDS, batch_size=2))
    assert [item.text for item in seen] == WORDS
    assert [item.tokens for item in seen] == [t.split() for t in WORDS]
    for item in seen:
        n = len(item.tokens)
        expected = np.vstack([np.full(n, 1 / n), np.eye(n)[0]])
        np.testing.assert_allclose(item.scores, expected, rtol=1e-6)
    predicted = [item.predicted for item in seen]
    assert predicted == ["short", "long", "short", "long", "short"]


def test_reads_one_batch_at_a_time():
    taken = itertools.count()
    texts = (f"text {next(taken)}" for _ in itertools.count())
    stream = explain(FakeModel(), texts, batch_size=4)
    for _ in range(5):
        next(stream)
    assert next(taken) == 8


def test_labels():
    labels = ["short", "short", None, "long", "new"]
    seen = explain(FakeModel(), WORDS, iter(labels), batch_size=3)
    assert [s.correct for s in seen] == [True, False, None, True, False]


def test_logits_become_probabilities():
    (seen,) = explain(FakeModel(logits=True), ["a b"])
    np.testing.assert_allclose(seen.probabilities.sum(), 1.0, rtol=1e-6)
    assert seen.predicted == "short"


def test_logits_that_look_like_probabilities():
    model = FakeModel(logits=True)
    model.outputs = lambda features: ops.convert_to_tensor([[0.0, 1.0]])
    (seen,) = explain(model, ["a b"])
    np.testing.assert_allclose(
        seen.probabilities, [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6
    )


def test_later_calls_take_the_graph_of_the_first():
    model, made = FakeModel(), []
    make = model.explanation_model
    model.explanation_model = lambda: made.append(1) or make()
    for _ in range(3):
        list(explain(model, ["a b"]))
    assert len(made) == 1
    other = FakeModel()
    other.outputs = lambda features: ops.convert_to_tensor([[0.0, 1.0]])
    assert next(explain(model, ["a b"])).predicted == "short"
    assert next(explain(other, ["a b"])).predicted == "long"


@pytest.mark.filterwarnings("ignore:.quantize. left these layers")
def test_weights_that_change_or_are_exchanged(tmp_path):
    model = tiny_classifier()

    def answer():
        (seen,) = explain(model, ["good food"])
        inputs = model.preprocess(["good food"])
        expected = ops.convert_to_numpy(model(inputs))[0]
        np.testing.assert_allclose(seen.probabilities, expected, rtol=1e-4)
        return seen.probabilities

    first = answer()
    model.set_weights([2 * weight for weight in model.get_weights()])
    second = answer()
    # The graph that is kept is no part of the model.
    model.save(tmp_path / "model.keras")
    if keras.backend.backend() == "tensorflow":
        model.export(tmp_path / "exported", verbose=False)
    model.quantize("int8")
    third = answer()
    assert abs(second - first).max() > 1e-3
    assert abs(third - second).max() > 1e-6


def test_a_model_without_labels_numbers_its_classes():
    (seen,) = explain(FakeModel(labels=None), ["a b"], labels=[0])
    assert seen.labels == ["0", "1"]
    assert seen.correct


def test_no_texts():
    assert list(explain(FakeModel(), [])) == []


def test_a_lone_surrogate_is_no_error():
    (seen,) = explain(FakeModel(), ["a \ud800"])
    assert seen.tokens == ["a", "\ufffd" * 3]


@pytest.mark.parametrize(
    "labels, fewer", [(["short"], "labels"), (["short"] * 9, "texts")]
)
def test_labels_of_another_length(labels, fewer):
    with pytest.raises(ValueError, match=f"as texts.*fewer {fewer}"):
        list(explain(FakeModel(), WORDS, labels))


def test_labels_by_their_older_name():
    (seen,) = explain(FakeModel(), ["a b"], gold=["short"])
    assert seen.label == seen.gold == "short"
    arguments = {"scores": [[1.0]], "probabilities": [1.0], "labels": ["x"]}
    assert Explanation("a", ["a"], **arguments, gold="x").label == "x"
    with pytest.raises(TypeError, match="multiple values"):
        explain(FakeModel(), ["a b"], labels=["short"], gold=["short"])


def test_bad_arguments():
    with pytest.raises(ValueError, match="one string: 'one'"):
        explain(FakeModel(), "one")
    with pytest.raises(ValueError, match="of 1 or more.*batch_size=0"):
        explain(FakeModel(), ["one"], batch_size=0)
    model = FakeModel()
    model.preprocessor = None
    with pytest.raises(ValueError, match="with a `preprocessor`"):
        explain(model, ["one"])


def test_siamese_model():
    model = siamese()
    seen = list(explain(model, TEXTS, labels=["neutral"] * 3, batch_size=2))
    assert [type(item) for item in seen] == [PairExplanation] * 3
    assert [item.text for item in seen] == TEXTS
    # Alone, without padding, a pair gets the same weights.
    scores = model.attention_model()(model.preprocess(TEXTS[1:2]))
    for side, expected in zip(seen[1].sides().values(), scores, strict=True):
        np.testing.assert_allclose(side.scores, array(expected)[0], atol=1e-5)
    assert seen[1].hypothesis.tokens[:2] == ["A", "dog"]
    np.testing.assert_allclose(
        seen[1].probabilities,
        array(model(model.preprocess(TEXTS[1:2])))[0],
        atol=1e-5,
    )


@pytest.mark.parametrize("intra", [False, True])
def test_decomposable_model(intra):
    model = decomposable(intra_sentence=intra)
    seen = list(explain(model, TEXTS, batch_size=3))[1]
    assert isinstance(seen, AlignmentExplanation)
    assert seen.premise.tokens == ["[NULL]", "It", "rains"]
    forth, back = model.attention_model()(model.preprocess(TEXTS[1:2]))
    for side, scores in ((seen.hypothesis, forth), (seen.premise, back)):
        np.testing.assert_allclose(side.scores, array(scores)[0], atol=1e-5)
    for side in seen.sides().values():
        if not intra:
            assert side.intra_scores is None
            continue
        n = len(side.tokens)
        assert side.intra_scores.shape == (n, n)
        np.testing.assert_allclose(side.intra_scores.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("make", [siamese, None])
def test_generalized_pooling(make):
    if make:
        model, texts = make(pooling="generalized"), TEXTS
    else:
        model = with_text(
            models.SentenceClassifier, **HEADS, pooling="generalized"
        )
        texts = [text for text, _ in TEXTS]
    for item in explain(model, texts):
        for side in item.sides().values():
            assert side.features.shape == (2, len(side.tokens), 5)
            np.testing.assert_allclose(side.features.sum(axis=1), 1, rtol=1e-5)
            np.testing.assert_allclose(
                side.features.mean(axis=-1), side.scores, rtol=1e-5
            )


def test_encoder_runs_once_in_one_graph():
    calls = []

    class Counted(keras.layers.Layer):
        def call(self, x):
            calls.append(1)
            return x

    words = keras.Input((None,), name="token_ids", dtype="int32")
    made = keras.ops.cast(Counted()(words), "float32")[:, None, :]
    counted = models.classifier.Classifier(
        {"token_ids": words},
        keras.layers.Softmax()(made[:, 0, :2]),
        {"attention_scores": keras.layers.Softmax()(made)},
        {},
        {"activation": "softmax"},
    )
    counted.preprocessor = TextPreprocessor(["a"], implementation="tensorflow")
    calls.clear()
    assert len(list(explain(counted, ["a b"] * 5, batch_size=2))) == 5
    traced = {"tensorflow": 2, "jax": 2, "torch": 3}
    # The first and once for all sizes, once for each, or for each batch.
    assert len(calls) == traced[keras.backend.backend()]


def test_unread_words_are_counted():
    model = decomposable()
    model.preprocessor.max_tokens = 4
    seen, short = explain(model, [("a don't b c", "e f g h i"), ("a", "b")])
    # "do" and "n't" are two words.
    assert seen.premise.unread == "b c"
    assert seen.premise.unread_note == "2 words not read"
    assert seen.hypothesis.unread == "h i"
    assert seen.hypothesis.unread_note == "2 words not read"
    assert short.premise.unread_note == ""


def test_wrong_number_of_texts():
    with pytest.raises(ValueError, match="must be a pair of strings"):
        list(explain(siamese(), ["one"]))


@pytest.mark.parametrize("make", [tiny_classifier, siamese, decomposable])
def test_effects_are_those_of_the_words(make):
    model = make()
    draw_weights(model)
    texts = ["good food", "bad food n't good ."]
    if make is not tiny_classifier:
        texts = [("A man", "dog"), ("man plays", "A dog sleeps .")]
    seen = list(explain(model, texts, effects=METHODS))
    reader = Reader(model)
    expected = measure(reader, reader.read(texts), METHODS)
    for row, explanation in enumerate(seen):
        for side, sentence in enumerate(explanation.sides().values()):
            assert tuple(sentence.effects) == METHODS
            words = len(sentence.tokens)
            for method, effects in sentence.effects.items():
                np.testing.assert_allclose(
                    effects, expected[method][side][row, :words], atol=1e-5
                )
                assert effects[-1] != 0
    (one,) = explain(model, texts[:1], effects="leave_one_out")
    for sentence in one.sides().values():
        assert list(sentence.effects) == ["leave_one_out"]
    (none,) = explain(model, texts[:1])
    assert all(not side.effects for side in none.sides().values())
    with pytest.raises(ValueError, match="`effects`.*Received: .*'luck'"):
        explain(model, texts, effects="luck")


@pytest.mark.parametrize("characters", [None, "adfgo"])
def test_shares_of_ngrams_are_those_of_the_logits(characters):
    model = tiny_classifier(
        ngram_buckets=64, characters=characters, activation=None
    )
    layer = model.get_layer("ngram_logits")
    layer.table.assign(np.random.default_rng(0).normal(size=(64, 3)))
    texts = ["Good food.", "a good day, a good day"]
    wide = keras.Model(model.input, layer.output[0])(model.preprocess(texts))
    for seen, logits in zip(explain(model, texts), array(wide), strict=True):
        total = sum(each.shares for each in seen.ngrams)
        np.testing.assert_allclose(total, logits, rtol=1e-5, atol=1e-6)
        spreads = [each.spread for each in seen.ngrams]
        assert spreads == sorted(spreads, reverse=True)
    words = {each.text for each in seen.ngrams if each.of_words}
    assert "a good" in words and "day ," in words and ", a" in words
    within = {each.text for each in seen.ngrams if not each.of_words}
    assert ("_go" in within) == (characters is not None)


def test_shares_of_ngrams_of_pairs():
    model = decomposable(ngram_buckets=64, activation=None)
    layer = model.get_layer("ngram_logits")
    layer.table.assign(np.random.default_rng(0).normal(size=(64, 3)))
    texts = [("a dog plays", "A dog man ."), ("man", "")]
    wide = keras.Model(model.input, layer.output[0])(model.preprocess(texts))
    both = list(explain(model, texts))
    for seen, logits in zip(both, array(wide), strict=True):
        total = sum(each.shares for each in seen.ngrams)
        np.testing.assert_allclose(total, logits, rtol=1e-5, atol=1e-6)
    found = {each.text: each.of_words for each in both[0].ngrams}
    # "A" is not "a", and unknown words match nothing.
    assert found["+A =dog"] and found["=dog +man"] and not found["= + ="]


def test_a_model_without_ngrams_has_none_to_show():
    (seen,) = explain(tiny_classifier(), ["Good food."])
    assert seen.ngrams == []

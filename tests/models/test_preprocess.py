"""Texts that a classifier takes, whichever way it is asked."""

import numpy as np
import pytest

from keras_selfattn import callbacks
from keras_selfattn import evaluation
from keras_selfattn import visualization
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.serving.endpoints import answers
from keras_selfattn.serving.served_model import string_tensors
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from tests.backend import tensorflow_only
from tests.models.small import small_preset
from tests.tiny_classifier import tiny_classifier


@pytest.fixture(scope="module")
def model():
    return tiny_classifier()


@pytest.fixture(scope="module")
def pair_model():
    model = small_preset("parikh2016_snli")
    model.preprocessor = TextPreprocessor(["good", "food"])
    return model


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, texts: model.preprocess(texts),
        lambda model, texts: model.preprocessor(texts),
        evaluation.predict,
        evaluation.evaluate,
        visualization.explain,
        lambda model, texts: callbacks.PenaltyCurves("logs", texts),
        lambda model, texts: count_words(texts),
        lambda model, texts: string_tensors(texts, 1),
    ],
)
@pytest.mark.parametrize("text", ["abc", b"abc"])
def test_one_string_is_no_list_of_texts(model, ask, text):
    with pytest.raises(ValueError) as error:
        ask(model, text)
    assert str(error.value) == (
        "Expected a list of texts, or another iterable of them. "
        f"Received: one string: {text!r}"
    )


@pytest.mark.parametrize(
    ("texts", "received"),
    [
        ([b"good"], "b'good'"),
        ([None], "None"),
        ([1.5], "1.5"),
        ([("good",)], r"\('good',\)"),
        ([("good", "food")], r"\('good', 'food'\)"),
    ],
)
def test_a_model_of_single_texts_takes_strings(model, texts, received):
    with pytest.raises(
        ValueError, match=f"1 must be a string. Received: {received}"
    ):
        model.preprocess(texts)


@pytest.mark.parametrize(
    ("texts", "received"),
    [
        (["ab"], "'ab'"),
        ([("good", None)], r"\('good', None\)"),
        ([("good",)], r"\('good',\)"),
        ([("good", "food", ".")], r"\('good', 'food', '\.'\)"),
        ([b"ab"], "b'ab'"),
        ([None], "None"),
    ],
)
def test_a_model_of_pairs_takes_pairs(pair_model, texts, received):
    match = f"1 must be a pair of strings. Received: {received}"
    with pytest.raises(ValueError, match=match):
        pair_model.preprocess(texts)


def test_pairs_of_any_kind(pair_model):
    expected = pair_model.preprocess([("good food", "food")])
    for pairs in ([["good food", "food"]], np.array([["good food", "food"]])):
        received = pair_model.preprocess(pairs)
        assert list(received) == ["premise_token_ids", "hypothesis_token_ids"]
        for name, ids in received.items():
            np.testing.assert_array_equal(ids, expected[name])


def test_no_texts(model, pair_model):
    for each in (model, pair_model):
        for ids in each.preprocess([]).values():
            assert ids.shape[0] == 0


@tensorflow_only
def test_half_a_surrogate_pair_is_one_thing_everywhere(model):
    texts = ["good \ud83d food", "\udc00n't"]
    served = answers(model)(*string_tensors(texts, 1))
    tokens = [
        [token.decode() for token in row if token]
        for row in served["attend"]["tokens"].numpy()
    ]
    assert tokens[0] == ["good", "\ufffd" * 3, "food"]
    assert [e.tokens for e in visualization.explain(model, texts)] == tokens

    features = model.preprocess(texts)
    dataset = EncodedDataset.from_texts(
        [(text, "1") for text in texts], model.preprocessor
    )
    (batch, _) = next(iter(dataset.batches(2, boundaries=(3,))))
    for name in ("token_ids", "char_ids"):
        if name in features:
            np.testing.assert_array_equal(features[name], batch[name])
    (_, found), *_ = evaluation.predict(model, texts)
    probabilities = served["serving_default"]["probabilities"]
    np.testing.assert_allclose(found, probabilities, rtol=1e-5)
    assert list(count_words(texts)) == ["\ufffd" * 3, "food", "good", "n't"]

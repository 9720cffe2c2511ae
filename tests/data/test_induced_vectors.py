import zlib

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from keras_selfattn import training
from keras_selfattn.data import induced_vectors
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.induced_vectors import induce_word_vectors

# Padding, an unknown word, then these.
WORDS = ["red", "reds", "blue", "blues", "is", "seen"]
FOUND = np.array([False, False, True, False, True, False, True, False])
TEXTS = [
    [2, 6, 7, 4, 6, 2, 4, 1, 6, 2, 7, 4],
    [3, 6, 7],
    [5],
    [4, 2, 5, 6, 3],
]


def make_vectors(width=3):
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(len(FOUND), width)).astype("float32")
    return vectors * FOUND[:, None]


def stretches(*cuts):
    """The texts in stretches that begin at some of them."""
    for start, end in zip((0, *cuts), (*cuts, len(TEXTS)), strict=True):
        texts = TEXTS[start:end]
        lengths = np.array([len(text) for text in texts])
        yield np.concatenate(texts).astype("uint8"), lengths


def reference(vectors):
    """The docstring, word by word."""
    around = {row: [] for row in range(len(FOUND))}
    times = dict.fromkeys(around, 0)
    for text in TEXTS:
        for place, row in enumerate(text):
            times[row] += 1
            window = text[max(0, place - 5) : place] + text[place + 1 :][:5]
            around[row] += [vectors[other] for other in window if FOUND[other]]
    contexts = np.array(
        [
            np.mean(context, 0, "float64") if context else np.zeros(3)
            for context in around.values()
        ]
    )
    contexts -= contexts[FOUND].mean(0)
    contexts /= np.sqrt((contexts[FOUND] ** 2).sum(1).mean())
    spelling = np.zeros((len(FOUND), 4096))
    for row, word in enumerate(WORDS, len(FOUND) - len(WORDS)):
        word = f"<{word}>"
        grams = [
            word[i : i + n]
            for n in (3, 4, 5)
            for i in range(len(word))
            if i + n <= len(word)
        ]
        for gram in grams:
            spelling[row, zlib.crc32(gram.encode()) % 4096] += 1
        spelling[row] *= 0.4 / np.linalg.norm(spelling[row])
    features = np.concatenate([contexts, spelling], 1)
    regression = Ridge(0.4).fit(
        features[FOUND],
        vectors[FOUND].astype("float64"),
        np.log1p([times[row] for row in np.flatnonzero(FOUND)]),
    )
    result = vectors.astype("float64")
    for row in (3, 5, 7):
        (predicted,) = regression.predict(features[row : row + 1])
        length = np.sqrt((vectors[FOUND].astype("float64") ** 2).sum(1).mean())
        result[row] = predicted * length / np.linalg.norm(predicted)
    return result


@pytest.mark.parametrize("dual_words", [4096, 0])
def test_the_regression_is_the_docstring_s(dual_words, monkeypatch):
    monkeypatch.setattr(induced_vectors, "_DUAL_WORDS", dual_words)
    vectors = make_vectors()
    induced, found = induce_word_vectors(stretches(), WORDS, vectors, FOUND)
    np.testing.assert_allclose(induced, reference(vectors), atol=1e-5)
    assert induced.dtype == "float32"
    # Neither padding nor what stands for unknown words gets a vector.
    assert found.tolist() == [False, False] + [True] * 6
    np.testing.assert_array_equal(induced[:2], 0)
    np.testing.assert_array_equal(induced[FOUND], vectors[FOUND])


def test_the_given_arrays_are_left_as_they_are():
    vectors, found = make_vectors(), FOUND.copy()
    induce_word_vectors(stretches(), WORDS, vectors, found)
    np.testing.assert_array_equal(vectors, make_vectors())
    np.testing.assert_array_equal(found, FOUND)


@pytest.mark.parametrize("cuts", [(1,), (2, 3), (1, 2, 3)])
def test_how_the_texts_are_cut_changes_nothing(cuts, monkeypatch):
    monkeypatch.setattr(induced_vectors, "_NGRAM_BUCKETS", 64)
    vectors = make_vectors()
    whole, _ = induce_word_vectors(stretches(), WORDS, vectors, FOUND)
    monkeypatch.setattr(induced_vectors, "_DUAL_WORDS", 0)
    monkeypatch.setattr(induced_vectors, "_CHUNK_WORDS", 2)
    cut, _ = induce_word_vectors(stretches(*cuts), WORDS, vectors, FOUND)
    np.testing.assert_allclose(cut, whole, atol=1e-6)


def test_a_word_without_contexts_is_predicted_from_its_spelling():
    texts = [(np.array([3, 4]), np.array([1, 1]))]
    vectors = np.zeros((6, 2), "float32")
    vectors[2:4] = [[3, 1], [1, 3]]
    found = np.array([False, False, True, True, False, False])
    # "reddish" never occurs in a text.
    induced, _ = induce_word_vectors(
        texts, ["red", "blue", "blueish", "reddish"], vectors, found
    )
    np.testing.assert_allclose(
        np.linalg.norm(induced[4:], axis=1), np.sqrt(10), rtol=1e-5
    )
    assert induced[4, 1] > induced[4, 0]


@pytest.mark.parametrize("found", [np.zeros(8, bool), np.arange(8) == 2])
def test_nothing_to_predict_from(found):
    # The one word with a vector is in no text.
    texts = [(np.array([3, 4, 3]), np.array([2, 1]))]
    vectors = np.ones((8, 3), "float32") * found[:, None]
    with pytest.raises(ValueError, match="Received: vectors of none of them"):
        induce_word_vectors(texts, WORDS, vectors, found)


def test_hidden_vectors_are_predicted_better_than_by_the_mean(real_data):
    """Of SNLI's frequent words, a fifth without their vectors."""
    path = real_data / "vectors/word2vec_googlenews_8000x300.txt.gz"
    texts = Corpus(
        real_data / "snli/snli_1.0_dev.jsonl.gz",
        text="sentence1",
        text_pair="sentence2",
        label="gold_label",
    )
    values = {"lowercase": True, "max_tokens": 64, "min_count": 20}
    preprocessor, (vectors, found) = training.make_preprocessor(
        texts, values, path, {}
    )
    data = EncodedDataset.from_texts(texts, preprocessor)
    occurs = np.zeros(len(found), "int64")
    for ids, _ in data.token_stretches():
        occurs += np.bincount(ids, minlength=len(found))
    frequent = np.flatnonzero(found & (occurs >= 20))
    hidden = np.random.default_rng(0).permutation(frequent)[::5]
    truth = vectors[hidden].copy()
    vectors[hidden], found[hidden] = 0, False
    induced, _ = training.induce_vectors(data, preprocessor, vectors, found)

    def mean_cosine(guess):
        products = (truth * guess).sum(1)
        lengths = np.linalg.norm(truth, axis=1) * np.linalg.norm(guess, axis=1)
        return (products / lengths).mean()

    mean = np.broadcast_to(vectors[found].mean(0), truth.shape)
    assert mean_cosine(induced[hidden]) > mean_cosine(mean) + 0.1

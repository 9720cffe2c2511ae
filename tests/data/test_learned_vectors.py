import sys

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import data
from keras_selfattn.data import learned_vectors
from keras_selfattn.data.learned_vectors import learn_word_vectors

TEXTS = [
    "The film is good good",
    "the bad film is not good",
    "a film",
    "not bad at all , a good film",
    "bad , bad , bad",
]
# Of equal counts the alphabet decides.
WORDS = [
    *("bad", "film", "good", ",", "a", "is", "not", "the", "all", "at"),
]


def neighbor_vectors(texts, words, neighbors, width):
    """The docstring, word by word."""
    frequent = words[:neighbors]
    counts = np.zeros((len(words), 2, len(frequent)))
    for text in texts:
        for place, word in enumerate(text):
            for other in range(max(0, place - 4), place + 5):
                if other == place or other >= len(text):
                    continue
                if word in words and text[other] in frequent:
                    side = int(other > place)
                    column = frequent.index(text[other])
                    row = words.index(word)
                    counts[row, side, column] += 1 / abs(other - place)
    counts = counts.reshape(len(words), -1)
    smoothed = counts.sum(0) ** 0.75
    smoothed /= smoothed.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / (counts.sum(1, keepdims=True) * smoothed))
    information = np.where(counts > 0, np.maximum(information, 0), 0)
    left, lengths, _ = np.linalg.svd(information, full_matrices=False)
    vectors = left[:, :width] * np.sqrt(lengths[:width])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def products(vectors):
    """What turns and mirrors of all vectors leave as it is."""
    return vectors @ vectors.T


@pytest.fixture
def few_neighbors(monkeypatch):
    monkeypatch.setattr(learned_vectors, "_NEIGHBORS", 6)


@pytest.mark.parametrize("chunk", [1, 12, 2**21])
def test_vectors_are_those_of_the_formula(few_neighbors, monkeypatch, chunk):
    monkeypatch.setattr(learned_vectors, "_CHUNK_TOKENS", chunk)
    words, vectors = learn_word_vectors(TEXTS, width=3, min_count=1)
    assert words == WORDS
    assert vectors.dtype == "float32" and vectors.shape == (10, 3)
    texts = [text.lower().split() for text in TEXTS]
    expected = neighbor_vectors(texts, words, 6, 3)
    np.testing.assert_allclose(products(vectors), products(expected), atol=1e-5)


def test_rare_words_have_no_vector_and_are_no_neighbors(few_neighbors):
    words, vectors = learn_word_vectors(TEXTS, width=2, min_count=2)
    assert words == WORDS[:8]
    texts = [text.lower().split() for text in TEXTS]
    expected = neighbor_vectors(texts, words, 6, 2)
    np.testing.assert_allclose(products(vectors), products(expected), atol=1e-5)


def test_the_first_directions_are_taken(few_neighbors):
    _, narrow = learn_word_vectors(TEXTS, width=1, min_count=1)
    _, wide = learn_word_vectors(TEXTS, width=3, min_count=1)
    along = wide[:, 0] * narrow[:, 0]
    np.testing.assert_array_equal(np.abs(narrow), 1)
    # They begin with the same one, whatever its sign.
    assert (along > 0).all() or (along < 0).all()


@pytest.mark.parametrize(
    "kind", [np.array, lambda pairs: tf.data.Dataset.from_tensor_slices(pairs)]
)
def test_both_texts_of_a_pair_are_read(few_neighbors, kind):
    pairs = list(zip(TEXTS, TEXTS[1:], strict=False))
    texts = [text for pair in pairs for text in pair]
    words, vectors = learn_word_vectors(kind(pairs), width=3, min_count=1)
    expected = learn_word_vectors(texts, width=3, min_count=1)
    assert words == expected[0]
    np.testing.assert_allclose(vectors, expected[1], atol=1e-6)


def test_words_without_a_frequent_neighbor_are_zeros(few_neighbors):
    texts = [*TEXTS, "alone"]
    words, vectors = learn_word_vectors(texts, width=2, min_count=1)
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[words.index("alone")], 0)


def test_progress_is_shown_where_someone_looks(capsys, monkeypatch):
    monkeypatch.setattr(learned_vectors, "_TOLD_TEXTS", 2)
    learn_word_vectors(TEXTS, width=2, min_count=1)
    assert capsys.readouterr().out == ""
    learn_word_vectors(TEXTS, width=2, min_count=1, verbose=1)
    shown = capsys.readouterr().out
    # How many there are is known the second time.
    assert "2/Unknown" in shown and "5/5" in shown


def test_it_can_be_repeated():
    first, second = (
        learn_word_vectors(TEXTS, width=2, min_count=1)[1] for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("texts", "arguments", "message"),
    [
        (TEXTS, {"min_count": 2}, "8 words that occur 2 times or more, width"),
        (TEXTS, {"width": 10, "min_count": 1}, "10 words that occur 1 times"),
        (TEXTS, {"width": 0}, "`width` must be an integer of 1 or more"),
        (TEXTS, {"min_count": 0}, "`min_count` must be an integer of 1"),
        ("one text", {}, "one string"),
        (["a text", None], {}, "a string"),
        ([], {}, "Received: 0 words"),
        (iter(TEXTS), {}, "are read twice.*a list_iterator"),
    ],
)
def test_errors(texts, arguments, message):
    with pytest.raises(ValueError, match=message):
        learn_word_vectors(texts, **arguments)


def test_what_is_missing_is_said_before_texts_are_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", None)
    expected = r'pip install "keras_selfattn\[vectors\]"'
    with pytest.raises(ImportError, match=expected):
        learn_word_vectors(iter(()))


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_a_file_is_read_as_it_was_written(tmp_path, name):
    words, vectors = learn_word_vectors(TEXTS, width=2, min_count=1)
    data.write_word_vectors(tmp_path / name, words, vectors)
    read, found = data.load_word_vectors(tmp_path / name, words[::-1])
    assert found.all()
    np.testing.assert_allclose(read[::-1], vectors, rtol=1e-4, atol=1e-8)
    written = (tmp_path / name).read_bytes()
    # The time of a .gz file, which would make each another one.
    assert name.endswith(".txt") or written[4:8] == bytes(4)
    again = tmp_path / f"again_{name}"
    data.write_word_vectors(again, words, vectors)
    assert again.read_bytes() == written


def test_a_file_is_whole_or_not_there(tmp_path):
    with pytest.raises(ValueError, match="zip"):
        data.write_word_vectors(tmp_path / "a.txt", ["a", "b"], np.ones((1, 2)))
    assert not list(tmp_path.iterdir())

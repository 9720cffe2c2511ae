import numpy as np
import pytest
import tensorflow as tf
from scipy.sparse import linalg

from keras_selfattn import data
from keras_selfattn.data import learned_vectors
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.learned_vectors import learn_word_vectors
from keras_selfattn.text import TextPreprocessor

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
    np.testing.assert_array_equal(np.abs(narrow), 1)
    # They begin with the same one.
    assert (wide[:, 0] * narrow[:, 0] > 0).all()


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


def test_a_mirrored_direction_is_turned_back(few_neighbors, monkeypatch):
    _, expected = learn_word_vectors(TEXTS, width=2, min_count=1)

    def mirrored(*arguments, **more):
        left, values, right = svds(*arguments, **more)
        return -left, values, -right

    svds = linalg.svds
    monkeypatch.setattr(linalg, "svds", mirrored)
    _, vectors = learn_word_vectors(TEXTS, width=2, min_count=1)
    np.testing.assert_array_equal(vectors, expected)


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


def encoded(rows, words):
    preprocessor = TextPreprocessor(words, num_oov_indices=3)
    return EncodedDataset.from_texts(((row, "") for row in rows), preprocessor)


# An order and letter cases of their own, and a word that no text has.
KNOWN = [
    *("at", "film", "never", "a", "Not", "not", "The", "bad", ",", "good"),
    *("all", "is", "the"),
]


@pytest.mark.parametrize("pairs", [False, True])
def test_those_of_ids_are_those_of_the_texts(few_neighbors, monkeypatch, pairs):
    monkeypatch.setattr(learned_vectors, "_WORDS_PER_NUMBER", 4)
    rows = list(zip(TEXTS, TEXTS[1:], strict=False)) if pairs else TEXTS
    vectors, found = learned_vectors.learn_vectors_of_ids(
        encoded(rows, KNOWN), KNOWN, 4, width=5, min_count=2
    )
    words, expected = learn_word_vectors(np.array(rows), width=2, min_count=2)
    # Eight words or ten, so two numbers rather than five.
    assert vectors.shape == (17, 2) and vectors.dtype == "float32"
    have = [word.lower() in words for word in KNOWN]
    assert found.tolist() == [False] * 4 + have
    places = [words.index(word.lower()) for word in np.array(KNOWN)[have]]
    np.testing.assert_allclose(
        products(vectors[found]), products(expected[places]), atol=1e-5
    )
    np.testing.assert_array_equal(vectors[~found], 0)


def test_few_words_have_few_numbers_or_none():
    dataset = encoded(TEXTS * 3, WORDS)
    learn = learned_vectors.learn_vectors_of_ids
    # Ten words occur three times, eight of them six times, three twelve times.
    for times, width in ((3, 2), (6, 1), (12, 0)):
        vectors, found = learn(dataset, WORDS, 4, width=5, min_count=times)
        assert vectors.shape == (14, width)
        assert found[4:].any() == (width > 0)


def test_no_more_words_than_fit_into_the_memory(few_neighbors, monkeypatch):
    monkeypatch.setattr(learned_vectors, "_WORDS_PER_NUMBER", 1)
    learn = learned_vectors.learn_vectors_of_ids
    dataset = encoded(TEXTS, WORDS)
    monkeypatch.setattr(learned_vectors, "_MOST_WORDS", 3)
    vectors, found = learn(dataset, WORDS, 4, width=2, min_count=1)
    assert found.tolist() == [False] * 4 + [True] * 3 + [False] * 7
    # As if the others were as rare as words without a vector.
    _, expected = learn_word_vectors(TEXTS, width=2, min_count=4)
    np.testing.assert_array_equal(vectors[4:7], expected)


def test_words_that_stand_alone_have_none(monkeypatch):
    monkeypatch.setattr(learned_vectors, "_WORDS_PER_NUMBER", 1)
    dataset = encoded(["film", "good", "bad"], ["film", "good", "bad"])
    vectors, found = learned_vectors.learn_vectors_of_ids(
        dataset, ["film", "good", "bad"], 4, width=2, min_count=1
    )
    assert vectors.shape == (7, 2)
    np.testing.assert_array_equal(vectors, 0)
    assert not found.any()


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

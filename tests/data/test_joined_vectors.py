import numpy as np
import pytest

from keras_selfattn.data.joined_vectors import join_vectors
from keras_selfattn.data.joined_vectors import vector_files
from keras_selfattn.data.joined_vectors import vector_names
from keras_selfattn.data.word_vectors import load_word_vectors

WORDS = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture
def write(tmp_path):
    """Writes a file of the vectors of words; returns its path."""

    def write(name, words, vectors):
        path = tmp_path / name
        rows = (
            " ".join([word, *map(str, vector)])
            for word, vector in zip(words, vectors, strict=True)
        )
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return path

    return write


def length(table):
    """The root mean square of the lengths of rows."""
    return np.sqrt(np.mean([np.dot(row, row) for row in table]))


def by_hand(x, y, asked):
    """What ridge regression predicts, one sum at a time."""
    x, y, asked = (np.asarray(each, "float64") for each in (x, y, asked))
    x_mean, y_mean = x.mean(0), y.mean(0)
    products = sum(np.outer(row - x_mean, row - x_mean) for row in x)
    products += 0.3 * np.mean(np.diag(products)) * np.eye(len(products))
    crossed = sum(
        np.outer(row - x_mean, to - y_mean)
        for row, to in zip(x, y, strict=True)
    )
    return (asked - x_mean) @ np.linalg.inv(products) @ crossed + y_mean


def load(paths, words):
    return join_vectors([load_word_vectors(path, words) for path in paths])


def test_one_table_is_as_it_is(write):
    path = write("one.txt", WORDS[:2], [[1, 2], [3, 4]])
    expected = load_word_vectors(path, WORDS)
    for made, as_it_was in zip(load([path], WORDS), expected, strict=True):
        np.testing.assert_array_equal(made, as_it_was)


def test_two_files_by_hand(write):
    """All words of both, those of either alone, and one of none."""
    generator = np.random.default_rng(0)
    first, second = generator.normal(size=(5, 3)), generator.normal(size=(4, 2))
    one = write("one.txt", "abcde", first)
    two = write("two.txt", "bcdf", 10 * second)
    vectors, found = load([one, two], [*WORDS, "z"])
    assert vectors.dtype == np.float32
    assert found.tolist() == [True] * 6 + [False]
    second *= length(first) / length(second)
    expected = np.zeros((7, 5))
    expected[:5, :3] = first
    expected[[1, 2, 3, 5], 3:] = second
    in_both = first[1:4], second[:3]
    expected[[0, 4], 3:] = by_hand(*in_both, first[[0, 4]])
    expected[5, :3] = by_hand(*in_both[::-1], second[3])
    np.testing.assert_allclose(vectors, expected, rtol=1e-4, atol=1e-5)


def test_three_files(write):
    """A file that lacks a word predicts as if it had its mean there."""
    generator = np.random.default_rng(1)
    tables = [
        generator.normal(size=(n, w)) for n, w in ((5, 2), (4, 3), (5, 4))
    ]
    words = "abcde", "abcd", "bcdef"
    paths = [
        write(f"{name}.txt", name, table)
        for name, table in zip(words, tables, strict=True)
    ]
    vectors, found = load(paths, WORDS)
    assert found.all()
    scales = [length(table) for table in tables]
    one, two, three = (
        table * scales[0] / scale
        for table, scale in zip(tables, scales, strict=True)
    )
    # "e" of the second file, from the first and the third.
    others = np.concatenate([one - one.mean(0), np.zeros((5, 4))], 1)
    others[1:, 2:] = (three - three.mean(0))[:4]
    expected = by_hand(others[:4], two, others[4])
    np.testing.assert_allclose(vectors[4, 2:5], expected, rtol=1e-4)
    # "f" of the first, from the third, where all of the first are known.
    others = np.zeros((6, 7))
    others[:4, :3] = two - two.mean(0)
    others[1:, 3:] = three - three.mean(0)
    expected = by_hand(others[:5], one, others[5])
    np.testing.assert_allclose(vectors[5, :2], expected, rtol=1e-4)


@pytest.mark.parametrize("second", ["", "a", "b"])
def test_hardly_any_words_in_common(write, second):
    """With one the prediction is its vector, with none there is none."""
    one = write("one.txt", "ac", [[3.0, 4.0], [4.0, 3.0]])
    two = write("two.txt", second or "x", [[2.0]])
    vectors, found = load([one, two], ["a", "b", "c"])
    assert found.tolist() == [True, second == "b", True]
    assert np.isfinite(vectors).all()
    same = 5
    expected = {"": [0, 0, 0], "a": [same, 0, same], "b": [0, same, 0]}
    np.testing.assert_allclose(vectors[:, 2], expected[second], rtol=1e-6)


def test_no_words(write):
    path = write("one.txt", "ab", [[1, 2], [3, 4]])
    vectors, found = load([path, path], [])
    assert vectors.shape == (0, 4) and found.shape == (0,)


def test_there_must_be_some():
    with pytest.raises(ValueError, match="Received: none"):
        join_vectors([])


def test_files_of_settings(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.gz"
    assert vector_files(None) is None
    assert vector_files(one) == vector_files([str(one)]) == str(one)
    assert vector_files((one, two)) == [str(one), str(two)]
    assert vector_names(None) is None
    assert vector_names(one) == "one.txt"
    assert vector_names([one, two]) == ["one.txt", "two.gz"]
    for wrong in ([], [None], 3, {"a": 1}, [one, 2]):
        with pytest.raises(ValueError, match="Received: vectors="):
            vector_files(wrong)

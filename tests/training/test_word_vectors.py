import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn import text
from keras_selfattn.data.joined_vectors import join_vectors
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.training.word_vectors import load_vectors

WORDS = ["Cat", "cat", "the", "CAT", "none", "Dog"]


@pytest.fixture
def folder(tmp_path):
    """The folder of a model of four words, and their vectors."""
    preprocessor = text.TextPreprocessor(
        ["the", "cat", "Cat", "dog"],
        num_oov_indices=2,
        prepend_null=True,
        lowercase=False,
    )
    model = models.DecomposableClassifier(
        vocabulary_size=preprocessor.vocabulary_size(),
        num_classes=2,
        embedding_dim=3,
        projection_dim=4,
        preprocessor=preprocessor,
        labels=["no", "yes"],
    )
    # The rows of padding, two unknown words and NULL are no words'.
    table = np.arange(24, dtype="float32").reshape(8, 3)
    layer = model.get_layer("word_vectors")
    layer.embeddings.assign(table)
    model.save_to_preset(tmp_path / "model")
    return tmp_path / "model", table[4:]


def test_those_of_a_models_words(folder):
    """A word has its own, or that of the first one in another case."""
    path, (the, cat, upper_cat, dog) = folder
    for source in (path, str(path)):
        vectors, found = load_vectors(source, WORDS)
        none = np.zeros(3)
        expected = [upper_cat, cat, the, cat, none, dog]
        np.testing.assert_array_equal(vectors, expected)
        assert vectors.dtype == np.float32
        assert found.tolist() == [True, True, True, True, False, True]


def test_the_same_as_a_file_of_them(folder, tmp_path):
    path, table = folder
    rows = zip(["the", "cat", "Cat", "dog"], table, strict=True)
    lines = [" ".join([word, *map(str, row)]) for word, row in rows]
    file = tmp_path / "vectors.txt"
    file.write_text("\n".join(lines) + "\n")
    expected = load_word_vectors(file, WORDS)
    for source in (path, file, [file]):
        for made, wanted in zip(
            load_vectors(source, WORDS), expected, strict=True
        ):
            np.testing.assert_array_equal(made, wanted)


def test_of_a_file_and_a_model(folder, tmp_path):
    path, _ = folder
    file = tmp_path / "vectors.txt"
    file.write_text("none 3 4\nthe 1 2\ndog 5 1\n")
    vectors, found = load_vectors([file, path], WORDS)
    expected = join_vectors(
        [load_word_vectors(file, WORDS), load_vectors(path, WORDS)]
    )
    np.testing.assert_array_equal(vectors, expected[0])
    assert vectors.shape == (6, 5) and found.all()


def test_of_a_model_that_ships():
    vectors, found = load_vectors("nli_decomposable", ["Dog", "blorft"])
    assert found.tolist() == [True, False]
    assert vectors.shape == (2, 200)


def test_a_file_with_the_name_of_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nli_decomposable").write_text("the 1 2\n")
    vectors, _ = load_vectors("nli_decomposable", ["the"])
    np.testing.assert_array_equal(vectors, [[1, 2]])


def test_there_must_be_one(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.txt"):
        load_vectors(tmp_path / "none.txt", WORDS)
    with pytest.raises(ValueError, match="Received: none"):
        load_vectors([], WORDS)
    bare = models.from_preset(
        "parikh2016_snli", vocabulary_size=5, num_classes=2, projection_dim=4
    )
    bare.save_to_preset(tmp_path / "bare")
    with pytest.raises(ValueError, match="preprocessor"):
        load_vectors(tmp_path / "bare", WORDS)

import numpy as np
import pytest
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.data.joined_vectors import join_vectors
from keras_selfattn.data.learned_vectors import learn_vectors_of_ids
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.training import preparation
from tests.training.small import FIXED
from tests.training.small import SMALL
from tests.training.small import WITHOUT_WIDTH
from tests.training.small import assert_same_run
from tests.training.small import reviews
from tests.training.small import train
from tests.training.small import train_pairs
from tests.training.small import write_vectors


@pytest.mark.parametrize("size", [1, 2, "many"])
def test_too_few_characters(size):
    model = {"character_vocabulary_size": size}
    values = {"lowercase": False, "max_tokens": 9}
    with pytest.raises(ValueError, match=f"at least 3.*Received.*{size!r}"):
        training.make_preprocessor([("ab ab", "x")], values, None, model)


def test_texts_of_the_wrong_kind_or_of_one_label(tmp_path):
    pairs = [((text, text), label) for text, label in reviews(20, 1)]
    alike = [(text, "5") for text, _ in reviews(20, 1)]
    for texts, message in (
        (pairs, "takes single texts. Received pairs of texts"),
        (alike, "two labels or more. Received: '5'"),
    ):
        with pytest.raises(ValueError, match=message):
            training.train(
                "lin2017_yelp",
                texts,
                texts,
                tmp_path / "x",
                model_overrides=SMALL,
                verbose=0,
            )
        assert not (tmp_path / "x").exists()


def test_an_unknown_dev_label(tmp_path):
    with pytest.raises(ValueError, match="'9'"):
        training.train(
            "lin2017_yelp",
            reviews(20, 1),
            [("fine", "9")],
            tmp_path / "x",
            model_overrides=SMALL,
            verbose=0,
        )


def test_vectors_of_another_width(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    with pytest.raises(ValueError, match="have 3 numbers.*embedding_dim=8"):
        train(tmp_path / "run", vectors=tmp_path / "vectors.txt")
    assert not (tmp_path / "run").exists()


def test_pretrained_vectors_are_in_the_table(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was", "unseen"])
    model = train(
        tmp_path / "run",
        vectors=tmp_path / "vectors.txt",
        training_overrides={"epochs": 1, "batch_size": 96, "min_count": None},
        model_overrides={**WITHOUT_WIDTH, "trainable_embeddings": False},
    )
    words = model.preprocessor.get_vocabulary()
    assert sorted(words) == ["", "[UNK]", "food", "was"]
    table = array(model.get_layer("word_vectors").embeddings)
    np.testing.assert_allclose(table[words.index("was")], [1.0, 0.5, -1.0])
    assert model.get_layer("word_vectors").trainable_weights == []


@pytest.mark.slow
def test_words_without_a_pretrained_vector_get_an_induced_one(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was", "the"])
    arguments = {
        "vectors": tmp_path / "vectors.txt",
        "model_overrides": FIXED,
        "training_overrides": {
            "epochs": 2,
            "batch_size": 96,
            "induce_vectors": True,
        },
    }
    model = train(tmp_path / "run", **arguments)
    table = array(model.get_layer("word_vectors").embeddings)
    words = model.preprocessor.get_vocabulary()
    known = [words.index(word) for word in ("food", "was", "the")]
    # As `write_vectors` has them.
    np.testing.assert_allclose(
        table[known], [[0, 0.5, -1], [1, 0.5, -1], [2, 0.5, -1]]
    )
    length = np.sqrt(np.square(table[known]).sum(1).mean())
    assert len(table) > 20
    np.testing.assert_allclose(
        np.linalg.norm(np.delete(table, [0, 1, *known], 0), axis=1),
        length,
        rtol=1e-5,
    )
    # All known vectors share two numbers, so the others have them too.
    assert (table[2:, 2] < 0).all()

    # Induced again, they are the same.
    arguments["training_overrides"]["epochs"] = 3
    train(tmp_path / "whole", **arguments)
    train(tmp_path / "run", resume=True, **arguments)
    assert_same_run(tmp_path / "whole", tmp_path / "run")


LEARNED = {"learn_vectors": 4, "induce_vectors": True, "min_count": 1}


def prepared(path, values=LEARNED, texts=None):
    texts = texts or (reviews(96, 1), reviews(40, 2))
    values = {**models.get_preset("lin2017_yelp").training, **values}
    return preparation.prepare("lin2017_yelp", *texts, values, {}, path)


def learned_here(texts, width=4):
    """What `learn_vectors` adds, of the texts as they are read."""
    words = texts.preprocessor.get_vocabulary()[2:]
    return learn_vectors_of_ids(texts.train_data, words, 2, width)


def test_learned_vectors_stand_behind_the_pretrained_ones(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["food", "was", "the", "never-read"])
    texts = prepared(path)
    table, found = texts.vectors
    assert found[2:].all() and texts.arguments["embedding_dim"] == 7
    words = texts.preprocessor.get_vocabulary()
    loaded = load_word_vectors(path, words)
    assert loaded[1].sum() == 3
    learned, frequent = learned_here(texts)
    assert learned.shape[1] == 4 and 40 < frequent.sum() < len(words) - 10
    # Where both have it, and where one is predicted of the other.
    joined, either = join_vectors([loaded, (learned, frequent)])
    np.testing.assert_array_equal(table[either], joined[either])
    np.testing.assert_array_equal(
        table[words.index("was")][:3], [1.0, 0.5, -1.0]
    )
    # And where neither has it, of contexts and spelling.
    rare = ~either
    rare[:2] = False
    assert table[rare].any(axis=1).all()


def test_learned_vectors_alone():
    texts = prepared(None, {"learn_vectors": 3, "min_count": 2})
    table, found = texts.vectors
    assert table.shape == (texts.preprocessor.vocabulary_size(), 3)
    expected, frequent = learned_here(texts, 3)
    np.testing.assert_array_equal(table, expected)
    np.testing.assert_array_equal(found, frequent)
    # Those of other words are drawn.
    assert (~found).sum() > 0
    induced, found = prepared(
        None, {"learn_vectors": 3, "min_count": 2, "induce_vectors": True}
    ).vectors
    assert found[2:].all()
    np.testing.assert_array_equal(induced[frequent], expected[frequent])


def test_a_run_with_learned_vectors_goes_on_with_them(tmp_path):
    arguments = {
        "model_overrides": FIXED,
        "training_overrides": {"epochs": 2, "batch_size": 96, **LEARNED},
    }
    model = train(tmp_path / "run", **arguments)
    table = array(model.get_layer("word_vectors").embeddings)
    assert table.shape[1] == 4
    np.testing.assert_array_equal(table[2:], prepared(None).vectors[0][2:])
    arguments["training_overrides"]["epochs"] = 3
    train(tmp_path / "whole", **arguments)
    # Learned again, they are the same.
    train(tmp_path / "run", resume=True, **arguments)
    assert_same_run(tmp_path / "whole", tmp_path / "run")


@pytest.mark.parametrize(
    "few",
    [
        [("good food", "1"), ("bad food", "2")],
        # Of a single word each: none has a neighbor.
        [(f"food{n % 7}", str(n % 2)) for n in range(70)],
    ],
)
def test_texts_that_teach_no_vectors(tmp_path, few):
    values = {**LEARNED, "min_count": 1}
    texts = prepared(None, values, (few, few))
    assert texts.vectors is None
    assert "embedding_dim" not in texts.arguments
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["food", "food3"])
    texts = prepared(path, values, (few, few))
    table, found = texts.vectors
    assert table.shape[1] == 3 and found[2:].all()


def test_learned_vectors_of_another_width(tmp_path):
    with pytest.raises(ValueError, match="have 4 numbers.*embedding_dim=8"):
        train(tmp_path / "run", training_overrides=LEARNED)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "name, value", [("induce_vectors", True), ("unseen_words", 5)]
)
def test_what_takes_vectors_is_not_had_without(tmp_path, name, value):
    with pytest.raises(ValueError, match=f"`{name}` takes a file of"):
        train(tmp_path / "run", training_overrides={name: value})
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match=f"`{name}` takes a file of"):
        training.prepare_shards(
            "lin2017_yelp",
            [reviews(20, 1)],
            reviews(20, 2),
            tmp_path / "prepared",
            training_overrides={name: value},
        )
    assert not (tmp_path / "prepared").exists()


def known(vectors, unseen_words, lowercase=True):
    """The vocabulary, without the words that stand for others, and vectors."""
    preprocessor, (table, has_vector) = training.make_preprocessor(
        [("the plain was was", "a"), ("was the", "b")],
        {
            "lowercase": lowercase,
            "max_tokens": 9,
            "min_count": 2,
            "unseen_words": unseen_words,
        },
        vectors,
        {},
    )
    words = preprocessor.get_vocabulary()[2:]
    assert len(table) == len(words) + 2
    return words, table[2:], has_vector[2:]


def test_words_that_do_not_occur_are_known_by_their_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(
        path, ["the", "dogs", "plain", "don't", "dogs", "cat", "mice"]
    )
    words, _, _ = known(path, 0)
    assert words == ["was", "the", "plain"]
    # The first ones of the file; what would be two tokens is none.
    more, table, has_vector = known(path, 6)
    assert more == [*words, "dogs", "cat"]
    assert has_vector.tolist() == [False, True, True, True, True]
    np.testing.assert_array_equal(table[:, 0], [0, 0, 2, 1, 5])
    assert known(path, 99)[0] == [*more, "mice"]


def test_a_word_that_occurs_once_and_has_no_vector_stays_unknown(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["the", "dogs"])
    assert known(path, 9)[0] == ["was", "the", "dogs"]


def test_unseen_words_are_such_as_texts_have(tmp_path):
    path = tmp_path / "vectors.txt"
    lines = [b"Dogs 1 2 3", b"cut\xc3 1 2 3", b"The 1 2 3", b"[UNK] 1 2 3"]
    path.write_bytes(b"\n".join([*lines, b"cats 7 8 9", b""]))
    assert known(path, 9)[0] == ["was", "the", "cats"]
    words = ["was", "the", "Dogs", "The", "cats"]
    assert known(path, 9, lowercase=False)[0] == words


def test_unseen_words_of_several_sources(tmp_path, tiny_folder):
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["the", "dogs", "cat"])
    of_model = models.from_preset(tiny_folder).preprocessor.get_vocabulary()[2:]
    words, _, has_vector = known([path, tiny_folder], 2)
    seen = ["was", "the"]
    expected = dict.fromkeys([*seen, "dogs", *of_model[:2]])
    assert words == list(expected)
    assert has_vector[2:].all()


def test_a_model_reads_unseen_words_by_their_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["food", "was", "unseen", "unread"])
    values = {"epochs": 1, "batch_size": 96, "unseen_words": 3}
    model = train(
        tmp_path / "run",
        vectors=path,
        training_overrides=values,
        model_overrides=FIXED,
    )
    again = models.from_preset(tmp_path / "run")
    words = again.preprocessor.get_vocabulary()
    assert "unread" not in words
    table = array(again.get_layer("word_vectors").embeddings)
    np.testing.assert_array_equal(table[words.index("unseen")], [2, 0.5, -1])
    ids = again.preprocess(["unseen unread"])["token_ids"]
    assert np.asarray(ids).tolist() == [[words.index("unseen"), 1]]
    np.testing.assert_array_equal(
        model.predict(["unseen"], verbose=0),
        again.predict(["unseen"], verbose=0),
    )


@pytest.mark.parametrize(
    "min_count, words",
    [
        (None, {"the", "unlucky"}),
        (2, {"the", "unlucky", "was"}),
        (1, {"the", "unlucky", "was", "once"}),
    ],
)
def test_words_without_a_vector_that_get_one(tmp_path, min_count, words):
    write_vectors(tmp_path / "vectors.txt", ["the", "unlucky", "unseen"])
    texts = [("the unlucky was", "a"), ("once was the", "b")]
    preprocessor, (table, has_vector) = training.make_preprocessor(
        texts,
        {"lowercase": True, "max_tokens": 9, "min_count": min_count},
        tmp_path / "vectors.txt",
        {},
    )
    vocabulary = preprocessor.get_vocabulary()
    assert set(vocabulary[2:]) == words
    found = {vocabulary[row] for row in np.flatnonzero(has_vector)}
    assert found == {"the", "unlucky"}
    assert table.shape == (len(vocabulary), 3)


def test_a_word_that_occurs_once_has_no_vector_of_its_own():
    texts = [("the unlucky was", "a"), ("once was the", "b")]
    values = {"lowercase": True, "max_tokens": 9}
    preprocessor, _ = training.make_preprocessor(texts, values, None, {})
    assert set(preprocessor.get_vocabulary()[2:]) == {"the", "was"}


def test_all_vectors_are_of_length_1_where_the_preset_has_it(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["a", "."])
    model = train_pairs(
        tmp_path / "run", tmp_path / "vectors.txt", embedding_dim=3
    )
    table = array(model.get_layer("word_vectors").embeddings)
    lengths = np.linalg.norm(table, axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    row = model.preprocessor.get_vocabulary().index(".")
    np.testing.assert_allclose(table[row], [2 / 3, 1 / 3, -2 / 3], rtol=1e-5)


def test_what_of_a_model_follows_from_the_texts(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    values = training.training_values(models.get_preset("chen2018_yelp"), {})
    train_texts = [("the food was good", "b"), ("the food was bad", "a")]
    dev_texts = [("bad was the food", "a")]
    texts = training.prepare(
        "chen2018_yelp",
        train_texts,
        dev_texts,
        values,
        {"character_vocabulary_size": 7},
        vectors=tmp_path / "vectors.txt",
    )
    # Padding, unknown words, and the words that occur twice.
    assert texts.arguments == {
        "vocabulary_size": 5,
        "num_classes": 2,
        "character_vocabulary_size": 7,
        "embedding_dim": 3,
    }
    assert texts.train_data.label_names == ["a", "b"]
    assert texts.dev_data.labels.tolist() == [0]
    matrix, found = texts.vectors
    words = texts.preprocessor.get_vocabulary()
    assert [words[row] for row in np.flatnonzero(found)] == ["food", "was"]
    assert matrix.shape == (5, 3)
    assert texts.noted == {
        "train": fingerprint(train_texts)["sha256"],
        "dev": fingerprint(dev_texts)["sha256"],
    }


def test_the_model_before_its_first_epoch():
    sizes = {"vocabulary_size": 5, "num_classes": 2, **WITHOUT_WIDTH}
    vectors = np.full((5, 3), 2.0, "float32"), np.array([False, *[True] * 4])
    values = {"optimizer": "sgd", "learning_rate": 0.1}
    weights = []
    for number in (3, 3, 4):
        model = training.make_model(
            "lin2017_yelp",
            {**values, "normalize_vectors": number == 3},
            vectors=vectors,
            seed=number,
            embedding_dim=3,
            **sizes,
        )
        weights.append(model.get_weights())
        table = array(model.get_layer("word_vectors").embeddings)
        expected = 3**-0.5 if number == 3 else 2.0
        np.testing.assert_allclose(table[1:], expected, rtol=1e-6)
    for one, same in zip(*weights[:2], strict=True):
        np.testing.assert_array_equal(one, same)
    assert any((a != b).any() for a, b in zip(*weights[1:], strict=True))
    assert float(model.optimizer.learning_rate) == pytest.approx(0.1)

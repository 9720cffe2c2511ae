import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.text import TextPreprocessor
from tests.backend import BACKEND
from tests.backend import tensorflow_only

VOCABULARY = ["a", "dog", "n't", "."]


def test_ids():
    preprocessor = TextPreprocessor(VOCABULARY)
    ids = preprocessor(["a dog.", "a cat", ""])["token_ids"]
    assert ids.dtype == tf.int32
    assert ids.numpy().tolist() == [[2, 3, 5], [2, 1, 0], [1, 0, 0]]
    assert preprocessor.get_vocabulary() == ["", "[UNK]", *VOCABULARY]
    assert preprocessor.vocabulary_size() == 6
    assert preprocessor.character_vocabulary_size() is None


def test_null_and_several_unknown_ids():
    preprocessor = TextPreprocessor(
        VOCABULARY, num_oov_indices=5, prepend_null=True
    )
    words = [f"word{i}" for i in range(40)]
    ids = preprocessor(["a dog", " ".join(words)])["token_ids"].numpy()
    assert ids[0, :4].tolist() == [6, 7, 8, 0]
    assert set(ids[1, 1:]) == {1, 2, 3, 4, 5}
    again = preprocessor(words)["token_ids"].numpy()[:, 1]
    assert again.tolist() == ids[1, 1:].tolist()
    names = preprocessor.get_vocabulary()
    assert names == ["", *["[UNK]"] * 5, "[NULL]", *VOCABULARY]
    assert len(names) == preprocessor.vocabulary_size()


def test_tokenize_shows_what_the_model_sees():
    preprocessor = TextPreprocessor(
        VOCABULARY, lowercase=True, max_tokens=3, prepend_null=True
    )
    tokens = preprocessor.tokenize(["A Cat runs.", ""]).to_list()
    assert tokens == [[b"[NULL]", b"a", b"cat"], [b"[NULL]", b"[UNK]"]]
    ids = preprocessor(["A Cat runs.", ""])["token_ids"]
    assert ids.numpy().tolist() == [[2, 3, 1], [2, 1, 0]]


def test_char_ids():
    preprocessor = TextPreprocessor(
        VOCABULARY, characters="adgé", max_characters=3
    )
    ids = preprocessor(["é dogma", "a"])["char_ids"]
    assert ids.dtype == tf.int32 and ids.shape == (2, 2, 3)
    assert ids.numpy().tolist() == [
        [[5, 0, 0], [3, 1, 4]],
        [[2, 0, 0], [0, 0, 0]],
    ]
    assert preprocessor.character_vocabulary_size() == 6


@tensorflow_only
def test_symbolic_shapes_are_the_actual_ones():
    preprocessor = TextPreprocessor(
        VOCABULARY, characters="ad", max_characters=3
    )
    symbolic = preprocessor(keras.Input((), dtype="string"))
    actual = preprocessor(["a dog", "a"])
    assert symbolic.keys() == actual.keys()
    assert symbolic["token_ids"].shape == (None, None)
    assert symbolic["char_ids"].shape == (None, None, 3)
    for name, value in symbolic.items():
        assert value.dtype == actual[name].dtype.name


def test_inside_tf_data():
    preprocessor = TextPreprocessor(VOCABULARY)
    dataset = tf.data.Dataset.from_tensor_slices(["a", "a dog", "dog"])
    batches = [
        batch["token_ids"].numpy().tolist()
        for batch in dataset.batch(2).map(preprocessor)
    ]
    assert batches == [[[2, 0], [2, 3]], [[3]]]


def test_many_calls_give_the_ids_of_one():
    preprocessor = full_preprocessor()
    # From some call on, a graph answers.
    for texts in (*[["A dog."]] * 20, [""], ["a dog", "Runs 中 a.", "x"]):
        expected = full_preprocessor()(texts)
        found = preprocessor(texts)
        assert found.keys() == expected.keys()
        for name, ids in expected.items():
            np.testing.assert_array_equal(found[name], ids)
    preprocessor.max_tokens = 2
    assert preprocessor(["a a a a"])["token_ids"].shape == (1, 2)
    preprocessor.adapt(["words of another kind"])
    for _ in range(20):
        ids = preprocessor(["kind"])["token_ids"].numpy()
    assert preprocessor.get_vocabulary()[ids[0, -1]] == "kind"


def test_a_long_text_is_cut():
    preprocessor = TextPreprocessor(VOCABULARY, max_tokens=7)
    ids = preprocessor(["a dog. " * 30_000, "a"])["token_ids"]
    assert ids.numpy().tolist() == [[2, 3, 5, 2, 3, 5, 2], [2] + [0] * 6]


ODD_WORDS = ["\ufeff", "\u200b", "#", "``", "é", "e\u0301", "😀", "\x7f", '"']


@pytest.mark.parametrize("as_path", [False, True])
def test_words_are_exact(tmp_path, as_path):
    vocabulary = ODD_WORDS
    if as_path:
        vocabulary = tmp_path / "words.txt"
        vocabulary.write_bytes("\r\n".join(ODD_WORDS).encode())
    preprocessor = TextPreprocessor(vocabulary)
    if as_path:
        os.remove(vocabulary)
    assert preprocessor.get_vocabulary()[2:] == ODD_WORDS
    ids = preprocessor._token_ids(
        tf.RaggedTensor.from_row_lengths(ODD_WORDS, [len(ODD_WORDS)])
    )
    assert ids.numpy().tolist() == [list(range(2, 2 + len(ODD_WORDS)))]


def test_a_byte_order_mark_is_no_part_of_a_word(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("the\ndog\n", encoding="utf-8-sig")
    preprocessor = TextPreprocessor(path)
    assert preprocessor.get_vocabulary()[2:] == ["the", "dog"]
    ids = preprocessor(["the dog"])["token_ids"]
    assert ids.numpy().tolist() == [[2, 3]]


def test_a_word_that_begins_with_such_a_mark_stays_as_it_is(tmp_path):
    words = ["\ufeffthe", "dog"]
    preprocessor = TextPreprocessor(words)
    preprocessor.save(tmp_path)
    copy = TextPreprocessor()
    copy.load_assets(tmp_path)
    for loaded in (TextPreprocessor.load(tmp_path), copy):
        assert loaded.get_vocabulary()[2:] == words
        assert loaded(["\ufeffthe"])["token_ids"].numpy().tolist() == [[2]]


@pytest.mark.parametrize(
    "vocabulary, message",
    [
        (["a", "b", "a"], "token 3 is the same as token 1: 'a'"),
        (["a", ""], "token 2 is empty"),
        (["a b"], "token 1 has whitespace in it: 'a b'"),
        (["a\u2028"], "token 1 has whitespace"),
        (["a", "[UNK]"], r"token 2 is reserved: '\[UNK\]'"),
        (["a", b"b"], "token 2 is not a string: b'b'"),
        ([], "at least one token"),
        ("nowhere.txt", "nowhere.txt: No such file"),
    ],
)
def test_bad_vocabularies(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        TextPreprocessor(vocabulary)


def test_bad_vocabulary_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"a\n\nb\n")
    with pytest.raises(ValueError, match="words.txt: token 2 is empty"):
        TextPreprocessor(path)
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(ValueError, match="words.txt: not UTF-8"):
        TextPreprocessor(str(path))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"max_tokens": 0}, "`max_tokens`.*1 or more. Received: max_tokens=0"),
        ({"max_tokens": 1, "prepend_null": True}, "2 or more"),
        (
            {"num_oov_indices": 0},
            "`num_oov_indices`.*=0",
        ),
        ({"max_characters": 2.5}, "`max_characters`.*=2.5"),
        ({"lowercase": 500}, "True or False. Received: lowercase=500"),
        ({"prepend_null": "no"}, "True or False. Received: prepend_null='no'"),
        ({"characters": ["a", "bc"]}, "single characters. Received: 'bc'"),
        ({"characters": "aba"}, "token 3 is the same as token 1"),
    ],
)
def test_bad_preprocessor_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        TextPreprocessor(VOCABULARY, **arguments)


@pytest.mark.parametrize("given", [None, 5])
@pytest.mark.parametrize("method", ["__call__", "adapt"])
def test_what_is_no_list_of_texts(method, given):
    message = f"Expected a list of texts.*Received: {given}"
    with pytest.raises(ValueError, match=message):
        getattr(TextPreprocessor(VOCABULARY), method)(given)


def test_without_vocabulary(tmp_path):
    preprocessor = TextPreprocessor()
    for use in (
        lambda: preprocessor(["a"]),
        preprocessor.get_vocabulary,
        preprocessor.vocabulary_size,
        lambda: preprocessor.save(tmp_path / "folder"),
    ):
        with pytest.raises(ValueError, match="has no vocabulary"):
            use()
    assert not any(tmp_path.iterdir())


def full_preprocessor():
    return TextPreprocessor(
        ["a", "dog", *ODD_WORDS],
        lowercase=True,
        max_tokens=4,
        num_oov_indices=3,
        prepend_null=True,
        characters="adé",
        max_characters=5,
        implementation="tensorflow",
        name="words",
    )


def assert_same_ids(expected, actual):
    texts = ["A dog é x y", "", "zebra 😀"]
    expected, actual = expected(texts), actual(texts)
    assert expected.keys() == actual.keys()
    for name in expected:
        np.testing.assert_array_equal(expected[name], actual[name])


def test_config():
    preprocessor = full_preprocessor()
    config = json.loads(json.dumps(preprocessor.get_config()))
    assert "vocabulary" not in config
    copy = TextPreprocessor.from_config(config)
    assert copy.get_config() == preprocessor.get_config()
    copy._set_vocabulary(["a", "dog", *ODD_WORDS])
    assert_same_ids(preprocessor, copy)


def test_save_and_load(tmp_path):
    preprocessor = full_preprocessor()
    preprocessor.save(tmp_path / "new" / "folder")
    preprocessor.save(tmp_path / "new" / "folder")
    names = sorted(p.name for p in (tmp_path / "new" / "folder").iterdir())
    assert names == ["characters.txt", "preprocessor.json", "vocabulary.txt"]
    copy = TextPreprocessor.load(tmp_path / "new" / "folder")
    assert copy.get_config() == preprocessor.get_config()
    assert copy.get_vocabulary() == preprocessor.get_vocabulary()
    assert_same_ids(preprocessor, copy)


def test_bad_folders(tmp_path):
    with pytest.raises(ValueError, match="No preprocessor.json"):
        TextPreprocessor.load(tmp_path)
    TextPreprocessor(VOCABULARY).save(tmp_path)
    path = tmp_path / "preprocessor.json"
    for content, message in (
        ("{", "preprocessor.json: malformed JSON"),
        ("[]", "preprocessor.json: expected a JSON object.*list"),
        ('{"colour": 1}', "preprocessor.json: .*colour"),
        ("{}", "vocabulary.txt: No such file"),
    ):
        path.write_text(content)
        if content == "{}":
            (tmp_path / "vocabulary.txt").unlink()
        with pytest.raises(ValueError, match=message):
            TextPreprocessor.load(tmp_path)


def small_model(preprocessor):
    texts = keras.Input((), dtype="string")
    ids = preprocessor(texts)["token_ids"]
    embedded = keras.layers.Embedding(preprocessor.vocabulary_size(), 3)(ids)
    return keras.Model(texts, keras.ops.sum(embedded, axis=1))


@pytest.mark.skipif(BACKEND == "tensorflow", reason="TensorFlow has strings")
def test_a_model_of_another_backend_reads_no_strings():
    texts = keras.Input((), dtype="string")
    with pytest.raises(ValueError, match=f"ahead of the model.*{BACKEND!r}"):
        TextPreprocessor(VOCABULARY)(texts)


@tensorflow_only
def test_keras_file(tmp_path):
    model = small_model(full_preprocessor())
    model.save(tmp_path / "model.keras")
    copy = keras.models.load_model(tmp_path / "model.keras")
    texts = tf.constant(["a dog", "x 😀 é y z"])
    np.testing.assert_array_equal(model(texts), copy(texts))
    assert (
        copy.get_layer("words").get_vocabulary()
        == model.get_layer("words").get_vocabulary()
    )


@tensorflow_only
def test_savedmodel_holds_the_vocabulary_as_a_file(tmp_path):
    preprocessor = full_preprocessor()
    archive = keras.export.ExportArchive()
    archive.track(preprocessor)
    archive.add_endpoint(
        name="serve",
        fn=preprocessor,
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    archive.write_out(tmp_path / "saved", verbose=False)
    del preprocessor, archive
    os.rename(tmp_path / "saved", tmp_path / "moved")
    asset = tmp_path / "moved" / "assets" / "vocabulary.txt"
    words = ["[NULL]", "a", "dog", *ODD_WORDS]
    assert asset.read_text(encoding="utf-8") == "\n".join([*words, ""])
    served = tf.saved_model.load(tmp_path / "moved")
    assert_same_ids(
        full_preprocessor(), lambda texts: served.serve(tf.constant(texts))
    )


@pytest.mark.parametrize("null", [False, True])
def test_unread_tokens_are_counted(null):
    texts = ["a dog . a dog .", "a dog", "", "x" * 99, "I do n't ( care )"]
    whole = TextPreprocessor(VOCABULARY, prepend_null=null)
    lengths = whole.tokenize(texts).row_lengths().numpy()
    cut = TextPreprocessor(VOCABULARY, prepend_null=null, max_tokens=3)
    read = cut.tokenize(texts).row_lengths().numpy()
    assert (cut.count_unread(texts) == lengths - read).all()
    assert cut.count_unread(texts)[0] == 3 + null
    assert not whole.count_unread(texts).any()

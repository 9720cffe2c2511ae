import gzip
import itertools
import json
import os
import re
import string

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from keras_selfattn import text
from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import build_vocabulary
from keras_selfattn.text import count_words
from keras_selfattn.text import most_frequent_characters
from tests.backend import BACKEND
from tests.backend import tensorflow_only

IMPLEMENTATIONS = ("tensorflow", "tensorflow_text")


def tokenize(texts, **kwargs):
    rows = PennTreebankTokenizer(**kwargs)(texts).to_list()
    return [[token.decode("utf-8") for token in row] for row in rows]


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request):
    if request.param == "tensorflow_text":
        pytest.importorskip("tensorflow_text")
    return request.param


CASES = [
    ("A dog runs.", "A dog runs ."),
    ("I don't know; she can't!", "I do n't know ; she ca n't !"),
    ("DON'T you CANNOT", "DO N'T you CAN NOT"),
    ("cannot gonna gotta gimme", "can not gon na got ta gim me"),
    ("cannots wannabe", "cannots wannabe"),
    ("It's the girls' dog, he'll go", "It 's the girls ' dog , he 'll go"),
    ("Don’t", "Do n't"),
    ("O'Sullivan's o'clock", "O'Sullivan 's o'clock"),
    ("l'été d'État", "l'été d'État"),
    ("he said 'go away'.", "he said ' go away ' ."),
    ("get 'em in the '80s", "get 'em in the '80s"),
    ('a "hot" dog', "a `` hot '' dog"),
    ('("HELP ME.")', "( `` HELP ME . '' )"),
    ("\"\" “x” ``y''", "`` '' `` x '' `` y ''"),
    ("Mr. Fox lives at St. Paul.", "Mr. Fox lives at St. Paul ."),
    ("U.S. and L.A., t.v.", "U.S. and L.A. , t.v."),
    ("J. K. Rowling and I. Then B.", "J. K. Rowling and I . Then B ."),
    ("cats, dogs etc.)", "cats , dogs etc. )"),
    ("the end. The start.", "the end . The start ."),
    ("base.a tenni.s 3.14.", "base.a tenni.s 3.14 ."),
    ("well...no ... a..", "well ... no ... a .."),
    ("1,000 at 53:11, ok", "1,000 at 53:11 , ok"),
    ("words:berlin a,b,c", "words : berlin a , b , c"),
    (",,::", ", , : :"),
    ("R&B & jeans,& tea", "R&B & jeans , & tea"),
    ("50% of $5 or £6 #1", "50 % of $ 5 or £ 6 # 1"),
    ("well-known he/she snake_case", "well-known he/she snake_case"),
    ("routines- food -- x", "routines - food -- x"),
    ("[a] {b} <c>", "[ a ] { b } < c >"),
    ("what?! yes!!!", "what ? ! yes ! ! !"),
    ("¿qué? 好。好", "¿ qué ? 好 。 好"),
    ("a\u00a0b\u2003c\u3000d\x85e\x1cf\x0bg\r\nh", "a b c d e f g h"),
    ("[UNK] [NULL]", "[ UNK ] [ NULL ]"),
]


@pytest.mark.parametrize("source, expected", CASES, ids=[c[0] for c in CASES])
def test_conventions(source, expected, implementation):
    assert tokenize([source], implementation=implementation) == [
        expected.split(" ")
    ]


def test_empty_texts_become_unknown(implementation):
    texts = ["", "  \n", "\u3000\u00a0", "x"]
    expected = [["[UNK]"], ["[UNK]"], ["[UNK]"], ["x"]]
    assert tokenize(texts, implementation=implementation) == expected


def test_bytes_that_are_no_text(implementation):
    texts = [b"a\xffb", b"\x00", b"x\x00y \xe3\x80", "half \ud83d"]
    expected = [["a�b"], ["�"], ["x�y", "�"]]
    tokens = tokenize(texts, implementation=implementation)
    assert tokens[:3] == expected
    assert tokens[3][0] == "half" and set(tokens[3][1]) == {"�"}


def test_lowercase_keeps_the_split(implementation):
    tokens = tokenize(
        ["ÉTÉ. J. Fox"], lowercase=True, implementation=implementation
    )
    assert tokens == [["été", ".", "j.", "fox"]]


def test_no_rows(implementation):
    tokenizer = PennTreebankTokenizer(implementation=implementation)
    assert tokenizer(tf.constant([], tf.string)).shape == (0, None)


def test_bad_arguments():
    with pytest.raises(ValueError, match="'tensorflow_text'.*'nltk'"):
        PennTreebankTokenizer(implementation="nltk")
    with pytest.raises(ValueError, match=r"\(batch,\).*\(1, 1\)"):
        PennTreebankTokenizer()([["a"]])


any_text = st.text(
    st.one_of(st.characters(), st.sampled_from(" .,:;'\"`&-()[aBcnt's.1"))
)


@settings(max_examples=300, deadline=None)
@example(b"").via("nothing")
@given(
    st.one_of(
        any_text.map(lambda x: x.encode("utf-8", "surrogatepass")), st.binary()
    )
)
def test_any_bytes(source):
    pytest.importorskip("tensorflow_text")
    core, tf_text = (
        tokenize([source], implementation=i)[0] for i in IMPLEMENTATIONS
    )
    assert core == tf_text
    assert core and all(token and token.split() == [token] for token in core)


@settings(max_examples=200, deadline=None)
@example("’’").via("two single quotation marks, which are one double one")
@given(any_text)
def test_no_character_is_lost(source):
    def normal(x):
        x = re.sub("[‘’]", "'", re.sub("[“”]", '"', x))
        x = x.replace("``", '"').replace("''", '"')
        return "".join(re.sub("[\x00-\x1f]", "�", c) for c in x.split() if c)

    source = "".join(c for c in source if c.isspace() or c >= " ")
    source = source.encode("utf-8", "replace").decode("utf-8")
    joined = "".join(tokenize(["x " + source])[0])
    assert normal(joined) == normal("x" + "".join(source.split()))


@settings(max_examples=200, deadline=None)
@example("J. Smith", 1).via("a period that depends on the next word")
@given(any_text, st.integers(1, 8))
def test_cut_gives_the_first_tokens(source, count):
    tokenizer = PennTreebankTokenizer()
    whole = tokenizer([source]).to_list()[0]
    assert tokenizer([source], count).to_list()[0] == whole[:count]


def leaves(parse):
    brackets = {"-LRB-": "(", "-RRB-": ")"}
    found = re.findall(r"\(\S+ ([^()\s]+)\)", parse)
    return [brackets.get(leaf, leaf) for leaf in found]


def one_quote(tokens):
    return ['"' if token in ("``", "''") else token for token in tokens]


def test_agrees_with_the_parses_of_snli(real_data, implementation):
    texts, expected = [], []
    with gzip.open(
        real_data / "snli" / "snli_1.0_dev.jsonl.gz", "rt", encoding="utf-8"
    ) as file:
        for line in file:
            pair = json.loads(line)
            for side in ("sentence1", "sentence2"):
                texts.append(pair[side])
                expected.append(one_quote(leaves(pair[f"{side}_parse"])))
    tokens = tokenize(texts, implementation=implementation)
    wrong = {
        source
        for source, row, leaf in zip(texts, tokens, expected, strict=True)
        if one_quote(row) != leaf
    }
    agreeing = 1 - len(wrong) / len(texts)
    assert len(texts) == 20_000
    assert agreeing >= 0.9995, f"{agreeing:.4%}: {sorted(wrong)}"


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
        ({"max_tokens": 0}, "`max_tokens`.*at least 1. Received: 0"),
        ({"max_tokens": 1, "prepend_null": True}, "at least 2"),
        ({"num_oov_indices": 0}, "`num_oov_indices`.*Received: 0"),
        ({"max_characters": 2.5}, "`max_characters`.*Received: 2.5"),
        ({"characters": ["a", "bc"]}, "single characters. Received: 'bc'"),
        ({"characters": "aba"}, "token 3 is the same as token 1"),
    ],
)
def test_bad_preprocessor_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        TextPreprocessor(VOCABULARY, **arguments)


def test_without_vocabulary():
    preprocessor = TextPreprocessor()
    for use in (
        lambda: preprocessor(["a"]),
        preprocessor.get_vocabulary,
        preprocessor.vocabulary_size,
    ):
        with pytest.raises(ValueError, match="has no vocabulary"):
            use()


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


def test_build_vocabulary():
    def stream():
        yield from ["b a", "", "a c", "Don't", "c [UNK]"]

    assert build_vocabulary(stream()) == (
        ["a", "c", "Do", "UNK", "[", "]", "b", "n't"]
    )
    assert build_vocabulary(stream(), lowercase=True, max_size=3) == (
        ["a", "c", "["]
    )
    assert build_vocabulary(stream(), min_count=2) == ["a", "c"]
    assert build_vocabulary([]) == []


def test_build_vocabulary_beyond_one_batch():
    texts = (f"x w{i % 7}" for i in range(3000))
    vocabulary = build_vocabulary(texts)
    assert vocabulary == ["x", *[f"w{i}" for i in range(7)]]
    TextPreprocessor(vocabulary)


def test_counts_of_words():
    # More texts than are counted at a time, read once.
    texts = itertools.chain(["Don't", "", "é"], ["b a a"] * 3000, ["É"])
    assert list(count_words(texts, lowercase=True).items()) == [
        ("a", 6000),
        ("b", 3000),
        ("é", 2),
        ("do", 1),
        ("n't", 1),
    ]
    with pytest.raises(ValueError, match="iterable of them.*'a dog'"):
        count_words("a dog")


def test_most_frequent_characters():
    counts = {"dog": 2, "é": 7, "go": 1, "dd": 1, "x": 1}
    assert most_frequent_characters(counts, 3) == ["é", "d", "g"]
    assert most_frequent_characters(counts, 9) == ["é", "d", "g", "o", "x"]


def test_build_vocabulary_arguments():
    with pytest.raises(ValueError, match="iterable of them.*'a dog'"):
        build_vocabulary("a dog")
    with pytest.raises(ValueError, match="`max_size`.*Received: 0"):
        build_vocabulary(["a"], max_size=0)
    with pytest.raises(ValueError, match="`min_count`.*Received: 0"):
        build_vocabulary(["a"], min_count=0)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(any_text, max_size=5))
def test_any_vocabulary_that_is_built_can_be_used(texts):
    vocabulary = build_vocabulary([*texts, string.printable])
    preprocessor = TextPreprocessor(vocabulary)
    ids = preprocessor([*texts, string.printable])["token_ids"].numpy()
    filled = np.array([bool(t.split()) for t in texts] + [True])
    assert not (ids[filled] == 1).any()


def test_tf_text_is_optional(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    assert tokenize(["a."]) == [["a", "."]]
    with pytest.raises(ValueError, match="tensorflow-text"):
        PennTreebankTokenizer(implementation="tensorflow_text")
    assert text._find_regex_split("auto") is None

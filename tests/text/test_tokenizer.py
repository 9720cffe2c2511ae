import ast
import gzip
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text import tokenizer
from tests.text.strategies import any_text

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


def test_arrays_are_read_as_lists():
    texts = ["half \ud83d", "A dog."]
    for array in (np.array(texts), np.array(texts, object)):
        assert tokenize(array) == tokenize(texts)


def test_lowercase_keeps_the_split(implementation):
    tokens = tokenize(
        ["ÉTÉ. J. Fox"], lowercase=True, implementation=implementation
    )
    assert tokens == [["été", ".", "j.", "fox"]]


@pytest.mark.parametrize(
    "language", ["tr_TR", pytest.param("lt_LT", marks=pytest.mark.slow)]
)
def test_lowercase_is_that_of_no_language(language):
    # ICU looks at it once a process.
    text = "IT İ I\u0307 J\u0300 Į\u0300 Ì Í Ĩ"
    script = (
        "from keras_selfattn.text import PennTreebankTokenizer\n"
        f"tokens = PennTreebankTokenizer(lowercase=True)([{text!a}])\n"
        "print([token.decode() for token in tokens.values.numpy()])"
    )
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", script],
        env={**os.environ, "LC_ALL": f"{language}.UTF-8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert ast.literal_eval(run.stdout) == text.lower().split()


def test_no_rows(implementation):
    tokenizer = PennTreebankTokenizer(implementation=implementation)
    assert tokenizer(tf.constant([], tf.string)).shape == (0, None)


def test_bad_arguments():
    with pytest.raises(ValueError, match="'tensorflow_text'.*'nltk'"):
        PennTreebankTokenizer(implementation="nltk")
    with pytest.raises(ValueError, match=r"\(batch,\).*\(1, 1\)"):
        PennTreebankTokenizer()([["a"]])
    for texts, received in (
        ([1], "1, a int"),
        (["a", None], "None, a NoneType"),
        (np.array(["a", float("nan")], object), "nan, a float"),
    ):
        with pytest.raises(ValueError, match=f"are strings.*{received}"):
            PennTreebankTokenizer()(texts)


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


def test_tf_text_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    assert tokenize(["a."]) == [["a", "."]]
    with pytest.raises(ValueError, match="tensorflow-text"):
        PennTreebankTokenizer(implementation="tensorflow_text")
    assert tokenizer._find_regex_split("auto") is None

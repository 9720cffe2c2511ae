import collections
import itertools
import random
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import build_vocabulary
from keras_selfattn.text import count_words
from keras_selfattn.text import most_frequent_characters
from keras_selfattn.text import pieces
from tests.text.strategies import any_text


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


@pytest.mark.parametrize("most", [2**18, 40])
def test_counts_are_those_of_all_tokens(monkeypatch, most):
    monkeypatch.setattr(pieces, "_MOST_PIECES", most)
    rng = random.Random(0)
    scraps = [
        *"ab ... \n''",
        "J.",
        " don't ",
        "\ud800",
        "É",
        "“",
        " Mr. ",
        "😀",
    ]
    texts = ["".join(rng.choices(scraps, k=12)) for _ in range(4000)]
    for lowercase in (False, True):
        tokens = PennTreebankTokenizer(lowercase)(texts).values.numpy()
        expected = collections.Counter(tokens.tolist())
        found = count_words(texts, lowercase)
        assert {word.encode(): n for word, n in found.items()} == {
            word: n for word, n in expected.items() if word != b"[UNK]"
        }
        assert list(found) == sorted(found, key=lambda w: (-found[w], w))


def test_most_frequent_characters():
    counts = {"dog": 2, "é": 7, "go": 1, "dd": 1, "x": 1}
    assert most_frequent_characters(counts, 3) == ["é", "d", "g"]
    assert most_frequent_characters(counts, 9) == ["é", "d", "g", "o", "x"]


def test_build_vocabulary_arguments():
    with pytest.raises(ValueError, match="iterable of them.*'a dog'"):
        build_vocabulary("a dog")
    with pytest.raises(ValueError, match="`max_size`.*Received: max_size=0"):
        build_vocabulary(["a"], max_size=0)
    with pytest.raises(ValueError, match="`min_count`.*Received: min_count=0"):
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

import sys

import numpy as np
import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text import string_tensor
from keras_selfattn.text.pieces import Room
from keras_selfattn.text.pieces import pieces_of
from tests.text.strategies import any_text

# What rules act on, whitespace of several kinds, and what is no text.
SCRAPS = st.sampled_from(
    [
        *(
            " ",
            "\t",
            "\n",
            "\x85",
            "\u00a0",
            "\u3000",
            "\x1c",
            "\x00",
            "\ufeff",
        ),
        *(".", ". ", "..", "--", "-", "'", "'s", "n't", "''", '"', "``", "&"),
        *(",", ":", ";", "(", "[", "!", "?", "‘", "’", "“", "”", "…", "·", "$"),
        *("J", "J.", "U.S", "U.S.", "Mr", "mr.", "I.", "A.", "cannot", "gonna"),
        *("Σ", "ΟΔΟΣ", "İ", "é", "e\u0301", "\u200b", "\u180e", "\ud83d"),
        *("\ude00", "😀", "好", "1,000", "3.14", "a", "word", "\x1b[2J"),
    ]
)
texts = st.one_of(any_text, st.lists(SCRAPS, max_size=12).map("".join))


def test_whitespace_is_that_of_the_graph():
    characters = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if not 0xD800 <= code < 0xE000
    ]
    texts = string_tensor([f"a{each}b" for each in characters])
    cleaned = PennTreebankTokenizer().clean(texts).numpy()
    found = [
        each
        for each, text in zip(characters, cleaned, strict=True)
        if text == b"a b"
    ]
    assert found == [each for each in characters if each.isspace()]
    assert len(found) == 29


@settings(max_examples=60, deadline=None)
@example(["met J. in J."], False).via("an initial, and the end of a sentence")
@example(["ΟΔΟΣ 'ΟΔΟΣ' Σ"], True).via("a sigma that ends a word")
@example(['say "x" ("y"'], False).via("a quote after a space")
@given(st.lists(texts, min_size=1, max_size=9), st.booleans())
def test_tokens_of_the_pieces_are_those_of_the_text(texts, lowercase):
    tokenizer = PennTreebankTokenizer(lowercase)
    rows = [pieces_of(text) for text in texts]
    tokens = tokenizer.of_pieces(sum(rows, []))
    ends = np.cumsum([len(row) for row in rows])
    assert tokens.values.numpy().tolist() == (
        tokenizer(texts).values.numpy().tolist()
    )
    lengths = np.add.reduceat(tokens.row_lengths(), ends - np.diff([0, *ends]))
    assert lengths.tolist() == tokenizer(texts).row_lengths().numpy().tolist()


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 5))
def test_the_first_pieces_give_the_first_tokens(text, count):
    tokenizer = PennTreebankTokenizer()
    whole = tokenizer([text]).values.numpy().tolist()
    some = tokenizer.of_pieces(pieces_of(text, count))
    assert some.values.numpy().tolist()[:count] == whole[:count]
    assert some.nrows() <= count


@pytest.mark.parametrize("text", ["", " \n", "\u3000"])
def test_no_words(text):
    assert pieces_of(text) == pieces_of(text, 3) == [""]
    tokens = PennTreebankTokenizer().of_pieces([""])
    assert tokens.to_list() == [[b"[UNK]"]]


def test_room_ends():
    assert not Room().is_full(2**18, ["a"] * 1000)
    assert Room().is_full(2**18 + 1, [])
    room = Room()
    texts = ["x" * 2**20] * 16
    assert [room.is_full(1, texts) for _ in range(3)] == [False, False, True]

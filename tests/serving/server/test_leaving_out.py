"""Texts with one word less, and what the answers to them tell."""

import numpy as np
import pytest

from keras_selfattn.serving.server import leaving_out
from keras_selfattn.visualization import Explanation
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import Sentence


def even(text, tokens):
    return Sentence(text, tokens, np.full((1, len(tokens)), 1 / len(tokens)))


def test_a_text():
    seen = Explanation(
        "I don't.",
        ["i", "do", "n't", "."],
        np.full((1, 4), 0.25),
        [0.25, 0.75],
        ["a", "b"],
    )
    assert leaving_out.without_each_word(seen) == [
        [b"do n't .", b"I n't .", b"I do .", b"I do n't"]
    ]
    without = [[0.25, 0.75], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    leaving_out.set_effects(seen, np.array(without))
    effects = seen.effects[leaving_out.METHOD]
    assert effects.tolist() == [0, 0.25, 0.75, -0.25]
    assert leaving_out.most_effective(seen) == [
        ("n't", 0.0),
        ("do", 0.5),
        (".", 1.0),
    ]


@pytest.mark.parametrize(
    "text, tokens, shorter",
    [
        # Without the dash one word, and so the quotes.
        (
            "A—b",
            ["a", "—", "b"],
            [b"\xe2\x80\x94 b", b"A b", b"A \xe2\x80\x94"],
        ),
        (
            '"A" b',
            ["``", "a", "''", "b"],
            [b"A '' b", b"`` '' b", b"`` A b", b"`` A ''"],
        ),
        # What was not read does not move in.
        ("a b c d", ["a", "b"], [b"b", b"a"]),
        ("[NULL] a", ["[NULL]", "[", "NULL"], [b"NULL", b"["]),
    ],
)
def test_the_words_that_are_left(text, tokens, shorter):
    seen = Explanation(
        text, tokens, np.ones((1, len(tokens))), [0.25, 0.75], ["a", "b"]
    )
    assert leaving_out.without_each_word(seen) == [shorter]


@pytest.mark.parametrize(
    "text, tokens, why",
    [
        ("", ["[UNK]"], "There is no word"),
        (" ", ["[NULL]", "[UNK]"], "There is no word"),
        ("a " * 101, ["a"] * 101, "told for up to 100 words"),
        ("J. Fox", ["J.", "Fox"], "without “Fox” the text would be read as"),
    ],
)
def test_what_is_not_told(text, tokens, why):
    seen = Explanation(
        text, tokens, np.ones((1, len(tokens))), [0.25, 0.75], ["a", "b"]
    )
    with pytest.raises(ValueError, match=why):
        leaving_out.without_each_word(seen)


def test_an_empty_text_of_a_pair():
    seen = PairExplanation(
        even("", ["[NULL]", "[UNK]"]),
        even("c", ["[NULL]", "c"]),
        [0.25, 0.75],
        ["a", "b"],
    )
    assert leaving_out.without_each_word(seen) == [[b""], [b""]]
    leaving_out.set_effects(seen, np.array([[0.5, 0.5]]))
    effects = [
        side.effects[leaving_out.METHOD] for side in seen.sides().values()
    ]
    assert [each.tolist() for each in effects] == [[0, 0], [0, 0.25]]
    assert leaving_out.most_effective(seen) == [("c", 0.5)]


def test_a_pair_with_a_word_that_is_not_in_it():
    seen = PairExplanation(
        even("a b", ["[NULL]", "a", "b"]),
        even("c", ["[NULL]", "c"]),
        [0.25, 0.75],
        ["a", "b"],
    )
    assert leaving_out.without_each_word(seen) == [
        [b"b", b"a", b"a b"],
        [b"c", b"c", b""],
    ]
    without = [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]
    leaving_out.set_effects(seen, np.array(without))
    premise, hypothesis = (
        side.effects[leaving_out.METHOD].tolist()
        for side in seen.sides().values()
    )
    assert premise == [0, 0.25, 0]
    assert hypothesis == [0, 0.75]
    # Nothing was asked without the word that is none.
    assert leaving_out.most_effective(seen, 5) == [
        ("c", 0.0),
        ("a", 0.5),
        ("b", 0.75),
    ]

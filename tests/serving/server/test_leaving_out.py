"""Texts with one word less, and what the answers to them tell."""

import numpy as np

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
        [b" don't.", b"I n't.", b"I do.", b"I don't"]
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


def test_a_pair_with_a_word_that_is_not_in_it():
    seen = PairExplanation(
        even("a b", ["[NULL]", "a", "b"]),
        even("c", ["[NULL]", "c"]),
        [0.25, 0.75],
        ["a", "b"],
    )
    assert leaving_out.without_each_word(seen) == [
        [b" b", b"a ", b"a b"],
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

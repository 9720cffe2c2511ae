"""Explanations of what the signatures of a model answer."""

import numpy as np
import pytest

from keras_selfattn.serving.server.explaining import explanation
from tests.serving.server.stand_ins import Pairs
from tests.serving.server.stand_ins import Reader

ANSWER = {"probabilities": np.array([[0.25, 0.75]])}


def words(*tokens):
    return np.array([[token.encode() for token in tokens]], object)


def even(rows, columns):
    return np.full((1, rows, columns), 1 / columns)


@pytest.mark.parametrize(
    "text, tokens, note",
    [
        ("good food", ["good", "food"], ""),
        ("", ["[UNK]"], ""),
        ("good food", ["[NULL]", "good"], "1 word not read"),
        ("I don't know.", ["I"], "4 words not read"),
        # Of another length in lower case, and so not found in its text.
        ("İyi yemek .", ["i̇yi"], "2 words not read"),
    ],
)
def test_words_that_were_not_read(text, tokens, note):
    scores = {"tokens": words(*tokens), "scores": even(2, len(tokens))}
    seen = explanation(Reader(), [text], ANSWER, scores)
    assert seen.unread_note == note


def test_words_of_a_pair_that_were_not_read():
    scores = {
        "premise_tokens": words("i̇yi"),
        "premise_scores": even(1, 2),
        "hypothesis_tokens": words("a", "b"),
        "hypothesis_scores": even(2, 1),
    }
    seen = explanation(Pairs(), ["İyi yemek .", "a b"], ANSWER, scores)
    assert seen.premise.unread_note == "2 words not read"
    assert seen.hypothesis.unread_note == ""

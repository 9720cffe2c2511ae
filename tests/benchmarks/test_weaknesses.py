"""The made pairs of natural language inference, and how they are counted."""

import itertools

import numpy as np
import pytest

from benchmarks import weaknesses
from keras_selfattn.data.word_relations import CONTRADICTION
from keras_selfattn.data.word_relations import ENTAILMENT
from keras_selfattn.data.word_relations import NEUTRAL


class ByOverlap:
    """Answers entailment where the premise has all words of the hypothesis."""

    sides = ("premise", "hypothesis")
    labels = (CONTRADICTION, ENTAILMENT, NEUTRAL)


def by_overlap(model, pairs):
    return [
        ENTAILMENT
        if set(hypothesis.split()) <= set(premise.split())
        else NEUTRAL
        for premise, hypothesis in pairs
    ]


@pytest.mark.parametrize("kind", weaknesses.KINDS)
def test_no_pair_is_made_twice(kind):
    pairs = [pair for pair, _ in weaknesses.KINDS[kind]()]
    assert len(pairs) == len(set(pairs)) > 10
    assert not any("{" in side for pair in pairs for side in pair)


def test_one_word_differs_in_both_directions():
    for (premise, hypothesis), label in weaknesses.one_word("color"):
        differ = [
            (a, b)
            for a, b in zip(premise.split(), hypothesis.split(), strict=True)
            if a != b
        ]
        assert len(differ) == (label == CONTRADICTION)
    pairs = [pair for pair, _ in weaknesses.one_word("color")]
    assert {(b, a) for a, b in pairs} == set(pairs)


def words(sentence):
    return sentence.rstrip(".").lower().split()


def test_swapped_roles_have_the_same_words():
    for (premise, hypothesis), label in weaknesses.roles():
        said, heard = words(premise), words(hypothesis)
        if label == CONTRADICTION:
            assert said != heard and sorted(said) == sorted(heard)
        else:
            # Who does it is named last, behind "by".
            assert heard[-3:] == ["by", *said[:2]]


def test_an_answer_by_overlap_shows(monkeypatch):
    monkeypatch.setattr(weaknesses, "answers", by_overlap)
    measured = weaknesses.of_word_lists(ByOverlap())
    count, shares = measured["one color for another"]
    assert count == 4 * (6 * 5 + 6)
    assert shares == {CONTRADICTION: 0.0, ENTAILMENT: 1.0}
    assert measured["negation"][1] == {CONTRADICTION: 0.0}


def test_premises_are_exchanged_and_dropped(monkeypatch):
    monkeypatch.setattr(weaknesses, "answers", lambda _, pairs: pairs)
    texts = [(f"premise {i}", f"hypothesis {i}") for i in range(20)]
    others, empty = weaknesses.without_premises(ByOverlap(), texts)
    assert [h for _, h in others] == [h for _, h in empty]
    assert sorted(p for p, _ in others) == sorted(p for p, _ in texts)
    assert others != texts
    assert {p for p, _ in empty} == {""}


def test_accuracy_by_length():
    texts = [
        ("a " * n, "b " * m) for n, m in itertools.product((3, 30), (2, 9))
    ]
    measured = {
        name: (n, share)
        for name, n, share in weaknesses.by_length(
            texts, ["x", "y", "x", "y"], ["x", "x", "x", "x"]
        )
    }
    assert measured == {
        "premise of 0 to 9 words": (2, 0.5),
        "premise of 21 or more words": (2, 0.5),
        "hypothesis of 0 to 4 words": (2, 1.0),
        "hypothesis of 8 to 10 words": (2, 0.0),
    }
    assert np.isscalar(measured["premise of 0 to 9 words"][1])

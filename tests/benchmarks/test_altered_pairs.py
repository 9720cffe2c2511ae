"""Pairs with another number, or denied."""

from benchmarks.altered_pairs import NUMBERS
from benchmarks.altered_pairs import altered_pairs

CORPORA = [
    [(("Two dogs run.", "three dogs and a cat run"), "neutral")],
    [
        (("A man is here.", "three dogs and a cat run"), "neutral"),
        (("two or three men", "A dog is here, cats are there."), "neutral"),
        (("An old man runs.", "The young run inside."), "neutral"),
    ],
]


def test_what_differs_contradicts():
    rows = altered_pairs(CORPORA, 5)
    assert len(rows) == 12
    for (premise, hypothesis), label in rows:
        assert (label == "entailment") == (premise == hypothesis)
    # Each pair once in either direction, and each sentence with itself.
    assert len({pair for pair, _ in rows}) == 12
    assert {(b, a) for (a, b), _ in rows} == {pair for pair, _ in rows}
    numbers, opposites, denied = (
        {side for pair, _ in rows[at : at + 4] for side in pair}
        for at in (0, 4, 8)
    )
    (other,) = numbers - {"three dogs and a cat run"}
    first, rest = other.split(" ", 1)
    assert first in {*NUMBERS} - {"three"} and rest == "dogs and a cat run"
    assert opposites == {"An old man runs.", "An young man runs."}
    (other,) = denied - {"A man is here."}
    assert other in ("A man is not here.", "A man isn't here.")


def test_as_many_as_are_asked_for():
    corpus = [(f"{n} men and four dogs", None) for n in range(30)]
    assert len(altered_pairs([corpus], 7)) == 28
    assert altered_pairs([corpus], 7, 1) == altered_pairs([corpus], 7, 1)
    assert altered_pairs([corpus], 7, 1) != altered_pairs([corpus], 7, 2)

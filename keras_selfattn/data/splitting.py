"""Dev texts out of the training texts, where there is no file of them."""

import collections.abc
from collections.abc import Iterable

import numpy as np

from keras_selfattn.data.labeled_rows import labeled_rows


def split(corpus: Iterable, fraction: float, seed: int) -> "tuple[Part, Part]":
    """Part a corpus in two, each with the same share of every label.

    Args:
        corpus: Re-iterable of `(text, label)`, which is read once for this,
            and once more whenever one of the parts is read.
        fraction: Number above 0 and below 1, the share of the second part.
        seed: Integer that, with the order of the labels, decides which texts
            it has. A class of one text has none in it.

    Returns:
        Two `Part`s.

    Raises:
        ValueError: if `fraction` is no such number, or too small for one
            text; or if no label has two texts, one for each part.

    Example:

    >>> rows = [(f"text {i}", "ab"[i % 2]) for i in range(10)]
    >>> train, dev = split(rows, 0.4, seed=0)
    >>> len(list(train)), sorted(label for _, label in dev)
    (6, ['a', 'a', 'b', 'b'])
    """
    check_fraction(fraction)
    numbers = {}
    labels = np.array(
        [
            numbers.setdefault(label, len(numbers))
            for _, label in labeled_rows(corpus)
        ],
        "int64",
    )
    counts = np.bincount(labels)
    if counts.max(initial=0) == 1:
        raise ValueError(
            "`dev_fraction` must have a label of two texts or more: the "
            "training keeps one of each, which leaves none for dev. "
            f"Received: {len(counts):,} labels of one text each"
        )
    takes = _shares(counts, fraction)
    if not takes.sum():
        raise ValueError(
            f"`dev_fraction` must give a dev text of {len(labels)} texts. "
            f"Received: dev_fraction={fraction!r}"
        )
    generator = np.random.default_rng(seed)
    chosen = np.zeros(len(labels), bool)
    for number, take in enumerate(takes):
        places = np.flatnonzero(labels == number)
        chosen[generator.permutation(places)[:take]] = True
    return Part(corpus, ~chosen), Part(corpus, chosen)


def check_fraction(fraction):
    """`ValueError` unless a number is above 0 and below 1."""
    if not 0 < fraction < 1:
        raise ValueError(
            "`dev_fraction` must be a number above 0 and below 1. "
            f"Received: dev_fraction={fraction!r}"
        )


class Part(collections.abc.Iterable):
    """Some rows of a corpus, read anew each time it is iterated.

    Args:
        corpus: Re-iterable.
        chosen: Boolean array, which of its rows these are.
    """

    def __init__(self, corpus, chosen):
        self._corpus = corpus
        self._chosen = chosen

    def __iter__(self):
        for row, chosen in zip(self._corpus, self._chosen, strict=True):
            if chosen:
                yield row


def _shares(counts, fraction):
    """How many of each label, which add up to the share of all."""
    shares = counts * fraction
    takes = np.floor(shares).astype("int64")
    missing = round(counts.sum() * fraction) - takes.sum()
    # Those that were rounded down the furthest come first.
    takes[np.argsort(takes - shares, kind="stable")[:missing]] += 1
    return np.minimum(takes, counts - 1)

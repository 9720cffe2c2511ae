"""The texts of many files as those of one, with their labels or without."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence


class Corpora(Iterable):
    """Labeled texts of several corpora, one after the other.

    Args:
        corpora: List of re-iterables of `(text, label)`, such as a
            `keras_selfattn.data.Corpus` for each file. Each keeps its own
            report of the rows that it leaves out.

    Raises:
        ValueError: if there is none.

    Example:

    >>> parts = [[("good", "1")], [("bad", "0"), ("fair", "1")]]
    >>> list(Corpora(parts))
    [('good', '1'), ('bad', '0'), ('fair', '1')]
    """

    def __init__(self, corpora: Iterable) -> None:
        self.corpora = list(corpora)
        if not self.corpora:
            raise ValueError("`corpora` must hold a corpus. Received: none")

    def __iter__(self) -> Iterator:
        for corpus in self.corpora:
            yield from corpus

    def expect(self, labels: Sequence) -> None:
        """Leave out rows of other labels, in each corpus that can.

        Args:
            labels: The labels there are.
        """
        for corpus in self.corpora:
            expect(corpus, labels)


class Texts(Iterable):
    """The texts of a corpus, without their labels.

    Args:
        corpus: Re-iterable of `(text, label)`.

    Example:

    >>> list(Texts([("good", "1"), ("bad", "0")]))
    ['good', 'bad']
    """

    def __init__(self, corpus: Iterable) -> None:
        self.corpus = corpus

    def __iter__(self) -> Iterator:
        for text, _ in self.corpus:
            yield text


def expect(texts: Iterable, labels: Sequence) -> None:
    """Have labeled texts leave out rows of other labels, if they can.

    Args:
        texts: Labeled texts, such as a `keras_selfattn.data.Corpus`.
        labels: The labels there are.
    """
    if hasattr(texts, "expect"):
        texts.expect(labels)


def together(corpora):
    """Corpora as one: the only one, or `Corpora`."""
    return corpora[0] if len(corpora) == 1 else Corpora(corpora)

"""Rows that a model can't be asked about: counted, and the first is kept."""

import itertools
from collections.abc import Iterable

from keras_selfattn.data.checked_texts import empty_text

# So many rows that can't be read at the beginning are no accident.
_LOOKED_AT = 1000


class BadRows:
    """Counts the rows of corpora, and those that have no text to ask about.

    Attributes:
        rows: Integer, how many there were so far.
        bad: Integer, how many of them had no text.
        first: The `ValueError` of the first of these, or `None`.

    Example:

    >>> from keras_selfattn.data.checked_texts import Row
    >>> found = BadRows()
    >>> [str(found.text(Row("a.txt", i, text, None)))
    ...  for i, text in enumerate(["Nice.", " "], 1)]
    ['Nice.', 'a.txt:2: expected text, received an empty one']
    >>> print(found)
    1 of 2 rows
    """

    def __init__(self):
        self.rows = self.bad = 0
        self.first = None

    def text(self, row):
        """The text of a row, or what is wrong with it; counted either way.

        Args:
            row: A `Row`, or the `ValueError` of a malformed one.

        Returns:
            A string, a tuple of the two of a pair, or a `ValueError`.
        """
        fault = row if isinstance(row, ValueError) else empty_text(row)
        self.add(1, int(fault is not None), fault)
        return row.text if fault is None else fault

    def texts(self, corpus):
        """What `text` gives for each row of a corpus."""
        return map(self.text, corpus.read())

    def add(self, rows, bad, first):
        """Count rows of which some are bad, the first one for `first`."""
        self.rows += rows
        self.bad += bad
        self.first = self.first or first

    def __str__(self):
        return f"{self.bad:,} of {self.rows:,} rows"


class TextsOf(Iterable):
    """The texts of corpora, read anew each time, but for rows without one.

    Args:
        corpora: Iterable of corpora that are read without labels.

    Attributes:
        left_out: The `BadRows` of the latest pass.
    """

    def __init__(self, corpora):
        self.left_out = BadRows()
        self._corpora = list(corpora)

    def __iter__(self):
        self.left_out = BadRows()
        for corpus in self._corpora:
            for text in self.left_out.texts(corpus):
                if not isinstance(text, ValueError):
                    yield text


def check_some_row(corpus):
    """The error of the first row, where none of the first ones can be read."""
    first = None
    for _, row in itertools.islice(corpus.table(), _LOOKED_AT):
        if not isinstance(row, ValueError):
            return
        first = first or row
    if first is not None:
        raise first

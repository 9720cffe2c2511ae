"""Labeled texts whose bad rows are counted, reported, and never trained on."""

import collections
import itertools
import numbers
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from keras_selfattn.data.lines import line_error
from keras_selfattn.labels import Finder
from keras_selfattn.labels import listed
from keras_selfattn.labels import plain
from keras_selfattn.sides import sentences

MAX_BAD_RATE = 0.001

NO_GOLD_LABEL = "without gold label"
MALFORMED = "malformed"
UNKNOWN_LABEL = "unknown label"
EMPTY_TEXT = "empty text"
DUPLICATED_ID = "duplicated id"

# After so many bad rows, where most rows are bad, reading stops early.
_STOP_AFTER_BAD = 1000

Row = collections.namedtuple(
    "Row",
    ("path", "number", "text", "label", "genre", "identifier"),
    defaults=(None, None),
)
Row.__doc__ = """A labeled text and where it comes from.

Attributes:
    path: The file, as messages name it.
    number: Number of the line, from 1.
    text: A string, or for pairs a tuple of premise and hypothesis.
    label: A string, or `None` where there is none.
    genre: A string, or `None` where the corpus has no genres.
    identifier: A string, or `None` where the row has none.
"""


class Report:
    """What one pass over a corpus has met so far.

    Attributes:
        rows: Number of rows read.
        counts: `collections.Counter` of the rows left out, by kind: the
            module's `NO_GOLD_LABEL`, `MALFORMED`, `UNKNOWN_LABEL`,
            `EMPTY_TEXT` and `DUPLICATED_ID`.
        first: Dictionary by kind of a message that tells path and line of the
            first such row, and what is wrong with it.
    """

    def __init__(self):
        self.rows = 0
        self.counts = collections.Counter()
        self.first = {}

    def leave_out(self, kind, error):
        """Counts a row that is left out."""
        self.counts[kind] += 1
        self.first.setdefault(kind, str(error))

    @property
    def bad(self):
        """Number of rows left out that should have been good."""
        return self.counts.total() - self.counts[NO_GOLD_LABEL]

    def check(self, max_bad_rate):
        """Raises `ValueError` if the share of bad rows is above a rate."""
        if self.bad > max_bad_rate * self.rows:
            # Kinds stand in the order in which they were met.
            message = next(
                message
                for kind, message in self.first.items()
                if kind != NO_GOLD_LABEL
            )
            raise ValueError(
                f"{message} - the first of {self.bad:,} bad of {self.rows:,} "
                f"rows ({self._kinds()}), {self.bad / self.rows:.2%}, where "
                f"at most {max_bad_rate:.2%} may be bad"
            )

    def __str__(self):
        """One line, such as `10,000 rows, left out: 158 without gold label`."""
        if not self.counts:
            return f"{self.rows:,} rows"
        return f"{self.rows:,} rows, left out: {self._kinds()}"

    def _kinds(self):
        return ", ".join(f"{n:,} {kind}" for kind, n in self.counts.items())


class CheckedTexts:
    """Labeled texts, read anew each time they are iterated.

    The base of all corpora. A subclass overrides `read`. Rows that are
    malformed, have an unknown label, an empty text or the identifier of an
    earlier row are left out and counted; so are rows without a gold label,
    which are no fault. If too many are bad the pass ends with a `ValueError`:
    after the last row, or early once 1,000 bad rows have come and more than
    half are bad, or at once if `max_bad_rate` is 0.

    Identifiers are compared by 64-bit hashes, held while a pass lasts: about
    40 MiB for 549,367 pairs.

    Args:
        labelled: Boolean, whether the labels are wanted. Otherwise each is
            `None`, as are those of texts to be classified, and no row is left
            out: a malformed one raises its error.
        labels: The labels there are, or `None` if any will do.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.
    """

    def __init__(
        self,
        labelled: bool = True,
        labels: Iterable | None = None,
        max_bad_rate: float = MAX_BAD_RATE,
    ) -> None:
        _check_rate(max_bad_rate)
        self.labelled = labelled
        self._know(labels)
        self.max_bad_rate = max_bad_rate
        self.report: Report | None = None

    def read(self) -> Iterator[Row | ValueError]:
        """Yields each row of the corpus.

        Yields:
            A `Row`, or the `ValueError` that says what is wrong with it.
        """
        raise NotImplementedError

    def table(self) -> Iterator[tuple[dict, Row | ValueError]]:
        """Yields each row beside all that the file has of it.

        Yields:
            Pairs of a dictionary by column, which is empty where there are
            no columns, and what `read` yields.
        """
        for row in self.read():
            yield {}, row

    def expect(self, labels: Iterable) -> None:
        """Leave out, and count, rows of other labels from now on.

        Args:
            labels: The labels there are. A corpus that knows its own keeps
                them.
        """
        if self.labelled and self.labels is None:
            self._know(labels)

    def _know(self, labels):
        self.labels = None if labels is None else tuple(plain(labels))
        self._find = Finder(self.labels or ())

    def knows(self, label: Any) -> bool:
        """Whether a label is one of those there are."""
        return self.labels is None or self._find(label) is not None

    def rows(self) -> Iterator[Row]:
        """Yields the good rows.

        Yields:
            A `Row`.

        Raises:
            ValueError: if there are no rows, too many are bad, or none is
                left.
        """
        report = self.report = Report()
        identifiers = set()
        row: Any
        for row in self.read():
            report.rows += 1
            problem = self._problem(row, identifiers)
            if problem is None:
                yield row if self.labelled else row._replace(label=None)
                continue
            report.leave_out(*problem)
            if not self.labelled:
                raise problem[1]
            mostly_bad = 2 * report.bad > report.rows
            if self.max_bad_rate == 0 or (
                mostly_bad and report.bad >= _STOP_AFTER_BAD
            ):
                report.check(self.max_bad_rate)
        if not report.rows:
            raise ValueError("Expected at least one row. Received: none")
        report.check(self.max_bad_rate)
        if report.counts.total() == report.rows:
            message, *_ = report.first.values()
            raise ValueError(
                f"No row is left to use of {report}; the first: {message}"
            )

    def __iter__(self) -> Iterator[tuple]:
        for row in self.rows():
            yield row.text, row.label

    def _problem(self, row, identifiers):
        if isinstance(row, ValueError):
            return MALFORMED, row
        if not self.labelled:
            return None
        if row.label is None:
            return NO_GOLD_LABEL, _error(row, "a gold label", "none")
        if not self.knows(row.label):
            expected = _one_of(self.labels)
            return UNKNOWN_LABEL, _error(row, expected, repr(row.label))
        if empty := empty_text(row):
            return EMPTY_TEXT, empty
        if row.identifier:
            identifier = hash(row.identifier)
            if identifier in identifiers:
                return DUPLICATED_ID, _error(
                    row, "an id once", f"{row.identifier!r} again"
                )
            identifiers.add(identifier)
        return None


def _check_rate(max_bad_rate):
    if (
        isinstance(max_bad_rate, bool)
        or not isinstance(max_bad_rate, numbers.Real)
        or not 0 <= max_bad_rate <= 1
    ):
        raise ValueError(
            "`max_bad_rate` must be a number from 0 to 1. "
            f"Received: {max_bad_rate!r}"
        )


def empty_text(row):
    """The `ValueError` of a `Row` without text, or `None`."""
    if all(text.strip() for text in sentences(row.text)):
        return None
    return _error(row, "text", "an empty one")


def check_differ(**columns):
    """`ValueError` where one column is to be two things."""
    given = {name: c for name, c in columns.items() if c is not None}
    for (name, column), (other, same) in itertools.combinations(
        given.items(), 2
    ):
        if column == same:
            raise ValueError(
                f"`{name}` and `{other}` must be different columns. "
                f"Received: {column!r} for both"
            )


def _one_of(labels):
    if labels is None:
        return "a known label"
    return f"one of the labels {listed(labels)}"


def _error(row, expected, received):
    return line_error(row.path, row.number, expected, received)

"""What labeled texts are, in a few lines: rows, classes and a checksum."""

import collections
import hashlib
import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from keras_selfattn.data.corpora import expect
from keras_selfattn.data.labeled_rows import labeled_rows
from keras_selfattn.labels import in_order


def fingerprint(records: Iterable) -> dict[str, Any]:
    """Count labeled texts, and sum them up.

    Args:
        records: Iterable of `(text, label)`, or `((premise, hypothesis),
            label)`.

    Returns:
        A dictionary of the integer `"rows"`, the counts by label in
        `"classes"`, and `"sha256"`, which differs for other texts, labels, or
        another order.

    Raises:
        ValueError: if there are no records.

    Example:

    >>> found = fingerprint([("Nice.", "5"), ("Cold food.", "1")])
    >>> found["rows"], found["classes"]
    (2, {'1': 1, '5': 1})
    """
    texts = Fingerprinted(records)
    classes = collections.Counter(label for _, label in texts)
    if not classes:
        raise ValueError("Expected labeled texts. Received: none")
    return {
        "rows": classes.total(),
        "classes": {label: classes[label] for label in in_order(classes)},
        "sha256": texts.sha256,
    }


class Fingerprinted(Iterable):
    """Labeled texts whose checksum is known once they have been read.

    Args:
        texts: Iterable of `(text, label)`, as of `fingerprint`.

    Attributes:
        sha256: The checksum as of `fingerprint`, of the last reading to the
            end; `None` before it.
    """

    def __init__(self, texts: Iterable) -> None:
        self._texts = texts
        self.sha256: str | None = None

    def __iter__(self) -> Iterator:
        digest = hashlib.sha256()
        for text, label in labeled_rows(self._texts):
            row = json.dumps([text, label], default=str)
            digest.update(row.encode() + b"\n")
            yield text, label
        self.sha256 = digest.hexdigest()

    def read(self) -> None:
        """Read the texts to their end."""
        collections.deque(self, maxlen=0)

    def expect(self, labels: Sequence) -> None:
        """Leave out rows of other labels, if the texts can."""
        expect(self._texts, labels)

"""What labeled texts are, in a few lines: rows, classes and a checksum."""

import collections
import hashlib
import json
from collections.abc import Iterable
from typing import Any


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
    digest = hashlib.sha256()
    classes = collections.Counter()
    for text, label in records:
        digest.update(json.dumps([text, label]).encode() + b"\n")
        classes[label] += 1
    if not classes:
        raise ValueError("Expected labeled texts. Received: none")
    return {
        "rows": classes.total(),
        "classes": dict(sorted(classes.items())),
        "sha256": digest.hexdigest(),
    }

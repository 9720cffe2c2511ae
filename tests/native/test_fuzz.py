"""Texts of any bytes never stop a server's process."""

import hypothesis
import numpy as np
import pytest

from tests.hostile import tried
from tests.native import client
from tests.serving.families import FAMILIES
from tests.serving.families import exported
from tests.serving.families import rows_of
from tests.serving.texts import batches

# Rows of each input that hypothesis draws, and of each process at most, where
# attention takes memory for all pairs of words.
DRAWN = 50
ASKED = 250
MOST_PAIRS = 10**7


def assert_finite(outputs, rows):
    for key, output in outputs.items():
        assert len(output) == len(rows)
        if output.dtype != object:
            assert np.isfinite(output).all(), key


def drawn_rows(sides):
    """Rows of texts; `HOSTILE_EXAMPLES` says how many times fifty."""
    rows = []

    @tried(2)
    @hypothesis.given(batches(sides, min_size=DRAWN, max_size=DRAWN))
    def draw(batch):
        rows.extend(batch)

    draw()
    return rows


def requests(rows):
    """The rows in parts, each of which are of about the same length."""
    part = []
    for row in sorted(rows, key=_length):
        many = len(part) == ASKED
        if part and (many or (len(part) + 1) * _length(row) ** 2 > MOST_PAIRS):
            yield part
            part = []
        part.append(row)
    yield part


def _length(row):
    return max(map(len, row if isinstance(row, tuple) else [row]))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_any_texts(family):
    model, folder = exported(family)
    sides = 2 if isinstance(rows_of(model)[0], tuple) else 1
    drawn = drawn_rows(sides)
    for rows in requests(drawn):
        try:
            outputs = client.Request(folder, rows).run()
        except RuntimeError as error:
            raise AssertionError(blamed(folder, rows)) from error
        assert_finite(outputs, rows)
    print(f"{len(drawn) * sides} strings")


def blamed(folder, rows):
    """A row that stops the process, of some of which one does."""
    while len(rows) > 1:
        half = rows[: len(rows) // 2]
        try:
            client.Request(folder, half).run()
            rows = rows[len(half) :]
        except RuntimeError:
            rows = half
    return rows[0]


@pytest.mark.slow
def test_a_huge_batch_and_a_huge_text():
    model, folder = exported("single")
    texts = rows_of(model)
    for rows in (
        [texts[i % len(texts)] for i in range(4096)],
        [b"good food " * 20_000, b"x" * 1_000_000, b""],
    ):
        outputs = client.Request(folder, rows, ["serving_default"]).run()
        assert_finite(outputs, rows)

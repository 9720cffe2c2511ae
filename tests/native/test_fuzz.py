"""Texts of any bytes never stop a server's process."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from tests.hostile import tried
from tests.native import client
from tests.serving.families import FAMILIES
from tests.serving.families import exported
from tests.serving.families import rows_of
from tests.serving.texts import batches


def assert_finite(outputs, rows):
    for key, output in outputs.items():
        assert len(output) == len(rows)
        if output.dtype != object:
            assert np.isfinite(output).all(), key


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@tried(2)
@hypothesis.given(data=strategies.data())
def test_any_texts(family, data):
    model, folder = exported(family)
    sides = 2 if isinstance(rows_of(model)[0], tuple) else 1
    rows = data.draw(batches(sides, min_size=40, max_size=80))
    assert_finite(client.Request(folder, rows).run(), rows)


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

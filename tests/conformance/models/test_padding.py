"""Law 1: padding, wherever it is, changes no output, loss or gradient."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.models.objective import loss_outputs_and_gradients
from tests.conformance.models.objective import plain
from tests.conformance.models.table import CHARACTERS
from tests.conformance.models.table import built


def padded(batch, place):
    """The batch with three steps of padding more."""
    rng = np.random.default_rng(4)
    arrays = {}
    for name, ids in batch.items():
        n = ids.shape[1]
        places = {"around": [0, 0, n], "middle": [n // 2] * 3}[place]
        gap = np.zeros((len(ids), 3, *ids.shape[2:]), "int32")
        if name.endswith("char_ids"):
            # What a step of padding holds is nothing to anyone.
            gap = rng.integers(0, CHARACTERS, gap.shape, "int32")
        arrays[name] = np.insert(ids, places, gap, axis=1)
    return arrays


@pytest.mark.parametrize("place", ["around", "middle"])
def test_padding_changes_nothing(model_row, place):
    if place == "middle" and not model_row.holes:
        pytest.skip("a convolution reads padding between words as zeros")
    more = padded(model_row.batch(), place)
    loss, given, gradients = plain(model_row)
    received = loss_outputs_and_gradients(model_row, built(model_row), more)
    np.testing.assert_allclose(received[0], loss, rtol=1e-5)
    assert_near(received[1], given, atol=1e-6)
    assert_near(received[2], gradients, atol=1e-5)


def test_a_row_is_the_same_alone(model_row):
    _, (outputs, _), _ = plain(model_row)
    row = {name: ids[1:2, :4] for name, ids in model_row.batch().items()}
    assert_near(built(model_row)(row), outputs[1:2], atol=1e-6)


def assert_near(received, expected, atol):
    for x, y in zip(
        keras.tree.flatten(received), keras.tree.flatten(expected), strict=True
    ):
        np.testing.assert_allclose(
            ops.convert_to_numpy(x),
            ops.convert_to_numpy(y),
            rtol=1e-4,
            atol=atol,
        )

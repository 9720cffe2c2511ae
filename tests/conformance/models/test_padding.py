"""Law 1: padding, wherever it is, changes no output, loss or gradient."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.conformance.models.objective import loss_and_gradients
from tests.conformance.models.table import CHARACTERS
from tests.conformance.models.table import built


def padded(batch, place):
    """The batch with two steps of padding more."""
    rng = np.random.default_rng(4)
    arrays = {}
    for name, ids in batch.items():
        n = ids.shape[1]
        at = {"left": 0, "middle": n // 2, "right": n}[place]
        gap = np.zeros((len(ids), 2, *ids.shape[2:]), "int32")
        if name.endswith("char_ids"):
            # What a step of padding holds is nothing to anyone.
            gap = rng.integers(0, CHARACTERS, gap.shape, "int32")
        arrays[name] = np.concatenate([ids[:, :at], gap, ids[:, at:]], axis=1)
    return arrays


@pytest.mark.parametrize("place", ["left", "middle", "right"])
def test_padding_changes_nothing(model_row, place):
    if place == "middle" and not model_row.holes:
        pytest.skip("a convolution reads padding between words as zeros")
    model = built(model_row)
    batch = model_row.batch()
    more = padded(batch, place)
    assert_near(model(more), model(batch), atol=1e-6)
    loss, gradients = loss_and_gradients(model_row, model, batch)
    more_loss, more_gradients = loss_and_gradients(model_row, model, more)
    np.testing.assert_allclose(more_loss, loss, rtol=1e-5)
    assert_near(more_gradients, gradients, atol=1e-5)


def test_a_row_is_the_same_alone(model_row):
    model = built(model_row)
    batch = model_row.batch()
    outputs = ops.convert_to_numpy(model(batch))
    row = {name: ids[1:2, :4] for name, ids in batch.items()}
    assert_near(model(row), outputs[1:2], atol=1e-6)


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

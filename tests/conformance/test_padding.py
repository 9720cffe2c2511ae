"""Law 1: masked steps change no output, penalty or gradient."""

import numpy as np
import pytest
from keras import ops

from tests.conformance.objective import coefficients
from tests.conformance.objective import layer_objective
from tests.conformance.table import penalty_of
from tests.conformance.table import run

GARBAGE = [np.nan, np.inf, -np.inf, 1e30]


def insert_steps(row, inputs, masks, place):
    """The batch with two masked steps more, and where the old ones are."""
    padded, padded_masks, kept = [], [], []
    for values, mask in zip(inputs, masks, strict=True):
        steps = values.shape[1]
        at = {"left": 0, "middle": steps // 2, "right": steps}[place]
        hole = np.zeros((values.shape[0], 2, *values.shape[2:]), values.dtype)
        if not row.ids:
            hole.flat = np.resize(GARBAGE, hole.size)
        padded.append(
            np.concatenate([values[:, :at], hole, values[:, at:]], axis=1)
        )
        gap = np.zeros((values.shape[0], 2), bool)
        padded_masks.append(
            np.concatenate([mask[:, :at], gap, mask[:, at:]], axis=1)
        )
        kept.append([t for t in range(steps + 2) if not at <= t < at + 2])
    return padded, padded_masks, kept


@pytest.mark.parametrize("place", ["left", "middle", "right"])
def test_masked_steps_change_nothing(row, place):
    if place == "middle" and not row.holes:
        pytest.skip("the layer reads a masked step between others as zeros")
    if not row.takes_mask and not row.ids:
        pytest.skip("the layer has no steps")
    layer = row.make()
    inputs, masks = row.batch()
    plain = run(layer, inputs, masks, scores=True)
    plain = [ops.convert_to_numpy(x) for x in plain]
    penalty = penalty_of(layer)
    more_inputs, more_masks, kept = insert_steps(row, inputs, masks, place)
    padded = run(layer, more_inputs, more_masks, scores=True)
    padded = [ops.convert_to_numpy(x) for x in padded]
    np.testing.assert_allclose(penalty_of(layer), penalty, rtol=1e-5, atol=1e-6)
    factors = coefficients([x.shape for x in plain])
    more_factors = []
    for before, after, axes, factor in zip(
        plain, padded, row.steps, factors, strict=True
    ):
        inserted = np.ones(after.shape, bool)
        selection = np.ix_(
            *(
                kept[axes[axis]] if axis in axes else range(size)
                for axis, size in enumerate(after.shape)
            )
        )
        np.testing.assert_allclose(
            after[selection], before, rtol=1e-5, atol=1e-6
        )
        inserted[selection] = False
        assert (after[inserted] == 0).all()
        spread = np.zeros(after.shape, "float32")
        spread[selection] = factor
        more_factors.append(spread)

    _, gradients = layer_objective(row, layer, inputs, masks, factors)
    _, more_gradients = layer_objective(
        row, layer, more_inputs, more_masks, more_factors
    )
    weights = len(layer.trainable_weights)
    for before, after in zip(
        gradients[:weights], more_gradients[:weights], strict=True
    ):
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    for number, before in enumerate(gradients[weights:]):
        after = more_gradients[weights + number]
        np.testing.assert_allclose(
            after[:, kept[number]], before, rtol=1e-4, atol=1e-5
        )
        gap = np.delete(after, kept[number], axis=1)
        assert (gap == 0).all()


def test_scores_are_zero_at_masked_steps(row):
    if not row.gives_scores:
        pytest.skip("the layer gives no scores")
    layer = row.make()
    inputs, masks = row.batch()
    tensors = run(layer, inputs, masks, scores=True)
    for tensor, axes in zip(tensors, row.steps, strict=True):
        tensor = ops.convert_to_numpy(tensor)
        for axis, number in axes.items():
            steps = np.moveaxis(tensor, axis, 1)
            assert (steps[~masks[number]] == 0).all()

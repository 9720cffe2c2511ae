"""Law 7: penalties are batch means, and right on both sides of a pair."""

import keras
import numpy as np
import pytest

from keras_selfattn import layers
from tests.conformance.table import penalty_of
from tests.conformance.table import run


@pytest.fixture(autouse=True)
def skip_rows_without_penalty(row):
    if not row.penalties:
        pytest.skip("the layer takes no penalty")


def test_tiling_the_batch_changes_no_penalty(row):
    layer = row.make()
    inputs, masks = row.batch()
    run(layer, inputs, masks)
    before = penalty_of(layer)
    assert before > 0
    run(
        layer,
        [np.concatenate([x] * 3) for x in inputs],
        [np.concatenate([m] * 3) for m in masks],
    )
    np.testing.assert_allclose(penalty_of(layer), before, rtol=1e-5)


def test_no_regularizer_no_penalty(row):
    layer = row.make(**row.without_penalties())
    run(layer, *row.batch())
    assert layer.losses == []


def test_each_penalty_counts_alone(row):
    inputs, masks = row.batch()
    total = row.make()
    run(total, inputs, masks)
    parts = []
    for name in row.penalties:
        alone = {**row.without_penalties(), name: row.config[name]}
        layer = row.make(**alone)
        run(layer, inputs, masks)
        # Once a call: a wrapper calls the layer inside once for each input.
        assert len(layer.losses) == (len(inputs) if row.wraps else 1)
        parts.append(penalty_of(layer))
    assert all(part > 0 for part in parts)
    np.testing.assert_allclose(penalty_of(total), sum(parts), rtol=1e-5)


def test_both_sides_of_a_pair_count(row):
    if len(row.input_shapes) > 1:
        pytest.skip("the layer takes a pair itself")
    layer = row.make()
    first, second = row.batch(seed=2)[0][0], row.batch(seed=9)[0][0]
    expected = 0.0
    for side in (first, second):
        layer(side)
        expected += penalty_of(layer)
    sides = [keras.Input(first.shape[1:]) for _ in range(2)]
    outputs = layers.BothSides(layer)(sides)
    flat = [keras.layers.Flatten()(output) for output in outputs]
    model = keras.Model(sides, keras.layers.Concatenate()(flat))
    model.compile("sgd", loss=lambda y, p: 0.0 * keras.ops.mean(p))
    received = model.evaluate(
        [first, second], np.zeros(len(first)), batch_size=99, verbose=0
    )
    np.testing.assert_allclose(received, expected, rtol=1e-5)

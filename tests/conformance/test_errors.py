"""Law 9: what is wrong is answered with what was expected and what came."""

import numpy as np
import pytest
from keras import ops

from tests.conformance.table import run
from tests.conformance.table import symbols


def test_wrong_arguments(row):
    if not row.wrong_arguments:
        pytest.skip("the layer checks no argument of its own")
    for overrides, message in row.wrong_arguments:
        with pytest.raises(ValueError, match=message):
            row.create(**overrides)


def test_wrong_shapes(row):
    if not row.wrong_shapes:
        pytest.skip("the layer leaves shapes to the Keras layer it extends")
    for shapes, message in row.wrong_shapes:
        layer = row.create()
        # The shapes of TensorFlow's tensors are no tuples.
        inputs = [ops.zeros(shape, "float32") for shape in shapes]
        with pytest.raises(ValueError, match=message):
            layer(inputs[0] if len(inputs) == 1 else tuple(inputs))


@pytest.mark.parametrize("change", ["a rank less", "a rank more", "features"])
def test_wrong_shapes_of_a_built_layer(row, change):
    if not row.wrong_shapes:
        pytest.skip("the layer leaves shapes to the Keras layer it extends")
    (*inputs, last), masks = row.batch()
    changed = {
        "a rank less": last[..., 0],
        "a rank more": last[..., np.newaxis],
        "features": np.concatenate([last, last[..., :1]], axis=-1),
    }[change]
    layer = row.make()
    if change == "features" and not row.fixes_features:
        run(layer, [*inputs, changed], masks)
        return
    batch = [*inputs, changed]
    for each in (batch, symbols(batch)):
        each = each[0] if len(each) == 1 else tuple(each)
        with pytest.raises(ValueError, match="expected"):
            layer(each)


@pytest.mark.parametrize("change", ["batch", "steps", "rank"])
def test_wrong_masks(row, change):
    if not row.takes_mask:
        pytest.skip("the layer takes no mask")
    for wrong in range(len(row.input_shapes)):
        inputs, masks = row.batch()
        rows, steps = masks[wrong].shape
        shape = {
            "batch": (rows + 1, steps),
            "steps": (rows, steps + 1),
            "rank": (rows, steps, 1),
        }[change]
        masks[wrong] = np.ones(shape, bool)
        layer = row.make()
        for batch in ((inputs, masks), (symbols(inputs), symbols(masks))):
            with pytest.raises(ValueError) as raised:
                run(layer, *batch)
            assert str((rows, steps)) in str(raised.value)
            assert str(shape) in str(raised.value)

"""Law 4: computed, symbolic and actual shapes agree at any length."""

import keras
import pytest

from tests.conformance.table import run
from tests.conformance.table import symbols
from tests.conformance.test_saving import feed
from tests.conformance.test_saving import functional
from tests.conformance.test_saving import other_batch


def shapes(tensors):
    return [tuple(x.shape) for x in keras.tree.flatten(tensors)]


def test_computed_shape_is_the_actual_one(row):
    layer = row.make()
    inputs, masks = row.batch()
    sizes = row.input_shapes
    computed = layer.compute_output_shape(
        sizes[0] if len(sizes) == 1 else sizes
    )
    if isinstance(computed[0], (int, type(None))):
        computed = [computed]
    assert [tuple(x) for x in computed] == shapes(run(layer, inputs, masks))


def test_symbolic_shape_is_the_actual_one(row, policy):
    layer = row.make()
    inputs, masks = row.batch()
    asked = {"return_shares": True} if row.takes("return_shares") else {}
    symbolic = run(layer, symbols(inputs), symbols(masks), scores=True, **asked)
    actual = run(layer, inputs, masks, scores=True, **asked)
    assert shapes(symbolic) == shapes(actual)
    for symbol, tensor in zip(symbolic, actual, strict=True):
        assert symbol.dtype == keras.backend.standardize_dtype(tensor.dtype)


def test_shapes_of_scores_need_no_trace(row, monkeypatch):
    if not row.gives_scores and not row.takes("return_shares"):
        pytest.skip("a layer that says one shape is not traced by Keras")
    inputs, masks = row.batch()
    layer = row.make()
    # The shared layer's too.
    for each in (layer, getattr(layer, "layer", layer)):
        monkeypatch.setattr(each, "call", None)
    asked = {"return_shares": True} if row.takes("return_shares") else {}
    assert run(layer, symbols(inputs), symbols(masks), scores=True, **asked)


def test_unknown_batch_and_steps(row):
    model = functional(row, row.make())
    for tensor, axes in zip(model.outputs, row.steps, strict=True):
        assert tensor.shape[0] is None
        for axis, size in enumerate(tensor.shape[1:], start=1):
            assert (size is None) == (axis in axes)
    batch, other = feed(row, *row.batch()), feed(row, *other_batch(row))
    assert shapes(model(batch)) != shapes(model(other))


@pytest.mark.usefixtures("tensorflow_only")
def test_one_trace_serves_all_lengths(row):
    import tensorflow as tf

    model = functional(row, row.make())
    traces = []

    @tf.function(
        input_signature=[
            [tf.TensorSpec(x.shape, x.dtype) for x in model.inputs]
        ]
    )
    def call(batch):
        traces.append(1)
        return model(batch)

    call(feed(row, *row.batch()))
    call(feed(row, *other_batch(row)))
    assert len(traces) == 1

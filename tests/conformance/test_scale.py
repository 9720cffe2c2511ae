"""Law 12: values and gradients hold at any scale.

From no step to thousands, from scores that round to 1 to logits past half
precision, on every backend.
"""

import numpy as np
import pytest
from keras import ops

from tests.conformance.objective import coefficients
from tests.conformance.objective import layer_objective
from tests.conformance.objective import reference_of_arrays
from tests.conformance.table import penalty_of
from tests.conformance.table import run
from tests.gradients import finite_differences

# By how much kernels are multiplied that scores are made of. Those of the
# feed-forward networks count four times in a product of their outputs.
SATURATED = {
    "score_kernel": 40.0,
    "attend_kernel": 6.0,
    "attention_kernel": 6.0,
}
LARGE = {"score_kernel": 1e5, "attend_kernel": 60.0, "attention_kernel": 60.0}


def skip_without_attention(row):
    if not row.gives_scores or not row.weights:
        pytest.skip("the layer has no weights that scores are made of")


def rounded(array):
    """The nearest numbers that bfloat16 and, if not too large, float16 hold."""
    half = ops.cast(ops.convert_to_tensor(array), "bfloat16")
    return ops.convert_to_numpy(ops.cast(half, "float32"))


def make_scaled(row, factors):
    layer = row.make()
    for weight in layer.trainable_weights:
        name = weight.path.split("/")[-1]
        scale = next((f for k, f in factors.items() if name.startswith(k)), 1)
        weight.assign(rounded(scale * ops.convert_to_numpy(weight)))
    return layer


def arrays_of(tensors):
    return [ops.convert_to_numpy(ops.cast(x, "float32")) for x in tensors]


def check_gradients(row, layer, inputs, masks, tolerance):
    """Gradients of all that a layer gives, against the float64 reference.

    The tolerance is a share of the largest entry of each gradient.
    """
    weights = arrays_of(layer.trainable_weights)
    result = row.solve(weights, inputs, masks)
    factors = coefficients([x.shape for x in result.outputs + result.scores])
    value, gradients = layer_objective(row, layer, inputs, masks, factors)
    arrays, reference = reference_of_arrays(
        row, weights, inputs, masks, factors
    )
    expected = reference(arrays)
    np.testing.assert_allclose(
        value, expected, rtol=tolerance, atol=tolerance * 10
    )
    for gradient, difference in zip(
        gradients, finite_differences(reference, arrays), strict=True
    ):
        np.testing.assert_allclose(
            gradient,
            difference,
            rtol=0,
            atol=tolerance * max(np.abs(difference).max(), 0.1),
        )
    return result


TOLERANCES = {"float32": 2e-3, "mixed_float16": 0.02, "mixed_bfloat16": 0.15}


def test_one_step(row, policy):
    if not row.takes_mask:
        pytest.skip("the layer takes no mask")
    layer = make_scaled(row, {})
    inputs, masks = row.batch()
    inputs = [rounded(each) for each in inputs]
    for number, mask in enumerate(masks):
        mask[:] = False
        # Another step in each row, and none in the last.
        for b in range(len(mask) - 1):
            mask[b, (b + number) % mask.shape[1]] = True
    check_gradients(row, layer, inputs, masks, TOLERANCES[policy])


def clear_batch(row, layer):
    """A batch of which hidden units of 16 bits don't blur the scores.

    Of each sentence two steps count, and scores stay as they are where the
    weights are a little others: by a thousandth is too much, as the gradient
    of a score near 1 is in proportion to what it lacks.
    """
    weights = arrays_of(layer.trainable_weights)
    rng = np.random.default_rng(0)
    others = [
        [w * rng.uniform(0.98, 1.02, w.shape) for w in weights]
        for _ in range(3)
    ]
    for seed in range(1000):
        inputs, masks = row.batch(seed)
        inputs = [rounded(each) for each in inputs]
        for mask in masks:
            mask &= np.cumsum(mask, axis=1) <= 2
        scores = scores_of(row, row.solve(weights, inputs, masks))
        if all(
            np.abs(scores_of(row, row.solve(w, inputs, masks)) - scores).max()
            < 1e-4
            for w in others
        ):
            return inputs, masks
    raise AssertionError("no batch has clear scores")


def scores_of(row, result):
    scores = result.scores or result.outputs[1::2]
    return np.concatenate([each.ravel() for each in scores])


@pytest.mark.parametrize("factors", [SATURATED, LARGE], ids=["one", "large"])
def test_scores_that_round_to_one(row, policy, factors):
    skip_without_attention(row)
    layer = make_scaled(row, factors)
    inputs, masks = row.batch()
    if policy == "mixed_bfloat16":
        inputs, masks = clear_batch(row, layer)
    inputs = [rounded(each) for each in inputs]
    result = check_gradients(row, layer, inputs, masks, TOLERANCES[policy])
    assert (scores_of(row, result).astype("float32") == 1).any()


@pytest.mark.parametrize("lacking", ["rows", "steps"])
def test_nothing_gives_zeros(row, policy, lacking):
    if lacking == "steps" and not row.takes_mask and not row.ids:
        pytest.skip("the layer has no steps")
    layer = row.make()
    inputs, masks = row.batch()
    full = run(layer, inputs, masks, scores=True)
    cut = (slice(0),) if lacking == "rows" else (slice(None), slice(0))
    inputs, masks = [x[cut] for x in inputs], [m[cut] for m in masks]
    outputs = run(layer, inputs, masks, scores=True)
    for output, whole, axes in zip(outputs, full, row.steps, strict=True):
        expected = list(whole.shape)
        if lacking == "rows":
            expected[0] = 0
        else:
            for axis in axes:
                expected[axis] = 0
        assert list(output.shape) == expected
        assert output.dtype == whole.dtype
        assert (ops.convert_to_numpy(ops.cast(output, "float32")) == 0).all()
    assert np.isfinite(penalty_of(layer)) if row.penalties else True
    factors = coefficients([tuple(x.shape) for x in outputs])
    _, gradients = layer_objective(row, layer, inputs, masks, factors)
    for gradient in gradients:
        assert np.isfinite(gradient).all()


@pytest.mark.usefixtures("tensorflow_only")
@pytest.mark.parametrize("lacking", ["rows", "steps"])
def test_nothing_gives_zeros_in_a_graph_of_any_size(row, lacking):
    import tensorflow as tf

    from tests.conformance.test_saving import feed
    from tests.conformance.test_saving import functional

    if lacking == "steps" and not row.takes_mask and not row.ids:
        pytest.skip("the layer has no steps")
    if lacking in row.needed_in_graph:
        pytest.skip(f"TensorFlow's own ops need {lacking} in a graph")
    model = functional(row, row.make())
    signature = [tf.TensorSpec(x.shape, x.dtype) for x in model.inputs]
    graph = tf.function(model, input_signature=[signature])
    inputs, masks = row.batch()
    cut = (slice(0),) if lacking == "rows" else (slice(None), slice(0))
    batch = feed(row, [x[cut] for x in inputs], [m[cut] for m in masks])
    for output, expected in zip(graph(batch), model(batch), strict=True):
        assert output.shape == expected.shape
        assert not output.numpy().any()


LONG = {"IntraSentenceAttention": 1500}


def test_thousands_of_steps(row):
    if not row.gives_scores:
        pytest.skip("the layer gives no scores")
    layer = row.make()
    steps = LONG.get(row.layer.__name__, 20_000)
    rng = np.random.default_rng(3)
    inputs, masks = [], []
    for number, shape in enumerate(row.input_shapes):
        # The products of all steps of both sides would not fit.
        n = steps if number == 0 else 7
        inputs.append(rng.normal(size=(1, n, *shape[2:])).astype("float32"))
        masks.append(rng.random((1, n)) < 0.9)
    weights = arrays_of(layer.trainable_weights)
    outputs = run(layer, inputs, masks, scores=True)
    expected = row.solve(weights, inputs, masks)
    for output, reference in zip(
        outputs, expected.outputs + expected.scores, strict=True
    ):
        scale = np.abs(reference).max()
        np.testing.assert_allclose(
            ops.convert_to_numpy(output), reference, rtol=0, atol=1e-4 * scale
        )
    if row.penalties:
        np.testing.assert_allclose(
            penalty_of(layer), expected.penalty, rtol=1e-4, atol=1e-6
        )

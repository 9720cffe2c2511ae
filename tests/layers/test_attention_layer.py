"""Attention in half precision, past the largest number of float16."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers
from tests.gradients import value_and_gradients

STEPS = np.random.default_rng(0).normal(0, 1e4, (2, 5, 4)).astype("float16")


@pytest.fixture
def mixed_float16():
    keras.config.set_dtype_policy("mixed_float16")
    yield
    keras.config.set_dtype_policy("float32")


@pytest.mark.usefixtures("mixed_float16")
@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.StructuredSelfAttention(7, 2),
        lambda: layers.GeneralizedPooling(7, 2),
        lambda: layers.IntraSentenceAttention((7, 6)),
        lambda: layers.DecomposableAttention((7, 6), (5,)),
    ],
    ids=["structured", "generalized", "intra", "decomposable"],
)
def test_inputs_of_ten_thousand(make):
    layer = make()
    pair = isinstance(layer, layers.DecomposableAttention)
    scale = 1.0
    if pair:
        # Its outputs are sums over the words, and in float16 themselves.
        scale = 1e-3
    inputs = keras.Variable(STEPS, dtype="float32")

    def call():
        x = ops.convert_to_tensor(inputs)
        return layer((x, x[:, :3]) if pair else x)

    call()
    for weight in layer.weights:
        name = weight.path.split("/")[-1]
        if name.startswith("compare_kernel"):
            weight.assign(scale * weight)
    output = call()
    assert keras.backend.standardize_dtype(output.dtype) == "float16"
    assert np.isfinite(ops.convert_to_numpy(output)).all()
    factors = np.random.default_rng(1).normal(size=tuple(output.shape))
    value, gradients = value_and_gradients(
        lambda: ops.sum(
            ops.cast(call(), "float32")
            * ops.convert_to_tensor(factors.astype("float32"))
        ),
        [inputs, *layer.trainable_weights],
    )
    assert np.isfinite(value)
    for gradient in gradients:
        assert np.isfinite(gradient).all()


def test_the_gradient_of_a_bias_is_the_sum_over_many_steps():
    inputs = np.ones((2, 2000, 3), "float32")
    found = []
    for dtype in ("float32", "mixed_bfloat16"):
        layer = layers.StructuredSelfAttention(
            4, 2, use_bias=True, kernel_initializer="zeros", dtype=dtype
        )
        layer.build(inputs.shape)
        _, (gradient,) = value_and_gradients(
            lambda layer=layer: ops.sum(
                ops.cast(
                    layer.affine(
                        ops.convert_to_tensor(inputs),
                        layer.hidden_kernel,
                        layer.hidden_bias,
                    ),
                    "float32",
                )
            ),
            [layer.hidden_bias],
        )
        found.append(ops.convert_to_numpy(gradient))
    np.testing.assert_allclose(found[0], [4000.0] * 4)
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)

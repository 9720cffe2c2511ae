"""Kernels that are stacks of matrices, each of them as `keras.layers.Dense`'s.

And what the arguments of kernels and biases do in every layer that has some.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers
from keras_selfattn.layers.kernel_layer import KernelLayer
from tests.conformance.table import ROWS

KERNEL_ROWS = [row for row in ROWS if issubclass(row.layer, KernelLayer)]
STACKS = {
    "generalized": (layers.GeneralizedPooling, (7, 2), (None, None, 4)),
    "pruned": (layers.PrunedDense, (5, 6), (None, 2, 4)),
    "gated": (layers.GatedEncoder, (5,), [(None, 2, 4)] * 2),
}


@pytest.fixture(params=STACKS)
def stacked(request):
    """Makes a layer of stacked kernels, built."""
    layer, sizes, shape = STACKS[request.param]

    def make(**kwargs):
        made = layer(*sizes, **kwargs)
        made.build(shape)
        return made

    return make


def weights(layer, role):
    return [w for w in layer.trainable_weights if role in w.name]


def matrices(kernel):
    return ops.convert_to_numpy(kernel)


def numbers(shape):
    return np.random.default_rng(0).normal(0, 3, shape).astype("float32")


def halved_where_large(kernel):
    """A constraint that looks at the values."""
    if ops.convert_to_numpy(kernel).max() > 2:
        return kernel / 2
    return kernel


@pytest.mark.parametrize(
    "constraint",
    [
        "unit_norm",
        keras.constraints.MaxNorm(1.5),
        "non_neg",
        halved_where_large,
    ],
    ids=["unit", "maximum", "sign", "looks"],
)
def test_a_constraint_is_that_of_each_matrix(stacked, constraint):
    layer = stacked(kernel_constraint=constraint, bias_constraint=constraint)
    own = keras.constraints.get(constraint)
    for weight in layer.trainable_weights:
        weight.assign(numbers(weight.shape))
        # A bias is a vector for each matrix.
        expected = [
            ops.convert_to_numpy(own(part))
            for part in ops.convert_to_numpy(weight)
        ]
        received = ops.convert_to_numpy(weight.constraint(weight))
        np.testing.assert_allclose(received, expected, rtol=1e-5)


def test_columns_of_each_matrix_get_the_norm_of_one(stacked):
    layer = stacked(kernel_constraint="unit_norm")
    for kernel in weights(layer, "kernel"):
        kernel.assign(numbers(kernel.shape))
        norms = np.linalg.norm(matrices(kernel.constraint(kernel)), axis=1)
        np.testing.assert_allclose(norms, 1.0, rtol=1e-5)


def test_a_stack_of_one_is_a_stack():
    layer = layers.GeneralizedPooling(
        7, 1, kernel_constraint="unit_norm", kernel_initializer="identity"
    )
    layer.build((None, None, 4))
    kernel = layer.hidden_kernel
    np.testing.assert_array_equal(matrices(kernel), [np.eye(4, 7)])
    kernel.assign(numbers(kernel.shape))
    norms = np.linalg.norm(matrices(kernel.constraint(kernel)), axis=1)
    np.testing.assert_allclose(norms, 1.0, rtol=1e-5)


def test_training_keeps_to_the_constraint_of_each_matrix():
    inputs = keras.Input((2, 4))
    layer = layers.PrunedDense(5, kernel_constraint="unit_norm")
    model = keras.Model(inputs, layer(inputs))
    model.compile(keras.optimizers.SGD(0.5), "mse")
    x, y = numbers((3, 2, 4)), numbers((3, 2, 5))
    model.fit(x, y, epochs=1, verbose=0)
    norms = np.linalg.norm(matrices(layer.row_kernel), axis=1)
    np.testing.assert_allclose(norms, 1.0, rtol=1e-5)


def test_the_constraint_given_is_kept(stacked):
    layer = stacked(kernel_constraint=keras.constraints.MaxNorm(1.5))
    assert isinstance(layer.kernel_constraint, keras.constraints.MaxNorm)
    copy = type(layer).from_config(layer.get_config())
    assert copy.kernel_constraint.get_config() == {"max_value": 1.5, "axis": 0}


@pytest.mark.parametrize(
    "initializer",
    ["orthogonal", keras.initializers.OrthogonalInitializer(seed=3)],
    ids=["drawn", "seeded"],
)
def test_each_matrix_starts_orthogonal(stacked, initializer):
    layer = stacked(kernel_initializer=initializer)
    for kernel in weights(layer, "kernel"):
        first, second, *_ = matrices(kernel)
        assert np.abs(first - second).max() > 0.01
        for matrix in matrices(kernel):
            tall = matrix if len(matrix) >= matrix.shape[1] else matrix.T
            np.testing.assert_allclose(
                tall.T @ tall, np.eye(tall.shape[1]), atol=1e-5
            )


def test_an_orthogonal_start_repeats_itself(stacked):
    def values():
        return [ops.convert_to_numpy(weight) for weight in layer.weights]

    seeded = keras.initializers.OrthogonalInitializer(seed=3)
    for initializer, seed in ((seeded, None), ("orthogonal", 5)):
        starts = []
        for _ in range(2):
            if seed is not None:
                keras.utils.set_random_seed(seed)
            layer = stacked(kernel_initializer=initializer)
            starts.append(values())
        for first, second in zip(*starts, strict=True):
            np.testing.assert_array_equal(first, second)


def test_a_generator_of_seeds_draws_each_matrix_anew(stacked):
    layer = stacked(
        kernel_initializer=keras.initializers.OrthogonalInitializer(
            seed=keras.random.SeedGenerator(3)
        )
    )
    for kernel in weights(layer, "kernel"):
        first, second, *_ = matrices(kernel)
        assert np.abs(first - second).max() > 0.01


def test_each_matrix_may_start_as_the_identity(stacked):
    layer = stacked(kernel_initializer="identity")
    for kernel in weights(layer, "kernel"):
        for matrix in matrices(kernel):
            np.testing.assert_array_equal(matrix, np.eye(*matrix.shape))


@pytest.mark.parametrize("row", KERNEL_ROWS, ids=str)
def test_arguments_of_kernels_and_biases_reach_their_weights(row):
    arguments = {
        "kernel_regularizer": keras.regularizers.L2(0.5),
        "bias_regularizer": keras.regularizers.L1(0.25),
        "kernel_constraint": keras.constraints.NonNeg(),
        "bias_constraint": keras.constraints.MaxNorm(1.5),
    }
    layer = row.make(**row.without_penalties(), **arguments)
    kernels, biases = weights(layer, "kernel"), weights(layer, "bias")
    assert kernels
    assert bool(biases) == any("bias" in name for name in row.weights)
    expected = [0.5 * np.sum(matrices(each) ** 2) for each in kernels]
    expected += [0.25 * np.abs(matrices(each)).sum() for each in biases]
    losses = [float(ops.convert_to_numpy(loss)) for loss in layer.losses]
    np.testing.assert_allclose(sorted(losses), sorted(expected), rtol=1e-5)
    for kernel in kernels:
        assert matrices(kernel).min() < 0
        assert matrices(kernel.constraint(kernel)).min() == 0
    for bias in biases:
        bias.assign(np.full(bias.shape, 9.0))
        norms = np.linalg.norm(matrices(bias.constraint(bias)), axis=-1)
        np.testing.assert_allclose(norms, 1.5, rtol=1e-5)
    config = layer.get_config()
    for name, value in arguments.items():
        kept = keras.saving.deserialize_keras_object(config[name])
        assert type(kept) is type(value)
        assert kept.get_config() == value.get_config()

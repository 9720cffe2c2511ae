import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import GeneralizedPooling
from keras_selfattn.layers import MaskedMaxPooling
from keras_selfattn.layers import MaskedMeanPooling
from keras_selfattn.regularizers import HeadDiversity
from tests.gradients import value_and_gradients


@pytest.fixture
def states():
    return np.random.default_rng(0).normal(size=(3, 5, 4)).astype("float32")


@pytest.fixture
def mask():
    return np.array([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1], [0, 0, 1, 0, 0]], bool)


def by_head(layer, states, mask):
    embedding = ops.convert_to_numpy(layer(states, mask=mask))
    return [embedding[:, head] for head in range(layer.num_heads)]


def test_scores_of_zero_are_mean_pooling(states, mask):
    layer = GeneralizedPooling(7, 2)
    layer.build(states.shape)
    layer.score_kernel.assign(np.zeros((2, 7, 4)))
    expected = ops.convert_to_numpy(MaskedMeanPooling()(states, mask=mask))
    for embedding in by_head(layer, states, mask):
        np.testing.assert_allclose(embedding, expected, rtol=1e-5, atol=1e-6)


def test_growing_scores_are_max_pooling(states, mask):
    # relu(H) and relu(-H) as hidden units: their difference is H again.
    layer = GeneralizedPooling(8, 2)
    layer.build(states.shape)
    identity = np.eye(4)
    hidden = np.concatenate([identity, -identity], axis=1)
    layer.hidden_kernel.assign(np.stack([hidden] * 2))
    layer.score_kernel.assign(1e4 * np.stack([hidden.T] * 2))
    expected = ops.convert_to_numpy(MaskedMaxPooling()(states, mask=mask))
    for embedding in by_head(layer, states, mask):
        np.testing.assert_allclose(embedding, expected, rtol=1e-5, atol=1e-6)


def test_equal_score_columns_are_scalar_self_attention(states, mask):
    layer = GeneralizedPooling(7, 2, bias_initializer="random_normal")
    layer.build(states.shape)
    kernel = ops.convert_to_numpy(layer.score_kernel)[:, :, :1]
    layer.score_kernel.assign(np.repeat(kernel, 4, axis=2))
    _, scores = layer(states, mask=mask, return_attention_scores=True)
    scores = ops.convert_to_numpy(scores)
    np.testing.assert_allclose(
        scores, np.repeat(scores[..., :1], 4, axis=-1), atol=1e-6
    )
    expected = np.einsum("bit,btd->bid", scores[..., 0], states)
    np.testing.assert_allclose(
        ops.convert_to_numpy(layer(states, mask=mask)),
        expected,
        rtol=1e-5,
        atol=1e-6,
    )


def test_without_bias_there_are_two_kernels(states):
    layer = GeneralizedPooling(7, 2, use_bias=False)
    layer(states)
    assert [weight.name for weight in layer.weights] == [
        "hidden_kernel",
        "score_kernel",
    ]


def test_heads_start_apart_and_at_the_scale_of_one_matrix():
    layer = GeneralizedPooling(30, 5)
    layer.build((None, None, 20))
    kernel = ops.convert_to_numpy(layer.hidden_kernel)
    limit = np.sqrt(6 / (20 + 30))
    assert 0.9 * limit < np.abs(kernel).max() < 1.001 * limit
    assert np.abs(kernel[0] - kernel[1]).max() > 0.1 * limit


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_parameter_penalty_keeps_float32_differences(states, dtype):
    layer = GeneralizedPooling(
        7, 2, parameter_regularizer=HeadDiversity(1.0), dtype=dtype
    )
    layer.build(states.shape)
    head = np.random.default_rng(1).normal(size=(1, 4, 7))
    kernel = np.concatenate([head, 1.0001 * head]).astype("float32")
    layer.hidden_kernel.assign(kernel)

    def penalty():
        layer(states)
        return layer.losses[0]

    _, (gradient,) = value_and_gradients(penalty, [layer.hidden_kernel])
    difference = kernel[0] - kernel[1]
    expected = np.stack([-2 * difference, 2 * difference])
    np.testing.assert_allclose(gradient, expected, rtol=0.02, atol=2e-6)


def test_any_regularizer_serves(states):
    layer = GeneralizedPooling(
        7,
        2,
        parameter_regularizer="l2",
        attention_regularizer=keras.regularizers.L1(1.0),
        embedding_regularizer=keras.regularizers.L2(0.5),
    )
    embedding = ops.convert_to_numpy(layer(states))
    parameter, attention, pooled = map(ops.convert_to_numpy, layer.losses)
    kernel = ops.convert_to_numpy(layer.hidden_kernel)
    np.testing.assert_allclose(parameter, 0.01 * (kernel**2).sum(), rtol=1e-5)
    # Scores of 1 for each sentence, head and feature.
    np.testing.assert_allclose(attention, 3 * 2 * 4, rtol=1e-5)
    np.testing.assert_allclose(pooled, 0.5 * (embedding**2).sum(), rtol=1e-5)

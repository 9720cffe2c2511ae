import itertools

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import regularizers
from keras_selfattn.regularizers import Ambiguity
from keras_selfattn.regularizers import HeadDiversity
from keras_selfattn.regularizers import Orthogonality
from tests.gradients import value_and_gradients


def naive(heads, factor, margin):
    """The penalty of equation 7 and its gradient, pair by pair."""
    heads = np.asarray(heads, dtype="float64")
    total, gradient = 0.0, np.zeros_like(heads)
    for b, sentence in enumerate(heads):
        for i, j in itertools.combinations(range(len(sentence)), 2):
            difference = sentence[i] - sentence[j]
            room = margin - (difference**2).sum()
            if room > 0:
                total += room
                gradient[b, i] -= 2 * difference
                gradient[b, j] += 2 * difference
    return factor * total / len(heads), factor * gradient / len(heads)


def penalty_and_gradient(regularizer, heads):
    variable = keras.Variable(heads, dtype="float32")
    value, (gradient,) = value_and_gradients(
        lambda: regularizer(ops.convert_to_tensor(variable)), [variable]
    )
    return value, gradient


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 4, 3, 5), (1, 5, 7, 6)])
@pytest.mark.parametrize("margin", [0.5, 8.0, 60.0])
def test_diversity_is_the_sum_over_pairs(shape, margin):
    heads = np.random.default_rng(0).normal(size=shape)
    value, gradient = penalty_and_gradient(HeadDiversity(0.3, margin), heads)
    expected, slope = naive(heads, 0.3, margin)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-6)


def test_diversity_of_heads_that_barely_differ():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(2, 1, 500))
    # Squared norms of about 500, squared distances of about 0.001.
    heads = common * (1 + 1e-3 * rng.normal(size=(2, 3, 500)))
    heads = heads.astype("float32")
    value, gradient = penalty_and_gradient(HeadDiversity(1.0, 0.01), heads)
    expected, slope = naive(heads, 1.0, 0.01)
    assert 0 < expected < 0.03
    np.testing.assert_allclose(value, expected, rtol=1e-4)
    np.testing.assert_allclose(gradient, slope, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("spread", [1, 10, 100, 1000])
def test_diversity_of_two_near_heads_among_far_ones(spread):
    rng = np.random.default_rng(0)
    heads = rng.normal(0, spread, (2, 5, 600))
    # A squared distance of 0.24.
    heads[:, 3] = heads[:, 1] + 0.02 * rng.choice([-1, 1], 600)
    heads = heads.astype("float32")
    value, gradient = penalty_and_gradient(HeadDiversity(0.5), heads)
    expected, slope = naive(heads, 0.5, 1.0)
    np.testing.assert_allclose(expected, 0.5 * 0.76, rtol=1e-3)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-9)


def test_the_differences_of_all_heads_are_never_there_at_once(monkeypatch):
    sizes = []
    differences = regularizers._differences

    def noting(heads, k):
        result = differences(heads, k)
        sizes.append(tuple(result.shape))
        return result

    monkeypatch.setattr(regularizers, "_differences", noting)
    penalty_and_gradient(HeadDiversity(), np.ones((2, 4, 7)))
    once = [(2, 3, 7), (2, 2, 7), (2, 1, 7)]
    # Once for the penalty, and once more for its gradient.
    assert sizes == 2 * once


@pytest.mark.parametrize(
    ("regularizer", "shape"),
    [(Orthogonality(), (0, 2, 3)), (HeadDiversity(), (0, 2, 3, 4))],
)
def test_an_empty_batch_has_no_penalty(regularizer, shape):
    value, gradient = penalty_and_gradient(regularizer, np.zeros(shape))
    assert value == 0
    assert gradient.shape == shape


def test_diversity_of_equal_heads():
    head = np.random.default_rng(0).normal(size=(2, 1, 3, 5))
    value, gradient = penalty_and_gradient(
        HeadDiversity(0.5, 2.0), np.repeat(head, 4, axis=1)
    )
    np.testing.assert_allclose(value, 0.5 * 2.0 * 6, rtol=1e-5)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-5)


def test_diversity_of_one_head_is_zero():
    assert float(HeadDiversity()(np.ones((2, 1, 3)))) == 0


def test_diversity_of_half_precision_runs_in_float32():
    heads = np.array([[[300.0], [300.5]]], dtype="float16")
    penalty = HeadDiversity(1.0)(ops.convert_to_tensor(heads))
    assert keras.backend.standardize_dtype(penalty.dtype) == "float32"
    np.testing.assert_allclose(float(penalty), 0.75, rtol=1e-6)


def test_orthogonality():
    one_word_each = np.eye(2, 3)[np.newaxis]
    assert float(Orthogonality()(one_word_each)) == 0
    scores = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]]])
    # Squares of [[-1, 1], [1, -1]] / 2, and of [[0, 1], [1, 0]].
    assert float(Orthogonality(3.0)(scores)) == 3 * (1 + 2) / 2


@pytest.mark.parametrize(
    ("regularizer", "shape"),
    [(Orthogonality(), (2, 3)), (HeadDiversity(), (2, 3))],
)
def test_wrong_ranks(regularizer, shape):
    with pytest.raises(ValueError, match=r"num_heads.*\(2, 3\)"):
        regularizer(np.ones(shape))


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", True])
def test_wrong_arguments(value):
    for kind in (Orthogonality, HeadDiversity):
        with pytest.raises(ValueError, match=f"`factor`.*factor={value!r}"):
            kind(factor=value)
    with pytest.raises(ValueError, match=f"`margin`.*margin={value!r}"):
        HeadDiversity(margin=value)


@pytest.mark.parametrize(
    "regularizer", [Orthogonality(0.3), HeadDiversity(0.2, 3.0)]
)
def test_configs_survive(regularizer):
    config = keras.regularizers.serialize(regularizer)
    copy = keras.regularizers.deserialize(config)
    assert type(copy) is type(regularizer)
    assert copy.get_config() == regularizer.get_config()


def cross_entropies(logits, labels):
    """Of each row, and their gradient in the logits."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    exponentials = np.exp(logits)
    probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
    rows = np.arange(len(labels))
    slope = probabilities.copy()
    slope[rows, labels] -= 1
    return -np.log(probabilities[rows, labels]), slope


@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 4, 2), (1, 2, 4)])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_with_the_cross_entropy_of_the_sum_each_part_learns_alone(shape, scale):
    rng = np.random.default_rng(0)
    parts = scale * rng.normal(size=shape)
    labels = rng.integers(shape[2], size=shape[1])
    value, gradient = penalty_and_gradient(Ambiguity(0.5), parts)
    together, slope = cross_entropies(parts.sum(axis=0), labels)
    alone = [cross_entropies(len(parts) * part, labels) for part in parts]
    expected = np.mean([costs for costs, _ in alone], axis=0) - together
    np.testing.assert_allclose(
        value, 0.5 * expected.mean(), rtol=1e-4, atol=1e-6
    )
    for found, (_, own) in zip(gradient, alone, strict=True):
        np.testing.assert_allclose(
            found, 0.5 * (own - slope) / len(labels), rtol=1e-4, atol=1e-6
        )


def test_parts_that_agree_are_not_ambiguous():
    logits = np.random.default_rng(0).normal(size=(1, 4, 3))
    agreeing = np.concatenate([logits, logits + 7.0])
    value, _ = penalty_and_gradient(Ambiguity(), agreeing)
    np.testing.assert_allclose(value, 0.0, atol=1e-5)


def test_ambiguity_of_no_rows_is_none():
    assert float(Ambiguity()(np.zeros((2, 0, 3), "float32"))) == 0.0


def test_ambiguity_takes_logits_of_parts():
    with pytest.raises(
        ValueError, match=r"\(parts, batch, num_classes\).*3, 4"
    ):
        Ambiguity()(np.zeros((3, 4)))

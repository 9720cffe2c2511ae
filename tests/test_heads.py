import numpy as np
import pytest
from keras import ops

from keras_selfattn import heads

# Two heads that agree and spread, one that looks elsewhere.
SCORES = np.array([[[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]]])


def test_overlap_is_the_weight_that_heads_share():
    # Products would say 0.5 of the two that are equal.
    assert heads.overlap(SCORES)[0] == pytest.approx([0.625, 0.625, 0.25])
    assert heads.overlap(SCORES[:, :1]).tolist() == [[0]]


def test_overlap_of_a_batch_is_that_of_each_text():
    scores = np.random.default_rng(0).dirichlet(np.ones(7), (2, 4))
    each = [heads.overlap(text) for text in scores]
    np.testing.assert_allclose(heads.overlap(scores), each)
    pairs = [
        np.minimum(a, b).sum()
        for i, a in enumerate(scores[0])
        for b in scores[0][i + 1 :]
    ]
    assert each[0].mean() == pytest.approx(np.mean(pairs))


def test_penalties_of_the_heads_add_up_to_the_papers():
    products = SCORES[0] @ SCORES[0].T
    expected = np.linalg.norm(products - np.eye(3)) ** 2
    assert heads.penalty(SCORES).sum() == pytest.approx(expected)
    first = (0.5 - 1) ** 2 + 0.5**2 + 0.125**2
    assert heads.penalty(SCORES)[0, 0] == pytest.approx(first)


def test_effective_number():
    scores = np.array([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]])
    # Eigenvalues 2/3 and 1/3.
    assert heads.effective_number(scores) == pytest.approx(3 / 2 ** (2 / 3))


def test_entropy():
    found = heads.entropy(np.array([[1, 0, 0], [0, 0.5, 0.5]])).tolist()
    assert found == pytest.approx([0, np.log(2)])


def test_features_count_with_their_mean():
    scores = np.arange(8.0).reshape(1, 1, 4, 2)
    assert heads.of_words(scores).tolist() == [[[0.5, 2.5, 4.5, 6.5]]]
    assert heads.of_words(scores[..., 0]).tolist() == [[[0, 2, 4, 6]]]
    # A served graph has tensors, which stay tensors.
    tensor = ops.convert_to_tensor(scores, "float32")
    found = heads.of_words(tensor)
    assert ops.is_tensor(found)
    assert ops.convert_to_numpy(found).tolist() == [[[0.5, 2.5, 4.5, 6.5]]]
    assert heads.of_words(found) is found

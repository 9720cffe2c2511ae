"""`StructuredSelfAttention` on numbers one can check by hand."""

import numpy as np
from keras import ops

from keras_selfattn import layers
from keras_selfattn.regularizers import Orthogonality


def by_hand(**kwargs):
    """Hidden units tanh(x), and scores 3^(tanh x / tanh 1) and its inverse."""
    layer = layers.StructuredSelfAttention(1, 2, **kwargs)
    layer.build((None, None, 2))
    layer.hidden_kernel.assign([[1.0], [0.0]])
    slope = np.log(3.0) / np.tanh(1.0)
    layer.score_kernel.assign([[slope, -slope]])
    return layer


def test_by_hand():
    states = np.array([[[1.0, 8.0], [0.0, 4.0], [5.0, 99.0]]], "float32")
    mask = np.array([[True, True, False]])
    embedding, scores = by_hand()(
        states, mask=mask, return_attention_scores=True
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(scores),
        [[[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]]],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(embedding), [[[0.75, 7.0], [0.25, 5.0]]], rtol=1e-5
    )


def test_penalty_by_hand():
    layer = by_hand(attention_regularizer=Orthogonality(2.0))
    layer(np.array([[[1.0, 8.0], [0.0, 4.0]]], "float32"))
    # A Aᵀ is [[0.625, 0.375], [0.375, 0.625]]: four squares of 0.375.
    (loss,) = layer.losses
    np.testing.assert_allclose(
        ops.convert_to_numpy(loss), 2 * 4 * 0.375**2, rtol=1e-5
    )


def test_without_bias_there_are_two_kernels():
    layer = layers.StructuredSelfAttention(7, 2)
    layer.build((None, None, 4))
    assert [weight.name for weight in layer.weights] == [
        "hidden_kernel",
        "score_kernel",
    ]


def test_the_mask_of_the_inputs_is_used():
    words = layers.WordEmbedding(5, 2)
    layer = by_hand()
    ids = np.array([[3, 0, 0], [1, 2, 4]])
    _, scores = layer(
        words(ops.convert_to_tensor(ids)), return_attention_scores=True
    )
    scores = ops.convert_to_numpy(scores)
    assert scores[0].tolist() == [[1.0, 0.0, 0.0]] * 2
    assert (scores[1] > 0).all()

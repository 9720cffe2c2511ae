import keras
import numpy as np
from keras import ops

from keras_selfattn.layers import IntraSentenceAttention


def distance_only(max_distance):
    """A layer whose scores depend on the distances alone."""
    layer = IntraSentenceAttention((2,), max_distance)
    layer.build((None, None, 3))
    for kernel in layer.attention[0]:
        kernel.assign(np.zeros(kernel.shape))
    return layer


def scores_of(layer, steps, mask=None):
    words = np.ones((1, steps, 3), "float32")
    _, scores = layer(words, mask=mask, return_attention_scores=True)
    return ops.convert_to_numpy(scores)[0]


def test_long_distances_share_the_last_bias():
    layer = distance_only(1)
    # Distances of -1, 0 and 1, then all that are longer.
    layer.distance_bias.assign(np.log([2.0, 3.0, 4.0, 5.0]))
    # The distance is i - j: the word ahead is at -1.
    np.testing.assert_allclose(
        scores_of(layer, 4),
        [
            [3 / 15, 2 / 15, 5 / 15, 5 / 15],
            [4 / 14, 3 / 14, 2 / 14, 5 / 14],
            [5 / 14, 4 / 14, 3 / 14, 2 / 14],
            [5 / 17, 5 / 17, 4 / 17, 3 / 17],
        ],
        rtol=1e-5,
    )


def test_distances_skip_masked_steps():
    layer = distance_only(1)
    layer.distance_bias.assign(np.log([2.0, 3.0, 4.0, 5.0]))
    mask = np.array([[0, 1, 0, 1]], bool)
    np.testing.assert_allclose(
        scores_of(layer, 4, mask)[np.ix_([1, 3], [1, 3])],
        [[3 / 5, 2 / 5], [4 / 7, 3 / 7]],
        rtol=1e-5,
    )


def test_ten_words_by_default():
    layer = distance_only(10)
    assert tuple(layer.distance_bias.shape) == (22,)
    bias = np.zeros(22)
    bias[-1] = -1e9
    layer.distance_bias.assign(bias)
    scores = scores_of(layer, 13)
    assert (scores[0, :11] > 0).all()
    assert (scores[0, 11:] == 0).all()
    assert (scores[12, :2] == 0).all()
    assert (scores[12, 2:] > 0).all()


def test_outputs_keep_the_mask():
    embedding = keras.layers.Embedding(9, 3, mask_zero=True)
    words = embedding(np.array([[3, 4, 0]]))
    outputs = IntraSentenceAttention((2,))(words)
    pooled = keras.layers.GlobalAveragePooling1D()(outputs)
    np.testing.assert_allclose(
        ops.convert_to_numpy(pooled),
        ops.convert_to_numpy(outputs)[:, :2].mean(1),
        rtol=1e-5,
    )
    assert (ops.convert_to_numpy(outputs)[0, 2] == 0).all()

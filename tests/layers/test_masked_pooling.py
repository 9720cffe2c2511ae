"""What the poolings do beyond the laws: ties, negatives, lone steps."""

import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers

STATES = np.array(
    [[[9.0, 9.0], [-3.0, -5.0], [9.0, 9.0], [-4.0, -2.0]]], "float32"
)
MASK = np.array([[False, True, False, True]])


@pytest.mark.parametrize(
    "layer, pooled, shares",
    [
        (layers.MaskedMaxPooling, [-3.0, -2.0], [0, 0.5, 0, 0.5]),
        (layers.MaskedMeanPooling, [-3.5, -3.5], [0, 0.5, 0, 0.5]),
        (layers.LastPooling, [-4.0, -5.0], [0, 0.5, 0, 0.5]),
    ],
)
def test_by_hand(layer, pooled, shares):
    received = layer()(STATES, mask=MASK, return_attention_scores=True)
    received = [ops.convert_to_numpy(x).tolist() for x in received]
    assert received == [[pooled], [[shares]]]


@pytest.mark.parametrize(
    "layer",
    [layers.MaskedMaxPooling, layers.MaskedMeanPooling, layers.LastPooling],
)
def test_a_lone_step_has_all_the_weight(layer):
    only = np.array([[False, True, False, False]])
    pooled, shares = layer()(STATES, mask=only, return_attention_scores=True)
    assert ops.convert_to_numpy(pooled).tolist() == [[-3.0, -5.0]]
    assert ops.convert_to_numpy(shares).tolist() == [[[0, 1, 0, 0]]]


def test_equal_maxima_count_once():
    states = np.ones((1, 3, 2), "float32")
    _, shares = layers.MaskedMaxPooling()(states, return_attention_scores=True)
    assert float(ops.sum(shares)) == 1.0

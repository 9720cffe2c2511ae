"""Batches whose rows have steps to leave out, and stacks of BiLSTMs."""

import numpy as np

from keras_selfattn import layers

FEATURES = 5
FULL = [1, 1, 1, 1, 1, 1]
MASKS = {
    "none": [FULL] * 4,
    "right": [[1, 1, 0, 0, 0, 0], FULL, [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]],
    "left": [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1], FULL, [0, 1, 1, 1, 1, 1]],
    "holes": [[1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0], FULL],
    "a row without steps": [[1, 1, 0, 1, 0, 0], [0] * 6, FULL, [0] * 6],
    "no step at all": [[0] * 6] * 4,
    "a single row": [[0, 1, 1, 0, 1, 1]],
    "a single row with steps": [[0] * 6, [1, 1, 1, 1, 0, 0], [0] * 6],
}


def words(mask, seed=0):
    """Inputs with NaN wherever nothing may read them."""
    mask = np.array(mask, dtype="bool")
    shape = (*mask.shape, FEATURES)
    inputs = np.random.default_rng(seed).normal(size=shape).astype("float32")
    inputs[~mask] = np.nan
    return inputs, mask


def stacks(units=(3, 2), **arguments):
    """The same weights twice: the fastest code, and the loops of Keras."""
    rng = np.random.default_rng(1)
    found = []
    for implementation in ("auto", "keras"):
        stack = layers.StackedBiLSTM(
            units, implementation=implementation, **arguments
        )
        stack.build((None, None, FEATURES))
        found.append(stack)
    fastest, stock = found
    for weight in fastest.weights:
        weight.assign(rng.normal(0, 0.7, weight.shape))
    stock.set_weights(fastest.get_weights())
    return fastest, stock

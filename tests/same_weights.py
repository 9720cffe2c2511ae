"""Weights that a model has on every backend."""

import math

import numpy as np


def draw_weights(model, seed=0):
    """Draws all weights of a model, the same ones on every backend.

    They are larger than at the start of a training, so that words and texts
    are told apart.
    """
    rng = np.random.default_rng(seed)
    model.set_weights(
        [
            rng.normal(
                0, 1.5 / math.sqrt(math.prod(weight.shape[:-1])), weight.shape
            )
            for weight in model.get_weights()
        ]
    )
    table = model.get_layer("word_vectors").embeddings
    table.assign(rng.normal(size=table.shape))

"""The effect of each word on the answer, by one method or several."""

import numpy as np

from keras_selfattn import validation
from keras_selfattn.effects.gradients import gradient_times_input
from keras_selfattn.effects.leaving_out import leave_one_out

METHODS = ("leave_one_out", "gradient_x_input")


def check(methods):
    """A tuple of methods, or `ValueError` where one is not known.

    Args:
        methods: One of `METHODS`, a sequence of them, or `None`.
    """
    methods = [methods] if isinstance(methods, str) else methods or []
    return tuple(
        validation.one_of(each, METHODS, "effects") for each in methods
    )


def measure(reader, features, methods):
    """The effect of each word on the probability of the predicted label.

    - `"leave_one_out"` asks again without the word, and gives the probability
      that is lost: below 0 where the label is more probable without it. All
      these questions about a text are one batch.
    - `"gradient_x_input"` gives the gradient of the log-probability to the
      word's vector, times the vector. It takes one pass forth and back.

    What is no word, padding and the NULL token, has no effect.

    Args:
        reader: A `Reader`.
        features: Dictionary of arrays as `reader.read` gives them.
        methods: Sequence of names of `METHODS`.

    Returns:
        A dictionary by method of a list of an array `(B, n)` for each
        sentence.

    References:
        - [Li et al., 2016](https://arxiv.org/abs/1612.08220), what is lost
            without a word
        - [Shrikumar et al., 2016](https://arxiv.org/abs/1605.01713),
            gradient × input
    """
    found = {}
    for method in methods:
        if method == "leave_one_out":
            outputs = reader.probabilities(features)
            found[method] = leave_one_out(reader, features, outputs)
        else:
            words, _ = reader.words(features)
            _, products = gradient_times_input(reader.model)(features)
            found[method] = [
                np.where(of_side, product[:, : of_side.shape[1]], 0.0)
                for of_side, product in zip(words, products, strict=True)
            ]
    return found

import keras
from keras import ops

from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_shapes
from keras_selfattn.layers.shapes import spec

# Of words that are not in the vocabulary, which may be any.
UNKNOWN = 1


@keras.saving.register_keras_serializable(package="keras_selfattn")
class ExactMatch(TakesPair, keras.layers.Layer):
    """Which words of each sentence of a pair stand in the other one too.

    `f(p_i) = 1` if some `h_j = p_i`, else `0`, and `f(h_j)` likewise. Padding,
    id 0, and unknown words, id 1, match nothing. Where unknown words have
    several ids, they match by all but the first of them, as any word does.

    Word vectors that are not trained say how alike two words are, and a
    network has to learn from many pairs what says that they are the same.

    Call arguments:
        inputs: Pair of integer tensors `(premise, hypothesis)`, the ids of
            their words, of shapes `(batch, n_p)` and `(batch, n_h)`.

    Returns:
        A pair of tensors of zeros and ones, of shapes `(batch, n_p, 1)` and
        `(batch, n_h, 1)`.

    Raises:
        ValueError: if the inputs are not a pair of rank 2 with the same
            batch.

    References:
        - [Chen et al., 2017](https://arxiv.org/abs/1704.00051), section 3.2

    Example:

    >>> import numpy as np
    >>> premise = np.array([[7, 1, 5, 0]])
    >>> hypothesis = np.array([[5, 1, 5]])
    >>> in_premise, in_hypothesis = ExactMatch()((premise, hypothesis))
    >>> in_premise[0, :, 0].numpy().tolist()
    [0.0, 0.0, 1.0, 0.0]
    >>> in_hypothesis[0, :, 0].numpy().tolist()
    [1.0, 0.0, 1.0]
    """

    input_names = ("premise", "hypothesis")

    def build(self, input_shape):
        axes = ("batch", "steps")
        pair_of_shapes(input_shape, axes, self.input_names, self, same=(0,))
        self.input_spec = [spec(each) for each in input_shape]

    def call(self, inputs):
        return tuple(
            ops.cast(ops.expand_dims(found, 2), self.compute_dtype)
            for found in matches(*pair(inputs, self.input_names, self))
        )

    def get_config(self):
        # Without it Keras keeps no regularizer that is an object.
        return super().get_config()

    def compute_output_shape(self, input_shape):
        return tuple(
            (*shape, 1) for shape in pair(input_shape, self.input_names, self)
        )


def matches(premise, hypothesis):
    """Which words of each of two tensors of ids the other one has too."""
    premise = ops.expand_dims(ops.cast(premise, "int32"), 2)
    hypothesis = ops.expand_dims(ops.cast(hypothesis, "int32"), 1)
    same = ops.logical_and(
        ops.equal(premise, hypothesis), ops.greater(premise, UNKNOWN)
    )
    return ops.any(same, axis=2), ops.any(same, axis=1)

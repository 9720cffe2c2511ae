"""Classifiers with weights of 16 bits."""

import tensorflow as tf
from keras import ops

from keras_selfattn.serving.reduced_classifier import ReducedClassifier


class Bfloat16Classifier(ReducedClassifier):
    """A copy of a classifier that keeps weights and computes in bfloat16.

    The layer that gives the probabilities stays float32. Under Keras's policy
    `"bfloat16"` an LSTM's orthogonal initial values can't be drawn, and under
    `"mixed_bfloat16"` weights keep 32 bits: here they have values of 16.
    """

    precision = "bfloat16"

    @classmethod
    def of(cls, model):
        return super().of(model, dtype="mixed_bfloat16")

    def round_weights(self):
        for weight in self._matrices():
            weight.assign(ops.cast(ops.cast(weight, "bfloat16"), "float32"))

    def stored_weights(self):
        return [(weight, Bfloat16Weight(weight)) for weight in self._matrices()]

    def _matrices(self):
        for layer in self.layers:
            if layer.compute_dtype == "bfloat16":
                yield from layer.weights


class Bfloat16Weight:
    """A weight in 16 bits.

    Args:
        weight: A `keras.Variable`.

    Attributes:
        variables: List of one `tf.Variable`.
    """

    def __init__(self, weight):
        values = tf.cast(ops.convert_to_numpy(weight), tf.bfloat16)
        self.variables = [tf.Variable(values, trainable=False)]

    def in_float32(self):
        """The weight as a float32 tensor."""
        (values,) = self.variables
        return tf.cast(values, tf.float32)

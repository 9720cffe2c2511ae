"""Classifiers with weights of 16 bits."""

import keras
import tensorflow as tf

from keras_selfattn.serving.reduced_classifier import ReducedClassifier


class Bfloat16Classifier(ReducedClassifier):
    """A copy of a classifier that keeps weights and computes in bfloat16.

    The layer that gives the probabilities stays float32. Under Keras's policy
    `"bfloat16"` an LSTM's orthogonal initial values can't be drawn, and under
    `"mixed_bfloat16"` weights keep 32 bits.

    Args:
        model: A built classifier.
    """

    precision = "bfloat16"

    def __init__(self, model):
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy("mixed_bfloat16")
        try:
            copy = type(model).from_config(model.get_config())
        finally:
            keras.config.set_dtype_policy(before)
        super().__init__(copy, model)
        for layer in self.model.layers:
            for weight in layer.weights:
                if layer.compute_dtype == "float32":
                    self.weights.append(weight)
                else:
                    kept = Bfloat16Weight(weight)
                    self._kept.append((weight, kept))
                    self.weights.append(kept.values)


class Bfloat16Weight:
    """A weight in 16 bits.

    Args:
        weight: A `keras.Variable`.
    """

    def __init__(self, weight):
        self.values = tf.Variable(
            tf.cast(weight.value, "bfloat16"), trainable=False
        )

    def in_float32(self):
        """The weight in float32."""
        return tf.cast(self.values, tf.float32)

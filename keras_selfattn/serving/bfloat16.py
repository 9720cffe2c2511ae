"""Classifiers with weights of 16 bits."""

import tensorflow as tf
from keras import ops

from keras_selfattn.layers.ngram_layer import NGramLayer
from keras_selfattn.serving.reduced_classifier import ReducedClassifier
from keras_selfattn.serving.reduced_classifier import StoredWeight


class Bfloat16Classifier(ReducedClassifier):
    """A copy of a classifier that keeps weights and computes in bfloat16.

    The layer that gives the probabilities stays float32, and n-grams are
    summed in it. Under Keras's policy `"bfloat16"` an LSTM's orthogonal
    initial values can't be drawn, and under `"mixed_bfloat16"` weights keep 32
    bits: here they have values of 16.
    """

    precision = "bfloat16"

    @classmethod
    def of(cls, model):
        return super().of(model, dtype="mixed_bfloat16")

    def round_weights(self):
        for weight in self._matrices():
            weight.assign(ops.cast(ops.cast(weight, "bfloat16"), "float32"))

    def stored_weights(self):
        return [(weight, _stored(weight)) for weight in self._matrices()]

    def _matrices(self):
        for layer in self.layers:
            is_table = isinstance(layer, NGramLayer)
            if is_table or layer.compute_dtype == "bfloat16":
                yield from layer.weights


def _stored(weight):
    values = tf.cast(ops.convert_to_numpy(weight), tf.bfloat16)
    return StoredWeight([values], lambda kept: tf.cast(kept, tf.float32))

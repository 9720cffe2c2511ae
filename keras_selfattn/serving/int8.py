"""Classifiers with weights of 8 bits."""

import keras
import tensorflow as tf
from keras import ops

from keras_selfattn.layers import WordEmbedding
from keras_selfattn.serving.reduced_classifier import ReducedClassifier


class Int8Classifier(ReducedClassifier):
    """A copy of a classifier whose weight matrices are int8.

    `keras.Model.quantize` passes over every layer that is not exactly a
    `Dense` or an `Embedding`. Here all matrices are quantized, of whatever
    layer: each output unit's weights, or each word's vector, get a float32
    scale of their own, `weights = scale * int8`. Word vectors are scaled
    after they are looked up, other matrices once a call; products are
    float32. It saves disk and memory, and is not meant to save time.

    Biases stay as they are.

    Args:
        model: A built classifier.

    Attributes:
        quantized: List of the paths of the weights that are int8.
        skipped: List of the paths of those that are not.
        weights: List of all variables.
    """

    precision = "int8"

    def __init__(self, model):
        super().__init__(type(model).from_config(model.get_config()), model)
        self.quantized, self.skipped = [], []
        tables = self._quantize_word_vectors()
        for weight in self.model.weights:
            if any(weight is table for table in tables):
                self.weights.append(weight)
            elif is_matrix(weight):
                matrix = Int8Matrix(weight)
                self._kept.append((weight, matrix))
                self.weights += [matrix.values, matrix.scale]
                self.quantized.append(weight.path)
            else:
                self.weights.append(weight)
                self.skipped.append(weight.path)

    def _quantize_word_vectors(self):
        """Quantizes the tables by Keras's own code; returns its variables."""
        tables = []
        for layer in self.model.layers:
            if isinstance(layer, WordEmbedding):
                (weight,) = layer.weights
                self.quantized.append(weight.path)
                # Keras's code looks rows up without regard to padding.
                table = ops.convert_to_numpy(weight).copy()
                table[0] = 0
                weight.assign(table)
                layer.quantize("int8", type_check=False)
                tables += layer.weights
        return tables


class Int8Matrix:
    """A weight in 8 bits: whole numbers and a scale for each output unit.

    Args:
        weight: A `keras.Variable` of rank 2 or more.
    """

    def __init__(self, weight):
        # A table has its units in rows.
        axis = -1 if weight.name == "embeddings" else -2
        values, scale = keras.quantizers.abs_max_quantize(
            ops.cast(weight, "float32"), axis=axis, to_numpy=True
        )
        self.values = tf.Variable(values, trainable=False, dtype="int8")
        self.scale = tf.Variable(1 / scale, trainable=False, dtype="float32")

    def in_float32(self):
        """The matrix in float32."""
        return tf.cast(self.values, tf.float32) * self.scale


def is_matrix(weight):
    """Whether a weight is one that is multiplied or looked up."""
    return len(weight.shape) > 1 and "bias" not in weight.name

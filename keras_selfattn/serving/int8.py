"""Classifiers with weights of 8 bits."""

import tensorflow as tf
from keras import ops

from keras_selfattn.layers import WordEmbedding
from keras_selfattn.models.packed_weights import is_matrix
from keras_selfattn.models.packed_weights import quantize
from keras_selfattn.serving.reduced_classifier import ReducedClassifier
from keras_selfattn.serving.reduced_classifier import StoredWeight


class Int8Classifier(ReducedClassifier):
    """A copy of a classifier whose weight matrices have int8's values.

    `keras.Model.quantize` passes over every layer that is not exactly a
    `Dense` or an `Embedding`. Here all matrices are quantized, of whatever
    layer: each output unit's weights, or each word's vector, get a float32
    scale of their own, `weights = scale * int8`. Word vectors are scaled
    after they are looked up, other matrices once a call; products are
    float32. It saves disk and memory of what is served, and is not meant to
    save time.

    Biases stay as they are.

    Attributes:
        quantized: List of the paths of the weights that are int8.
        skipped: List of the paths of those that are not.
    """

    precision = "int8"

    def round_weights(self):
        self.quantized, self.skipped = [], []
        for layer in self.layers:
            if isinstance(layer, WordEmbedding):
                self.quantized.append(layer.embeddings.path)
                # Keras's layer looks up padding as any other word.
                table = ops.convert_to_numpy(layer.embeddings).copy()
                table[0] = 0
                values, scale = quantize(table, axis=-1)
                layer.quantize("int8", type_check=False)
                layer.set_weights([values, 1 / scale[:, 0]])
        for weight in self._others():
            if is_matrix(weight):
                values, scale = quantize(weight, unit_axis(weight))
                weight.assign(values * scale)
                self.quantized.append(weight.path)
            else:
                self.skipped.append(weight.path)

    def values_of(self, layer):
        if not isinstance(layer, WordEmbedding):
            return super().values_of(layer)
        table, scale = layer.get_weights()
        return [table / scale[:, None]]

    def stored_weights(self):
        return [(w, int8_matrix(w)) for w in self._others() if is_matrix(w)]

    def _others(self):
        """All weights but the word vectors, which Keras itself quantizes."""
        for layer in self.layers:
            if not isinstance(layer, WordEmbedding):
                yield from layer.weights


def int8_matrix(weight):
    """The `StoredWeight` of whole numbers, and a scale for each output unit."""
    return StoredWeight(
        quantize(weight, unit_axis(weight)),
        lambda values, scale: tf.cast(values, tf.float32) * scale,
    )


def unit_axis(weight):
    """The axis of a matrix along which the weights of one unit lie."""
    return -1 if weight.name == "embeddings" else -2

"""What is the same of all Keras models: their steps and epochs."""

import keras
import numpy as np
import tensorflow as tf

from benchmarks.peers.workloads import make_rows

VERSION = f"Keras {keras.__version__}, TensorFlow {tf.__version__}"


def _size(weights):
    return int(sum(np.prod(weight.shape) for weight in weights))


class Steps:
    """Compiled steps of a compiled model, on one batch.

    Attributes:
        facts: Dictionary with the numbers of weights.
    """

    def __init__(self, model, features, labels):
        self.model = model
        model.optimizer.build(model.trainable_variables)
        self.facts = {
            "trainable": _size(model.trainable_weights),
            "version": VERSION,
        }
        self._features = {k: tf.constant(v) for k, v in features.items()}
        self._labels = tf.constant(labels)
        self._train_step = tf.function(model.train_step)
        self._predict_step = tf.function(lambda x: model(x, training=False))

    def train(self, steps):
        """Trains, and returns the mean loss."""
        self.model.reset_metrics()
        for _ in range(steps):
            logs = self._train_step((self._features, self._labels))
        return float(logs["loss"])

    def infer(self, batches):
        for _ in range(batches):
            self._predict_step(self._features).numpy()


class Epochs(Steps):
    """Epochs of `fit` on a `tf.data.Dataset` of `steps` batches."""

    def __init__(self, model, work, dataset):
        super().__init__(model, *make_rows(work))
        self._dataset = dataset

    def train(self, epochs):
        """Trains, and returns the mean loss."""
        history = self.model.fit(
            self._dataset, epochs=epochs, shuffle=False, verbose=0
        )
        return float(np.mean(history.history["loss"]))


class MatrixProduct:
    """One large product of matrices: the limit of all others."""

    def __init__(self, size=3072):
        self.facts = {"multiplications": size**3}
        left, right = tf.random.normal((2, size, size))
        self._product = tf.function(lambda: tf.matmul(left, right))

    def train(self, products):
        for _ in range(products):
            self._product()

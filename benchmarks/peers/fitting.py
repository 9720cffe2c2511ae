"""The package on whichever backend Keras runs, through `fit`."""

import importlib.metadata

import keras
import numpy as np
import tensorflow as tf

from benchmarks.peers.workloads import make_rows
from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn.data.cutting import prefetch_batches


class Fits:
    """Steps of `fit`, each on a batch of the same rows."""

    def __init__(self, work, precision):
        if precision != "float32":
            keras.config.set_dtype_policy(f"mixed_{precision}")
        self.model = getattr(models, work.model)(**work.arguments)
        self.model.compile(
            optimizers.get(work.optimizer, learning_rate=work.learning_rate),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        self._features, self._labels = make_rows(work)
        self._batch_size = work.batch_size
        backend = keras.backend.backend()
        self.facts = {
            "trainable": int(
                sum(np.prod(w.shape) for w in self.model.trainable_weights)
            ),
            "version": f"Keras {keras.__version__}, {backend} "
            f"{importlib.metadata.version(backend)}",
        }

    def train(self, steps):
        """Trains, and returns the mean loss."""
        features = {
            name: np.concatenate([ids] * steps)
            for name, ids in self._features.items()
        }
        rows = features, np.concatenate([self._labels] * steps)
        options = {"shuffle": False, "verbose": 0}
        if keras.backend.backend() == "tensorflow":
            # Of arrays Keras makes a pipeline that tunes itself: the end of
            # an epoch sometimes waits for it.
            dataset = tf.data.Dataset.from_tensor_slices(rows)
            dataset = prefetch_batches(dataset.batch(self._batch_size))
            history = self.model.fit(dataset, **options)
        else:
            history = self.model.fit(
                *rows, batch_size=self._batch_size, **options
            )
        return float(history.history["loss"][-1])

    def infer(self, batches):
        for _ in range(batches):
            self.model.predict_on_batch(self._features)

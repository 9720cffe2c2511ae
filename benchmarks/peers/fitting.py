"""The package on whichever backend Keras runs, through `fit`."""

import importlib.metadata

import keras
import numpy as np

from benchmarks.peers.workloads import make_rows
from keras_selfattn import models
from keras_selfattn import optimizers


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
        history = self.model.fit(
            {k: np.concatenate([v] * steps) for k, v in self._features.items()},
            np.concatenate([self._labels] * steps),
            batch_size=self._batch_size,
            shuffle=False,
            verbose=0,
        )
        return float(history.history["loss"][-1])

    def infer(self, batches):
        for _ in range(batches):
            self.model.predict_on_batch(self._features)

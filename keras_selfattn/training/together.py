"""The fitting of a model by several workers, a loop in place of Keras's.

Keras's `fit` fails under a strategy of several workers. Here each worker
computes the gradients of its rows of a batch; added up they are those of the
batch, and from there on a step is the one of a single process.
"""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_selfattn.training.run import changing_variables
from keras_selfattn.training.run import random_states

# Far apart, so that no worker's dropout repeats that of another.
_APART = 1_000_003


class Steps:
    """The steps of a compiled model, on one worker's share of the batches.

    Args:
        model: The compiled model.
        workers: The `Workers`.
        batch_size: Integer, the rows of a whole batch of all workers.
        class_weight: Dictionary of the weight of each class, or `None`.
    """

    def __init__(self, model, workers, batch_size, class_weight=None):
        self._model = model
        self._workers = workers
        self._batch_size = batch_size
        self._class_weights = None
        if class_weight is not None:
            weights = [class_weight[i] for i in range(len(class_weight))]
            self._class_weights = tf.constant(weights, "float32")
        model.optimizer.build(model.trainable_variables)
        # They make their variables when they are first used.
        one = np.ones((1, *model.output.shape[1:]), "float32")
        model.compute_metrics(None, np.zeros(1, "int32"), one)
        model.reset_metrics()
        self._loss = next(m for m in model.metrics if m.name == "loss")
        self.train = tf.function(
            self._train, reduce_retracing=True, autograph=False
        )
        self.test = tf.function(
            self._test, reduce_retracing=True, autograph=False
        )

    def add_up_metrics(self):
        """Give the metrics what all workers have seen."""
        # What they keep are sums.
        self._workers.add_up_variables(
            [v for metric in self._model.metrics for v in metric.variables]
        )

    def _train(self, features, labels, own):
        model = self._model
        weights = None
        if self._class_weights is not None:
            weights = tf.gather(self._class_weights, labels)
        # Of a whole batch all rows count alike, whichever worker has them.
        share = tf.cast(own, "float32") / self._batch_size
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            loss = model.compute_loss(
                features, labels, outputs, weights, training=True
            )
            scaled = model.optimizer.scale_loss(loss * share)
        variables = model.trainable_variables
        gradients = tape.gradient(scaled, variables)
        pairs = [
            (gradient, variable)
            for gradient, variable in zip(gradients, variables, strict=True)
            if gradient is not None
        ]
        *gradients, whole = self._workers.add_up(
            [gradient for gradient, _ in pairs] + [share]
        )
        model.optimizer.apply(
            [_divided(gradient, whole) for gradient in gradients],
            [variable for _, variable in pairs],
        )
        return self._seen(features, labels, outputs, loss, own)

    def _test(self, features, labels, own):
        model = self._model
        outputs = model(features, training=False)
        loss = model.compute_loss(features, labels, outputs, training=False)
        return self._seen(features, labels, outputs, loss, own)

    def _seen(self, features, labels, outputs, loss, own):
        self._loss.update_state(loss, sample_weight=own)
        # The loss is among them: what is not its own it leaves as it is.
        return self._model.compute_metrics(
            features, labels[:own], outputs[:own]
        )


def _divided(gradient, number):
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(
            gradient.values / tf.cast(number, gradient.dtype),
            gradient.indices,
            gradient.dense_shape,
        )
    return gradient / tf.cast(number, gradient.dtype)


def take_state_of_chief(model, run, workers):
    """Give all workers the chief's weights, and what else a run goes on from.

    Args:
        model: The compiled model, whose optimizer is built.
        run: The chief's `Run`, or another worker's `FollowedRun`.
        workers: The `Workers`.
    """
    run.history = workers.told_by_chief(run.history)
    variables = changing_variables(model)
    arrays = [ops.convert_to_numpy(variable) for variable in variables]
    for variable, array in zip(
        variables, workers.from_chief(arrays), strict=True
    ):
        variable.assign(array)
    if workers.is_chief:
        return
    for state in random_states(model):
        first, second = ops.convert_to_numpy(state).tolist()
        first = (first + workers.number * _APART) % 2**31
        state.assign(np.array([first, second], state.dtype))


def fit_together(
    model, batches, dev_batches, workers, steps, first_epoch, epochs, callbacks
):
    """Fit a compiled model to batches that several workers share.

    Args:
        model: The compiled model, the same in all workers.
        batches: The worker's share of the training batches.
        dev_batches: The same of the dev batches.
        workers: The `Workers`.
        steps: The model's `Steps`.
        first_epoch: Integer, how many epochs have been before.
        epochs: Integer, the last one.
        callbacks: A `keras.callbacks.CallbackList`. The logs of an epoch are
            those of all workers, those of a batch the worker's own.
    """
    model.stop_training = False
    callbacks.on_train_begin()
    logs = {}
    for epoch in range(first_epoch, epochs):
        model.reset_metrics()
        callbacks.on_epoch_begin(epoch)
        for number, batch in enumerate(batches):
            callbacks.on_train_batch_begin(number)
            seen = steps.train(*batch)
            callbacks.on_train_batch_end(number, seen)
        logs = _results(model, steps)
        callbacks.on_test_begin()
        model.reset_metrics()
        for number, batch in enumerate(dev_batches):
            callbacks.on_test_batch_begin(number)
            seen = steps.test(*batch)
            callbacks.on_test_batch_end(number, seen)
        found = _results(model, steps)
        callbacks.on_test_end(found)
        logs.update({f"val_{name}": each for name, each in found.items()})
        callbacks.on_epoch_end(epoch, logs)
        # A callback may look at more than the logs.
        if workers.told_by_chief(bool(model.stop_training)):
            break
    model.optimizer.finalize_variable_values(model.trainable_variables)
    callbacks.on_train_end(logs)


def _results(model, steps):
    steps.add_up_metrics()
    results = model.get_metrics_result()
    return {
        name: float(keras.ops.convert_to_numpy(value))
        for name, value in results.items()
    }

"""The fitting of a model by several workers, a loop in place of Keras's.

Keras's `fit` fails under a strategy of several workers. Here each worker
computes the gradients of its rows of a batch; added up they are those of the
batch, and from there on a step is the one of a single process.
"""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_selfattn.training.variables import arrays_of
from keras_selfattn.training.variables import assign
from keras_selfattn.training.variables import build_metrics
from keras_selfattn.training.variables import changing_variables
from keras_selfattn.training.variables import metric_variables
from keras_selfattn.training.variables import random_states

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
        self.model = model
        self.workers = workers
        self._batch_size = batch_size
        self._class_weights = None
        if class_weight is not None:
            weights = [class_weight[i] for i in range(len(class_weight))]
            self._class_weights = tf.constant(weights, "float32")
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        build_metrics(model)
        self._loss = next(m for m in model.metrics if m.name == "loss")
        self.train = tf.function(
            self._train, reduce_retracing=True, autograph=False
        )
        self.test = tf.function(
            self._test, reduce_retracing=True, autograph=False
        )

    def seen_by_all(self):
        """What the metrics would have, had they seen what all workers have."""
        # What they keep are sums.
        return self.workers.add_up(
            [tf.convert_to_tensor(v) for v in metric_variables(self.model)]
        )

    def add_up_metrics(self):
        """Give the metrics what all workers have seen."""
        assign(metric_variables(self.model), self.seen_by_all())

    def _train(self, features, labels, own, due):
        model = self.model
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
        # What the others must know goes along with what is sent anyway.
        *gradients, told = self.workers.add_up(
            [gradient for gradient, _ in pairs] + [tf.stack([share, due])]
        )
        whole, due = tf.unstack(told)
        model.optimizer.apply(
            [_divided(gradient, whole) for gradient in gradients],
            [variable for _, variable in pairs],
        )
        return self._seen(features, labels, outputs, loss, own), due

    def _test(self, features, labels, own):
        model = self.model
        outputs = model(features, training=False)
        loss = model.compute_loss(features, labels, outputs, training=False)
        return self._seen(features, labels, outputs, loss, own)

    def _seen(self, features, labels, outputs, loss, own):
        self._loss.update_state(loss, sample_weight=own)
        # The loss is among them: what is not its own it leaves as it is.
        return self.model.compute_metrics(features, labels[:own], outputs[:own])


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
    run.history, run.batches = workers.told_by_chief((run.history, run.batches))
    variables = changing_variables(model)
    assign(variables, workers.from_chief(arrays_of(variables)))
    if workers.is_chief:
        return
    for state in random_states(model):
        first, second = ops.convert_to_numpy(state).tolist()
        first = (first + workers.number * _APART) % 2**31
        state.assign(np.array([first, second], state.dtype))


def fit_together(steps, batches, dev_batches, epochs, callbacks, keep):
    """Fit a compiled model to batches that several workers share.

    Args:
        steps: The `Steps` of the model, the same in all workers.
        batches: The worker's share of the training batches.
        dev_batches: The same of the dev batches.
        epochs: Range of their numbers, from 0.
        callbacks: A `keras.callbacks.CallbackList`. The logs of an epoch are
            those of all workers, those of a batch the worker's own.
        keep: Pair of the `Clock` of the checkpoints within an epoch, and of
            the method of a `KeepRun` that writes one.
    """
    model, workers = steps.model, steps.workers
    clock, keep_batches = keep
    model.stop_training = False
    callbacks.on_train_begin()
    logs = {}
    for epoch in epochs:
        model.reset_metrics()
        callbacks.on_epoch_begin(epoch)
        for number, batch in enumerate(batches):
            callbacks.on_train_batch_begin(number)
            # The chief's clock is the one that all go by.
            due = float(workers.is_chief and clock.is_due())
            seen, due = steps.train(*batch, tf.constant(due))
            callbacks.on_train_batch_end(number, seen)
            if due > 0:
                metrics = [each.numpy() for each in steps.seen_by_all()]
                keep_batches(number + 1, metrics)
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
        model.stop_training = workers.told_by_chief(bool(model.stop_training))
        if model.stop_training:
            break
    model.optimizer.finalize_variable_values(model.trainable_variables)
    callbacks.on_train_end(logs)
    workers.wait_for_all()


def _results(model, steps):
    steps.add_up_metrics()
    results = model.get_metrics_result()
    return {
        name: float(keras.ops.convert_to_numpy(value))
        for name, value in results.items()
    }

"""Keras's optimizers, right for word vectors that a batch uses twice.

On TensorFlow the gradient of a table of word vectors names a row once for
each time a batch uses it. Keras 3.15 feeds Adagrad and Adam these parts one
by one, so a word that occurs twice is not updated by its gradient. These
optimizers add the parts up first; all else is Keras's.
"""

import keras
import tensorflow as tf


def add_up_rows(gradient):
    """A sparse gradient that names each row once; others as they are."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, position = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(
        gradient.values, position, tf.size(rows)
    )
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


class _AddsUpRows:
    def apply(self, grads, trainable_variables=None):
        return super().apply(
            [add_up_rows(gradient) for gradient in grads], trainable_variables
        )


@keras.saving.register_keras_serializable(package="keras_selfattn")
class SGD(_AddsUpRows, keras.optimizers.SGD):
    """`keras.optimizers.SGD` with the rows of sparse gradients added up."""


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Adam(_AddsUpRows, keras.optimizers.Adam):
    """`keras.optimizers.Adam` with the rows of sparse gradients added up."""


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Adagrad(_AddsUpRows, keras.optimizers.Adagrad):
    """`keras.optimizers.Adagrad` with sparse rows added up."""


OPTIMIZERS = {"sgd": SGD, "adam": Adam, "adagrad": Adagrad}


def get(name, /, **arguments):
    """An optimizer by its name.

    Args:
        name: `"sgd"`, `"adam"` or `"adagrad"`.
        **arguments: Arguments of the Keras optimizer.

    Raises:
        ValueError: if there is no optimizer of that name.
    """
    if name not in OPTIMIZERS:
        raise ValueError(
            f"The optimizer must be one of {', '.join(OPTIMIZERS)}. "
            f"Received: {name!r}"
        )
    return OPTIMIZERS[name](**arguments)

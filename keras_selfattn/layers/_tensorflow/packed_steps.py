"""Kept steps packed one after the other, for TensorFlow on a CPU."""

import tensorflow as tf

from keras_selfattn.private_names import xla_is_compiling


def is_faster():
    """Whether skipping masked steps saves time here.

    A GPU computes them in less time than it takes to leave them out. XLA
    needs shapes that don't depend on the mask.
    """
    return not tf.config.list_logical_devices("GPU") and not xla_is_compiling()


class KeptSteps:
    """Where the kept steps of a batch lie, packed along its rows.

    Args:
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
    """

    def __init__(self, mask):
        self._places = tf.where(mask)
        self._shape = tf.shape(mask, out_type="int64")

    def pack(self, inputs):
        """Steps of shape `(kept, D)` from inputs `(batch, n, D)`."""
        return tf.gather_nd(inputs, self._places)

    def unpack(self, packed):
        """Undoes `pack`, with zeros at masked steps."""
        shape = [*tf.unstack(self._shape), packed.shape[1]]
        return tf.scatter_nd(self._places, packed, shape)

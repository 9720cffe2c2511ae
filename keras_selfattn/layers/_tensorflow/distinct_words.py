"""What depends on a word alone is computed once for each distinct word.

For TensorFlow on a CPU: XLA knows no tensors of as many rows as a batch has
distinct words, and a GPU computes them all in less time than it finds them.
"""

import tensorflow as tf

from keras_selfattn.layers._tensorflow import packed_steps


def is_faster():
    """Whether to take this module."""
    return packed_steps.is_faster()


def find(words):
    """The distinct rows of a matrix of ids.

    Args:
        words: Integer tensor of shape `(words, characters)`.

    Returns:
        The distinct rows, `(distinct, characters)`, and for each word the
        number of its row, `(words,)`.
    """
    count = tf.shape(words)[0]
    # A convolution takes one word or more.
    more = tf.cast(tf.equal(count, 0), count.dtype)
    distinct, rows = tf.raw_ops.UniqueV2(
        x=tf.pad(words, [[0, more], [0, 0]]), axis=[0]
    )
    return distinct, rows[:count]


@tf.custom_gradient
def spread(features, rows):
    """Features `(words, D)` from those of distinct words `(distinct, D)`."""

    def gradient(upstream):
        # A sparse gradient would be made dense, with a warning.
        distinct = tf.shape(features)[0]
        return tf.math.unsorted_segment_sum(upstream, rows, distinct), None

    return tf.gather(features, rows), gradient

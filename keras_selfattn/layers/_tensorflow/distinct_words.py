"""Features of words, computed once for each distinct word of a batch.

For TensorFlow on a CPU: XLA needs shapes that don't depend on the data, and a
GPU computes repeated words in less time than it takes to find them.
"""

import tensorflow as tf


def find(words):
    """The distinct rows of a matrix of ids.

    Args:
        words: Integer tensor of shape `(words, characters)`.

    Returns:
        The distinct rows, `(distinct, characters)`, and for each word the
        number of its row, `(words,)`.
    """
    count = tf.shape(words)[0]
    # A convolution needs at least one word.
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
        # One term after the other, bfloat16 adds up to 256 of them at most.
        dtype = "float32" if upstream.dtype.size < 4 else upstream.dtype
        total = tf.math.unsorted_segment_sum(
            tf.cast(upstream, dtype), rows, distinct
        )
        return tf.cast(total, upstream.dtype), None

    return tf.gather(features, rows), gradient

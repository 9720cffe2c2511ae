"""Windows around the characters that words have, for TensorFlow on a CPU.

A convolution has one around each character of the longest word, padding
included: two to three times as many.
"""

import tensorflow as tf


def highest(table, ids, kernels):
    """The highest products of kernels with the windows of each word.

    Args:
        table: Tensor of shape `(vocabulary, D)`, zeros for padding; its type
            is the one that its gradient is added up in.
        ids: Integer tensor of shape `(words, characters)`, 0 where there is
            no character.
        kernels: List of tensors of shape `(size, D, filters)`. A window is
            centered as that of a convolution with `padding="same"`.

    Returns:
        A tensor of shape `(words, filters of all kernels)`, zeros for a word
        without characters.
    """
    sizes = [kernel.shape[0] for kernel in kernels]
    before, after = (max(sizes) - 1) // 2, max(sizes) // 2
    padded = tf.pad(ids, [[0, 0], [before, after]])
    length = tf.shape(padded, out_type="int64")[1]
    places = tf.where(tf.not_equal(ids, 0))
    first = places[:, 0] * length + places[:, 1]
    steps = tf.range(before + after + 1, dtype="int64")
    windows = tf.gather(
        tf.reshape(padded, [-1]), tf.expand_dims(first, 1) + steps
    )
    # One product for all kernels, each in the middle of zeros.
    kernel = tf.concat(
        [
            tf.pad(
                kernel,
                [[before - (size - 1) // 2, after - size // 2], [0, 0], [0, 0]],
            )
            for size, kernel in zip(sizes, kernels, strict=True)
        ],
        axis=2,
    )
    products = tf.matmul(
        tf.reshape(
            tf.cast(tf.gather(table, windows), kernel.dtype),
            [-1, kernel.shape[0] * kernel.shape[1]],
        ),
        tf.reshape(kernel, [-1, kernel.shape[2]]),
    )
    found = tf.math.segment_max(products, places[:, 0])
    # The last words may have no characters, and so no segment.
    missing = tf.shape(ids)[0] - tf.shape(found)[0]
    return tf.pad(found, [[0, missing], [0, 0]])

"""What training sets to zero at random, the same on every backend.

Keras draws from a generator of each backend, which costs a step of
decomposable attention a third of its time, and ten steps under XLA. Here the
random numbers are a hash of where an element stands: a few ops on whole words
of 32 bits, which XLA fuses into what uses them.
"""

import math

import keras
import numpy as np
from keras import ops

# torch multiplies and shifts no words without a sign.
_SIGNED = keras.backend.backend() == "torch"
_WORD = "int32" if _SIGNED else "uint32"
_LEVELS = 2**16


def drop(inputs, rate, seed_generator, shape=None):
    """Inputs of which a share is zero, and the others are larger by as much.

    Args:
        inputs: Tensor of floats, of any shape.
        rate: As in `factors`.
        seed_generator: As in `factors`.
        shape: Shape of what is drawn, which broadcasts to that of the inputs,
            or `None` for theirs.
    """
    shape = ops.shape(inputs) if shape is None else shape
    (factor,) = factors([shape], rate, seed_generator, inputs.dtype)
    return inputs * factor


def factors(shapes, rate, seed_generator, dtype):
    """What to multiply several inputs by: 0, or more than 1 for the rest.

    Drawn at once, because a draw is some thirty ops, however small. They are
    factors and no masks to choose by: the choice takes TensorFlow twice the
    time of a product, forward and backward.

    Args:
        shapes: List of tuples of integers, some of which may be tensors.
        rate: Float above 0 and below 1, the share to set to zero. It is
            rounded to 16 bits, and the factor of the others fits the rounded
            one, so that the mean stays.
        seed_generator: The `keras.random.SeedGenerator` that tells this call
            from all others. Its state moves on by one.
        dtype: The type of the factors.

    Returns:
        A list of a tensor for each shape.
    """
    level = min(max(round(rate * _LEVELS), 1), _LEVELS - 1)
    sizes = [math.prod(shape) for shape in shapes]
    places = [0]
    for size in sizes:
        # TensorFlow copies no part that begins where a vector register does.
        places.append(places[-1] + (size + 31) // 32 * 32)
    kept = kept_elements(places[-1], level, seed_generator.next())
    flat = ops.cast(kept, dtype) * (_LEVELS / (_LEVELS - level))
    return [
        ops.reshape(flat[place : place + size], shape)
        for place, size, shape in zip(places, sizes, shapes, strict=False)
    ]


def kept_elements(count, level, state):
    """Which of an even number of elements are kept.

    Args:
        count: Integer or tensor of one, even.
        level: Integer from 1 to 65,535: so many of 65,536 are not kept.
        state: Integer tensor of shape `(2,)`, the state of a
            `keras.random.SeedGenerator`.

    Returns:
        A boolean vector.
    """
    words = random_words(count // 2, state)
    # The upper and the lower half of a word decide on one element each.
    return ops.concatenate(
        [
            _at_least(half, level * _LEVELS)
            for half in (words, words * _constant(_LEVELS))
        ]
    )


def random_words(count, state):
    """A vector of `count` words of 32 random bits."""
    state = ops.cast(state, _WORD)
    seed, step = state[0], state[1]
    first, second = (
        seed * _constant(a) + step * _constant(b)
        for a, b in ((0x9E3779B1, 0x85EBCA77), (0xC2B2AE3D, 0x27D4EB2F))
    )
    words = ops.cast(ops.arange(count, dtype="int32"), _WORD) + first
    # The constants of `lowbias32` of Chris Wellons's hash prospector, with
    # the second key amid its two rounds: streams that meet in the first key
    # differ in the second.
    words = _folded(words, 16) * _constant(0x7FEB352D)
    words = _folded(ops.bitwise_xor(words, second), 15) * _constant(0x846CA68B)
    return _folded(words, 16)


def _constant(word):
    return ops.convert_to_tensor(np.array(word, "uint32").view(_WORD))


def _folded(words, places):
    shifted = ops.right_shift(words, _constant(places))
    if _SIGNED:
        # The sign came in from the left.
        shifted = ops.bitwise_and(shifted, _constant(2 ** (32 - places) - 1))
    return ops.bitwise_xor(words, shifted)


def _at_least(words, threshold):
    if _SIGNED:
        # In the order of words without a sign.
        words, threshold = (
            ops.bitwise_xor(words, _constant(2**31)),
            threshold ^ 2**31,
        )
    return ops.greater_equal(words, _constant(threshold))

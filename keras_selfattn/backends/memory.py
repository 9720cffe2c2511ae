"""How each backend says that the memory is too small."""

import tensorflow as tf

# JAX and torch raise errors of all kinds as one.
_SIGNS = (
    "RESOURCE_EXHAUSTED",
    "out of memory",
    "can't allocate memory",
    "not enough memory",
)


def is_too_small(error):
    """Whether an error says that the memory is too small.

    Example:

    >>> is_too_small(RuntimeError("CUDA out of memory. Tried to allocate ..."))
    True
    """
    if isinstance(error, (MemoryError, tf.errors.ResourceExhaustedError)):
        return True
    return isinstance(error, RuntimeError) and any(
        sign in str(error) for sign in _SIGNS
    )

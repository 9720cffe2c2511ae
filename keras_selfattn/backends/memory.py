"""The memory there is, and how each backend says that it is too small."""

import contextlib
import os
import pathlib

import tensorflow as tf

# JAX and torch raise errors of all kinds as one.
_SIGNS = (
    "RESOURCE_EXHAUSTED",
    "out of memory",
    "can't allocate memory",
    "not enough memory",
)


def is_too_small(error: BaseException) -> bool:
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


def machine_memory() -> int | None:
    """The bytes of memory that this process may have, or `None`."""
    found = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    # That of a container, where there is a limit.
    with contextlib.suppress(ValueError, OSError):
        limit = pathlib.Path("/sys/fs/cgroup/memory.max").read_text()
        found.append(int(limit))
    return min(found, default=None)

"""Keras and TensorFlow, imported once nothing else can be at fault.

They take seconds, and so are imported when a command is known to need them.
"""

import contextlib
import importlib.util
import os
import sys

from keras_selfattn.first_use import is_command_line
from keras_selfattn.first_use import without_unused


def start_keras():
    """Import TensorFlow, in the command line without its start-up notes.

    C++ code writes them, whatever TensorFlow's log level is, and they would
    stand between a command and its one line of error.

    Raises:
        ValueError: if there is no backend of the name in `KERAS_BACKEND`.
    """
    backend = os.environ.get("KERAS_BACKEND") or "tensorflow"
    if importlib.util.find_spec(backend) is None:
        raise ValueError(
            "`KERAS_BACKEND` must be tensorflow, jax or torch, whichever is "
            f"installed. Received: KERAS_BACKEND={backend!r}"
        )
    if is_command_line() and "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        with _standard_error_held_back(), without_unused(backend):
            import tensorflow  # noqa: F401


@contextlib.contextmanager
def _standard_error_held_back():
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)

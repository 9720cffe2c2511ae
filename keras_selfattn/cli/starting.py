"""Keras and TensorFlow, imported once nothing else can be at fault.

They take seconds, and so are imported when a command is known to need them.
"""

import importlib.util

from keras_selfattn.first_use import asked_backend
from keras_selfattn.first_use import import_tensorflow


def check_backend():
    """Look for Keras's backend, without importing it.

    Raises:
        ValueError: if there is no backend of the name in `KERAS_BACKEND`.
    """
    backend = asked_backend()
    if importlib.util.find_spec(backend) is None:
        raise ValueError(
            "`KERAS_BACKEND` must be tensorflow, jax or torch, whichever is "
            f"installed. Received: KERAS_BACKEND={backend!r}"
        )


def start_keras():
    """Import TensorFlow, in the command line without its start-up notes.

    Raises:
        ValueError: as of `check_backend`.
    """
    check_backend()
    import_tensorflow()

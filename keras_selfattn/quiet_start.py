"""Keeps TensorFlow's start-up notes out of the command line's output.

They are written by C++ code as TensorFlow is imported, whatever its log
level, and would stand between a command and its one line of error.
"""

import contextlib
import os
import pathlib
import sys


def is_command_line():
    """Whether this process is `keras-selfattn` or `python -m ...`."""
    return pathlib.Path(sys.argv[0]).name in ("keras-selfattn", "-m")


@contextlib.contextmanager
def standard_error_held_back():
    """What is written to the process's standard error is dropped."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def import_tensorflow():
    """Import TensorFlow, without its notes in the command line."""
    if is_command_line() and "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        with standard_error_held_back():
            import tensorflow  # noqa: F401

"""A disk on which files stay small, and what others hold meanwhile."""

import contextlib
import threading

import pytest

resource = pytest.importorskip("resource")


@contextlib.contextmanager
def small_disk(size=4000):
    """No file grows beyond some bytes within the block."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextlib.contextmanager
def elsewhere(context):
    """Another thread is in a context within the block."""
    entered, done = threading.Event(), threading.Event()

    def stay():
        with context:
            entered.set()
            done.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()

"""Signals that end a command: with an exception, or else for certain.

Python drops an exception that a handler raises inside a callback of the
garbage collector, of a `__del__`, or of C code, and calls no handler at all
while C code runs. So a thread looks whether the command has ended.

TensorFlow's C code calls Python while it traces a function, and may break where
that raises, up to a segmentation fault: a trace comes to its end first.
"""

import _thread
import os
import select
import signal
import socket
import sys
import threading
import time

from keras_selfattn import endings
from keras_selfattn import leftovers

# How long a command may take to clear away what is half-written.
SECONDS = 10.0
# Supervisors may send a signal twice, to a process and to its group.
_AT_ONCE = 1.0
# How long what has dropped an exception is given to end.
_SOON = 0.1
_NUMBERS = (signal.SIGINT, signal.SIGTERM)
# What is said beside the numbers of signals: that an exception was dropped, or
# not raised yet.
_LOST = b"\0"
_LATER = b"\1"
# The module whose functions call what is traced.
_TRACING = "tensorflow.python.framework.func_graph"


class Signals:
    """Ends this process by exceptions, and else by force.

    Made in the main thread, once a process.

    Attributes:
        received: Integer, the number of the first signal, or `None`.
    """

    def __init__(self):
        self.received = None
        # When the exception was raised that is on its way, by the clock.
        self._raised = None
        # A pipe can't be waited for on Windows.
        self._arrivals, self._arrived = socket.socketpair()
        self._arrived.setblocking(False)
        signal.set_wakeup_fd(self._arrived.fileno(), warn_on_full_buffer=False)
        for number in _NUMBERS:
            signal.signal(number, self._raise)
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._raise_again
        threading.Thread(target=self._watch, daemon=True).start()

    def exit_code(self):
        """What the process ends with, or `None` without a signal."""
        return None if self.received is None else 128 + self.received

    def _raise(self, number, frame):
        self.received = self.received or number
        endings.ask()
        if self._raised is not None:
            # A second exception would cut the clearing away short.
            return
        if _is_tracing(frame):
            self._arrived.send(_LATER)
            return
        self._raised = time.monotonic()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    def _raise_again(self, unraisable):
        if self._raised is not None and _is_of_a_signal(unraisable.exc_value):
            # Raised in here, it would be lost as well.
            self._arrived.send(_LOST)
        else:
            self._hook(unraisable)

    def _watch(self):
        while (first := self._next()) is None:
            pass
        begun = time.monotonic()
        while (left := begun + SECONDS - time.monotonic()) > 0:
            if self._next(left) is not None and self._is_second(begun):
                break
        leftovers.clear()
        os._exit(128 + first)

    def _is_second(self, begun):
        """Whether a signal is not the echo of one that has just raised."""
        # What holds signals back while it ends, raises them itself then.
        time.sleep(_SOON)
        return time.monotonic() - max(begun, self._raised or 0) > _AT_ONCE

    def _next(self, seconds=None):
        """The number of a signal, or `None` where something else has come."""
        if not select.select([self._arrivals], [], [], seconds)[0]:
            return None
        arrived = self._arrivals.recv(1)
        if arrived in (_LOST, _LATER):
            time.sleep(_SOON)
            if arrived == _LOST:
                self._raised = None
            _thread.interrupt_main(self.received)
            # That is said to have arrived as well.
            self._arrivals.recv(1)
        return arrived[0] if arrived[0] in _NUMBERS else None


def _is_tracing(frame):
    """Whether TensorFlow's tracing has called what runs in a frame."""
    while frame is not None:
        if frame.f_globals.get("__name__") == _TRACING:
            return True
        frame = frame.f_back
    return False


def _is_of_a_signal(error):
    """Whether it is what a handler raises, or came of that."""
    while error is not None:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            return True
        # C code makes a `SystemError` of one that it did not expect.
        error = error.__cause__ or error.__context__
    return False

"""Commands in processes of their own, which have imported Keras already.

A fork of a process that has imported TensorFlow and not used it yet begins at
once, where a fresh one takes seconds: so a thousand faults fit into a night.
"""

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import sys
import time

from keras_selfattn import cli
from keras_selfattn.cli import command
from keras_selfattn.cli.signals import Signals

# How long a command may take to end, on a machine that does other things.
LONGEST = 60.0
_POLL = 0.005
# Of linux/capability.h.
_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_OVERRIDE = 1 << 1


def warm_up():
    """Import what all commands need, and use none of it."""
    # What the command line sees to where it imports TensorFlow itself.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import h5py  # noqa: F401
    import keras_tuner  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import tensorflow  # noqa: F401

    import keras_selfattn.evaluation
    import keras_selfattn.model_card
    import keras_selfattn.reproduction
    import keras_selfattn.serving
    import keras_selfattn.training
    import keras_selfattn.tuning  # noqa: F401


class Process:
    """One command that runs.

    Args:
        words: List of strings, its command line.
        said: `pathlib.Path` of a file for what it says.
        disk: Bytes beyond which no file grows, or `None`.
        rights: Boolean, whether it may write where nobody may.

    Attributes:
        code: Integer, what it has ended with, or minus a signal; `None`
            while it runs.
        seconds: Number, how long it has taken.
    """

    def __init__(self, words, said, disk=None, rights=True):
        self.said = said
        self.code = None
        self._begun = time.monotonic()
        sys.stdout.flush()
        sys.stderr.flush()
        begins, begun = os.pipe()
        self._id = os.fork()
        if not self._id:
            os.close(begins)
            _become(words, said, disk, rights, begun)
        os.close(begun)
        # A fault before that would happen to this harness.
        os.read(begins, 1)
        os.close(begins)

    @property
    def seconds(self):
        return time.monotonic() - self._begun

    def wait(self, seconds):
        """Wait for the end, or so long; whether it has ended."""
        end = time.monotonic() + seconds
        while self.code is None:
            found, status = os.waitpid(self._id, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                return False
            else:
                time.sleep(_POLL)
        return True

    def send(self, number):
        if self.code is None:
            os.kill(self._id, number)

    def end(self):
        """Wait for the end; whether it had to be forced."""
        hung = not self.wait(LONGEST)
        if hung:
            self.send(signal.SIGKILL)
            self.wait(LONGEST)
        return hung

    def text(self):
        return self.said.read_text("utf-8", "replace")


def _give_up_rights():
    """Root may write anywhere, until it gives up that capability."""
    library = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    if library.capget(header, data):
        raise OSError(ctypes.get_errno(), "capget")
    for place in range(3):
        data[place] &= ~_CAP_DAC_OVERRIDE
    if library.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def _begin(begun):
    """The command's signals; what comes from now on is its own to handle."""
    signals = Signals()
    os.close(begun)
    return signals


def _become(words, said, disk, rights, begun):
    """What a fork does, which never returns.

    It closes `begun`, the end of a pipe, where the command takes signals.
    """
    code = 1
    try:
        os.setsid()
        with open(said, "wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        # A crash of C code says where it was.
        faulthandler.enable(2)
        for name in ("stdout", "stderr"):
            number = 1 if name == "stdout" else 2
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115
        if disk is not None:
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (disk, limit))
        if not rights and os.getuid() == 0:
            _give_up_rights()
        sys.argv = ["keras-selfattn", *words]
        command.Signals = lambda: _begin(begun)
        code = cli.main()
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)

"""Pipes and standard input, read once and kept, to be read again."""

import io
import os
import pathlib
import sys
import tempfile
import weakref

STANDARD_INPUT = "-"

_MOST_IN_MEMORY = 1 << 26
_kept = {}


def is_standard_input(path):
    """Whether a path stands for standard input, as `-` does in a shell."""
    return str(path) == STANDARD_INPUT


def is_pipe(path):
    """Whether a path is `-`, or that of a pipe."""
    return is_standard_input(path) or pathlib.Path(path).is_fifo()


def open_pipe(path):
    """Open a pipe at its beginning, however often it was opened before.

    Lines come as soon as they are written. What has come is kept, beyond 64
    MiB in a temporary file.

    Args:
        path: `-`, or the path of a pipe.

    Returns:
        A readable binary file without a buffer.

    Raises:
        ValueError: if standard input is asked for and there is none.
    """
    if is_standard_input(path):
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise ValueError("There is no standard input to read")
        known = STANDARD_INPUT
        if known not in _kept or _kept[known].stream is not stream:
            _kept[known] = _Kept(stream)
        return _Reader(_kept[known])
    # Another pipe may take the path of one that is gone.
    known = str(path), os.stat(path).st_ino
    if known not in _kept:
        _kept[known] = _Kept(open(path, "rb"))  # noqa: SIM115
    return _Reader(_kept[known])


class _Kept:
    def __init__(self, stream):
        self.stream = stream
        self._size = 0
        file = tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, file.close)
        if stream is not getattr(sys.stdin, "buffer", None):
            weakref.finalize(self, stream.close)
        self._file = file

    def read(self, position, size):
        if position < self._size:
            self._file.seek(position)
            return self._file.read(size)
        chunk = self.stream.read1(size)
        self._file.seek(position)
        self._file.write(chunk)
        self._size += len(chunk)
        return chunk


class _Reader(io.RawIOBase):
    def __init__(self, kept):
        super().__init__()
        self._kept = kept
        self._position = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        chunk = self._kept.read(self._position, len(buffer))
        self._position += len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)

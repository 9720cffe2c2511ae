"""Compressed files, opened by the suffix of their names."""

import gzip
import io
import pathlib
import zlib

from keras_selfattn.first_use import import_extra

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def without_compression(name):
    """A file's name without the suffix that says it is compressed.

    >>> without_compression("reviews.csv.gz"), without_compression("a.csv")
    ('reviews.csv', 'a.csv')
    """
    path = pathlib.PurePath(name)
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def opener(suffix):
    """How to open a compressed file.

    Args:
        suffix: One of `SUFFIXES`.

    Returns:
        A function of a compressed binary file, which returns one that reads
        its content, and a tuple of the exceptions that tell of damage. An
        `OSError` with an `errno` tells of something else.

    Raises:
        ImportError: if the package that reads such files is not installed.
    """
    if suffix == ".gz":
        return gzip.open, (EOFError, gzip.BadGzipFile, zlib.error)
    # Not every Python is built with these two.
    if suffix == ".bz2":
        import bz2

        return bz2.open, (EOFError, OSError)
    if suffix == ".xz":
        import lzma

        return lzma.open, (EOFError, lzma.LZMAError)
    zstandard = import_extra("zstandard", "A .zst file", "zstandard", "zstd")
    return _Zstandard, (EOFError, zstandard.ZstdError)


# Of compressed bytes: each may stand for 32 KiB.
_PART = 1 << 12


class _Zstandard(io.RawIOBase):
    """A file of one or more frames; one that is cut short is an error."""

    def __init__(self, file):
        super().__init__()
        self._file = file
        self._frame = None
        self._compressed = b""
        # Cut without a copy: it may be long.
        self._rest = memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._rest and self._next_part():
            pass
        part, self._rest = (
            self._rest[: len(buffer)],
            self._rest[len(buffer) :],
        )
        buffer[: len(part)] = part
        return len(part)

    def _next_part(self):
        import zstandard

        compressed = self._compressed or self._file.read(_PART)
        self._compressed = b""
        if not compressed:
            if self._frame is not None:
                raise EOFError("the file ends within a frame")
            return False
        if self._frame is None:
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._rest = memoryview(self._frame.decompress(compressed))
        if self._frame.eof:
            self._compressed = self._frame.unused_data
            self._frame = None
        return True

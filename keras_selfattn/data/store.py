"""Arrays that grow row by row, in memory or in files."""

import collections
import contextlib
import math
import os
import pathlib
import tempfile

import numpy as np

from keras_selfattn.data.plan import offsets_of
from keras_selfattn.data.plan import spans


def read(array):
    """An array, or that of a file, of which only what is used is in memory."""
    if isinstance(array, pathlib.Path):
        return np.load(array, mmap_mode="r")
    return array


def take(array, starts, lengths):
    """Some spans of an array, or of that of a file, one after the other.

    A file is not mapped: beside each page that is touched the system maps its
    neighbors, which for rows from all over a file is a hundred times as much
    memory as they have.

    Args:
        array: NumPy array, or path of its file.
        starts: int64 array `(spans,)`, where each span begins.
        lengths: The same, how many rows it has.
    """
    if not isinstance(array, pathlib.Path) or not hasattr(os, "preadv"):
        return read(array)[spans(starts, lengths)]
    with open(array, "rb") as file:
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        taken = np.empty((lengths.sum(), *shape[1:]), dtype)
        width = dtype.itemsize * math.prod(shape[1:])
        # Spans that touch are read as one.
        apart = starts[1:] != starts[:-1] + lengths[:-1]
        firsts = np.flatnonzero(np.concatenate(([True], apart))[: len(starts)])
        here = offsets_of(lengths)
        ends = here[np.append(firsts, len(starts))[1:]].tolist()
        there = (file.tell() + starts[firsts] * width).tolist()
        rest = taken.reshape(-1).view("uint8")
        start = 0
        for place, end in zip(there, ends, strict=True):
            _fill(file, rest[start * width : end * width], place)
            start = end
    return taken


def _fill(file, part, place):
    while len(part):
        count = os.preadv(file.fileno(), [part], place)
        if not count:
            raise ValueError(f"{file.name} ends before its last row")
        part, place = part[count:], place + count


class Memory:
    """Arrays that grow."""

    def __init__(self):
        self._parts = collections.defaultdict(list)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._parts.clear()

    def add(self, name, rows):
        self._parts[name].append(rows)

    def finish(self):
        return {
            name: np.concatenate(parts) for name, parts in self._parts.items()
        }


class Folder:
    """Arrays that grow in files, which get their names when complete."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._open = contextlib.ExitStack()
        self._files = {}
        self._shapes = {}

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=self._folder)
        self._temporary = self._open.enter_context(temporary)
        return self

    def __exit__(self, *args):
        self._open.close()

    def add(self, name, rows):
        if name not in self._files:
            self._files[name] = self._open.enter_context(self._create(name))
            self._shapes[name] = rows.dtype, 0, rows.shape[1:]
            self._write_header(name)
        dtype, count, shape = self._shapes[name]
        self._shapes[name] = dtype, count + len(rows), shape
        self._files[name].write(np.ascontiguousarray(rows).data)

    def _create(self, name):
        return open(os.path.join(self._temporary, f"{name}.npy"), "wb")

    def _write_header(self, name):
        # NumPy leaves room in it, so that the number of rows may grow.
        dtype, count, shape = self._shapes[name]
        header = {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": (count, *shape),
        }
        np.lib.format.write_array_header_1_0(self._files[name], header)

    def finish(self):
        paths = {}
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()
            paths[name] = self._folder / f"{name}.npy"
            os.replace(file.name, paths[name])
        return paths

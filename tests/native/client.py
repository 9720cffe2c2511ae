"""The C program that runs SavedModels, built once and called from tests."""

import functools
import json
import pathlib
import shutil
import struct
import subprocess
import tempfile

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

SOURCE = pathlib.Path(__file__).parent / "savedmodel_client.c"


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="native_")


@functools.cache
def program():
    """Path of the program; tests are skipped where it cannot be built."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = pathlib.Path(tf.sysconfig.get_lib())
    libraries = [
        folder / "libtensorflow_cc.so.2",
        folder / "libtensorflow_framework.so.2",
    ]
    if not all(path.exists() for path in libraries):
        pytest.skip("this TensorFlow comes without its C library")
    path = pathlib.Path(_folder().name) / "savedmodel_client"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"]
    if shutil.which("ld.gold"):
        # The usual linker takes five times as long for these libraries.
        flags.append("-fuse-ld=gold")
    include = ["-I", tf.sysconfig.get_include()]
    command = [compiler, *flags, *include, SOURCE, "-o", path, *libraries]
    subprocess.run([*command, "-lm", f"-Wl,-rpath,{folder}"], check=True)
    return path


def signatures(folder):
    """The signatures of a SavedModel that answer texts, by name."""
    saved_model = saved_model_pb2.SavedModel.FromString(
        (folder / "saved_model.pb").read_bytes()
    )
    found = saved_model.meta_graphs[0].signature_def
    return {
        name: found[name] for name in sorted(found) if not name.startswith("_")
    }


class Request:
    """A call of the program: all signatures of a SavedModel on texts.

    Args:
        folder: `pathlib.Path` of the SavedModel.
        rows: List of bytes, or of pairs of bytes.
        names: The signatures to run, or `None` for all.
        threads: How many threads repeat it.
        newer: Path of a SavedModel that appears in the meantime, or `None`.

    Attributes:
        command: The command line.
        keys: The pair of signature and output of each array that it prints.
    """

    def __init__(self, folder, rows, names=None, threads=0, newer=None):
        self.keys = []
        self.command = [program(), folder]
        requirements = folder / "assets.extra" / "requirements.json"
        for library in json.loads(requirements.read_text())["op_libraries"]:
            import tensorflow_text

            root = pathlib.Path(tensorflow_text.__path__[0])
            self.command += ["-l", root / library]
        self.command += ["-t", str(threads)]
        if newer is not None:
            self.command += ["-n", newer]
        files = write_texts(rows)
        for name, signature in signatures(folder).items():
            if names is not None and name not in names:
                continue
            self.command.append("-s")
            inputs = sorted(signature.inputs, reverse=True)
            for file, key in zip(files, inputs, strict=True):
                self.command.append(f"{signature.inputs[key].name}={file}")
            for key, tensor in sorted(signature.outputs.items()):
                self.command.append(tensor.name)
                self.keys.append((name, key))

    def parse(self, lines):
        """By signature and output the arrays of an iterator of lines."""
        return {key: _array(next(lines), next(lines)) for key in self.keys}

    def run(self):
        """Runs it; `RuntimeError` with what it says where it fails."""
        done = subprocess.run(
            self.command, capture_output=True, text=True, timeout=300
        )
        if done.returncode:
            raise RuntimeError(done.stderr or f"code {done.returncode}")
        return self.parse(iter(done.stdout.splitlines()))


def write_texts(rows):
    """Files of the texts of rows: one, or one for each side of pairs."""
    columns = [rows]
    if rows and isinstance(rows[0], tuple):
        columns = zip(*rows, strict=True)
    files = []
    for number, column in enumerate(columns):
        files.append(pathlib.Path(_folder().name) / f"texts_{number}")
        files[-1].write_bytes(
            b"".join(struct.pack("=Q", len(text)) + text for text in column)
        )
    return files


def _array(header, values):
    dtype, *shape = header.split()
    if dtype == "string":
        rows = [bytes.fromhex(value[1:]) for value in values.split()]
        array = np.array(rows, dtype=object)
    else:
        array = np.array([float(value) for value in values.split()])
    return array.reshape([int(size) for size in shape])

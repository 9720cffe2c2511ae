"""The C program that asks a SavedModel."""

import pathlib
import shutil
import subprocess

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

_SOURCE = pathlib.Path(__file__).parent / "served_text.c"


def command(saved_model, libraries, text, folder):
    """Builds the program, and returns the command that asks a SavedModel.

    Args:
        saved_model: `pathlib.Path` of the SavedModel.
        libraries: Paths of the libraries of ops that it calls.
        text: The text to ask about.
        folder: `pathlib.Path` of a folder for the program.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "served_text"
    where = tf.sysconfig.get_lib()
    linked = [
        f"{where}/libtensorflow_{name}.so.2" for name in ("cc", "framework")
    ]
    subprocess.run(
        [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
        # The usual linker takes five times as long for these libraries.
        + ["-fuse-ld=gold"] * bool(shutil.which("ld.gold"))
        + ["-I", tf.sysconfig.get_include(), _SOURCE, "-o", program]
        + [*linked, f"-Wl,-rpath,{where}"],
        check=True,
    )
    graph = saved_model_pb2.SavedModel.FromString(
        (saved_model / "saved_model.pb").read_bytes()
    )
    signature = graph.meta_graphs[0].signature_def["serving_default"]
    names = signature.inputs["text"].name, signature.outputs["probabilities"]
    return [str(program), str(saved_model), names[0], names[1].name, text] + [
        str(path) for path in libraries
    ]

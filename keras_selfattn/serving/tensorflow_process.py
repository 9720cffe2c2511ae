"""Exports from other backends, made by a process that runs TensorFlow."""

import builtins
import contextlib
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import keras

from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.models.loading import from_preset
from keras_selfattn.serving.reduced_classifier import ReducedClassifier
from keras_selfattn.serving.reduced_precision import reduce_precision

# The new process finds the modules that this one has, and leaves interrupts
# from the keyboard to it.
_PROGRAM = f"""
import sys
sys.path[:] = sys.argv[1].split("\\n")
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from {__name__} import main
main()
"""


def in_tensorflow(function, model, folder, **arguments):
    """Call `function(model, folder, **arguments)` on the backend TensorFlow.

    Where Keras runs on another backend, a process of its own does that. It
    loads the model from a temporary folder.

    Args:
        function: A function of a module, which writes to `folder`.
        model: A classifier.
        folder: `pathlib.Path`.
        **arguments: Further ones, of JSON's types.

    Raises:
        ValueError: if the model can't be handed on.
        RuntimeError: if the process ended without an answer.
    """
    if is_at_hand():
        function(model, folder, **arguments)
        return
    with tempfile.TemporaryDirectory(prefix="export_") as temporary:
        temporary = pathlib.Path(temporary)
        _save(model, temporary / "model")
        answer = _ask(
            {
                "temporary": str(temporary),
                "precision": getattr(model, "precision", None),
                "module": function.__module__,
                "function": function.__name__,
                "folder": str(folder),
                "arguments": arguments,
            },
            temporary,
        )
    if answer is not None:
        name, message = answer["type"], answer["message"]
        if hasattr(builtins, name):
            raise getattr(builtins, name)(message)
        raise RuntimeError(f"{name}: {message}")


def is_at_hand():
    """Whether Keras runs on TensorFlow here."""
    return keras.backend.backend() == "tensorflow"


def _save(model, folder):
    if not isinstance(model, Classifier):
        raise ValueError(
            "On another backend than TensorFlow, a classifier of "
            "`keras_selfattn.models` can be exported. Received: "
            f"{type(model).__name__}"
        )
    if isinstance(model, ReducedClassifier):
        model = model.in_float32()
    if type(model).__name__ not in CLASSES:
        raise ValueError(
            "On another backend than TensorFlow, a model is exported as one "
            f"of the classes {', '.join(CLASSES)}. Received: "
            f"{type(model).__name__}"
        )
    model.save_to_preset(folder)


def _ask(request, temporary):
    """What the process answers: `None`, or its error."""
    answer = temporary / "answer.json"
    messages = temporary / "messages"
    path = "\n".join(os.path.abspath(entry) for entry in sys.path)
    environment = {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **os.environ,
        "KERAS_BACKEND": "tensorflow",
        # This process may have taken the GPU's memory.
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    with (
        messages.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, path],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
        ) as process,
    ):
        try:
            # The other process ends when its standard input is closed.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            process.wait()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        lines = messages.read_text(encoding="utf-8", errors="replace").split()
        raise RuntimeError(
            "The TensorFlow process that writes exports ended with code "
            f"{process.returncode}: {' '.join(lines)[-500:]}"
        )
    return json.loads(answer.read_text(encoding="utf-8"))


def main():
    """Do what this process is asked on its standard input."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_other, daemon=True).start()
    temporary = pathlib.Path(request["temporary"])
    # The other process deletes the folder, and what is left in it.
    tempfile.tempdir = str(temporary)
    answer = None
    try:
        model = from_preset(temporary / "model")
        if request["precision"] is not None:
            model = reduce_precision(model, request["precision"])
        module = importlib.import_module(request["module"])
        getattr(module, request["function"])(
            model, pathlib.Path(request["folder"]), **request["arguments"]
        )
    except Exception as error:
        answer = {"type": type(error).__name__, "message": str(error)}
    text = json.dumps(answer)
    (temporary / "answer.json").write_text(text, encoding="utf-8")


def _end_with_the_other():
    sys.stdin.read()
    os._exit(1)

"""Models in formats other than TensorFlow's."""

import importlib
import json
import os
import pathlib
import tempfile

import tensorflow as tf

from keras_selfattn.serving.recurrent import without_cudnn
from keras_selfattn.serving.staging import staging_folder

ONNX_FILE = "model.onnx"
OPENVINO_FILE = "model.xml"
LITERT_FILE = "model.tflite"
LABELS_FILE = "labels.json"


def export_onnx(model, folder):
    """Writes a model for ONNX Runtime, with its tokenizer beside it.

    The inputs of `model.onnx` are those of the model, token ids (and
    character ids) of any batch size and length; its output is the
    probabilities. The vocabulary and the tokenizer's settings lie beside it
    for `keras_selfattn.text.TextPreprocessor.load(folder)`, which gives the
    ids, and `labels.json` has the names of the classes.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        folder: Path of a folder that does not exist.

    Returns:
        `pathlib.Path` of the folder.

    Raises:
        ValueError: If the folder exists or cannot be written, or the model
            has no `preprocessor` or `labels`.
        ImportError: If a package of the extra `formats` is not installed.
    """
    _check_packages("ONNX", "onnx", "tf2onnx")

    def write(written):
        path = str(written / ONNX_FILE)
        with without_cudnn(model, portable=True):
            model.export(path, format="onnx", verbose=False)

    return _export(model, folder, write)


def export_openvino(model, folder):
    """Writes a model for OpenVINO, with its tokenizer beside it.

    As `export_onnx`, but the files of the model are `model.xml` and
    `model.bin`.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        folder: Path of a folder that does not exist.

    Returns:
        `pathlib.Path` of the folder.

    Raises:
        ValueError: If the folder exists or cannot be written, or the model
            has no `preprocessor` or `labels`.
        ImportError: If openvino is not installed.
    """
    _check_packages("OpenVINO", "openvino")

    def write(written):
        import openvino

        with tempfile.TemporaryDirectory() as saved_model:
            with without_cudnn(model, portable=True):
                _save_ids_model(model, saved_model)
            openvino.save_model(
                openvino.convert_model(saved_model),
                written / OPENVINO_FILE,
                compress_to_fp16=False,
            )

    return _export(model, folder, write)


def export_litert(model, folder):
    """Writes a model for LiteRT, with its tokenizer beside it.

    As `export_onnx`, but the model is `model.tflite` and takes one text (or
    pair) at a time, of any length: batches of one.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        folder: Path of a folder that does not exist.

    Returns:
        `pathlib.Path` of the folder.

    Raises:
        ValueError: If the folder exists or cannot be written, or the model
            has no `preprocessor` or `labels`.
    """

    def write(written):
        with tempfile.TemporaryDirectory() as saved_model:
            with without_cudnn(model, portable=True):
                # Its loops take states of a size that is known.
                _save_ids_model(model, saved_model, batch=1)
            converter = tf.lite.TFLiteConverter.from_saved_model(saved_model)
            (written / LITERT_FILE).write_bytes(converter.convert())

    return _export(model, folder, write)


def _check_packages(name, *packages):
    try:
        for package in packages:
            importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f"The {name} format needs {' and '.join(packages)}: "
            'pip install "keras_selfattn[formats]"'
        ) from None


def _export(model, folder, write):
    """Calls `write` with a new folder that has the tokenizer and labels."""
    for attribute in ("preprocessor", "labels"):
        if getattr(model, attribute) is None:
            raise ValueError(
                f"A model that is exported needs `{attribute}`. Received "
                f"a model whose `{attribute}` is None"
            )
    folder = pathlib.Path(folder)
    if os.path.lexists(folder):
        raise ValueError(f"{folder} exists already; choose another folder")
    with staging_folder(folder.parent) as staging:
        written = staging / folder.name
        model.preprocessor.save(written)
        text = json.dumps(model.labels, ensure_ascii=False, indent=2) + "\n"
        (written / LABELS_FILE).write_text(text, encoding="utf-8")
        write(written)
        os.replace(written, folder)
    return folder


def _save_ids_model(model, folder, batch=None):
    """Writes a SavedModel whose inputs are ids."""
    signature = {
        tensor.name: tf.TensorSpec(
            (batch, *tensor.shape[1:]), tf.int32, name=tensor.name
        )
        for tensor in model.inputs
    }
    module = tf.Module()
    module.weights = [weight.value for weight in model.weights]
    function = tf.function(
        lambda inputs: {"probabilities": model(inputs, training=False)},
        input_signature=[signature],
        autograph=False,
    )
    tf.saved_model.save(module, folder, function)

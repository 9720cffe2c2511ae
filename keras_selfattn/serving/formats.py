"""Models in formats other than TensorFlow's."""

import os
import pathlib
import tempfile

import keras
import tensorflow as tf

from keras_selfattn.backends.compiled import as_probabilities
from keras_selfattn.checksums import write_checksums
from keras_selfattn.files import new_folder
from keras_selfattn.files import write_json
from keras_selfattn.first_use import import_extra
from keras_selfattn.model_card import model_card
from keras_selfattn.models.classifier import check_has_no_code
from keras_selfattn.models.portable import without_cudnn
from keras_selfattn.serving import litert_layers
from keras_selfattn.serving.checks import check_model
from keras_selfattn.serving.format_card import CARD_FILE
from keras_selfattn.serving.format_card import format_card
from keras_selfattn.serving.storage import Storage
from keras_selfattn.serving.tensorflow_process import in_tensorflow

ONNX_FILE = "model.onnx"
OPENVINO_FILE = "model.xml"
LITERT_FILE = "model.tflite"
LABELS_FILE = "labels.json"


def export_onnx(
    model: keras.Model, folder: str | os.PathLike, card: str | None = None
) -> pathlib.Path:
    """Write a model for ONNX Runtime, with its tokenizer beside it.

    The inputs of `model.onnx` are those of the model, token ids (and
    character ids) of any batch size and length; its output is
    `probabilities`. The vocabulary and the tokenizer's settings lie beside it
    for `keras_selfattn.text.TextPreprocessor.load(folder)`, which gives the
    ids, and `labels.json` has the names of the classes. `model_card.md` says
    what the model is, and how a client asks it.

    Args:
        model: A classifier with a `preprocessor` and `labels`, or what
            `reduce_precision` made of it with `"int8"`.
        folder: Path of a folder that does not exist.
        card: String, the model card in Markdown, which gets a section on the
            format. Defaults to `None`, which is
            `keras_selfattn.model_card.model_card(model)`.

    Returns:
        `pathlib.Path` of the folder.

    Raises:
        ValueError: if the folder exists or cannot be written, or the model
            has no `preprocessor` or `labels`, or a preprocessor of a class
            that the package does not have, or computes in a type that the
            format can't.
        ImportError: if a package of the extra `formats` is not installed.
    """
    for package in ("onnx", "tf2onnx"):
        import_extra(package, "The ONNX format", package, "formats")
    return _export("onnx", model, folder, write_onnx, card)


def write_onnx(model, folder):
    """Write `model.onnx` to a folder."""
    import onnx

    from keras_selfattn.serving.onnx_graph import translating

    try:
        onnx.save(translating.translate(model), folder / ONNX_FILE)
    except translating.NoRule:
        _convert_to_onnx(model, folder / ONNX_FILE)


def _convert_to_onnx(model, path):
    """Write any model, as the code of Keras that a converter follows."""
    with without_cudnn(model, portable=True):
        _of_ids(model).export(
            str(path),
            format="onnx",
            verbose=False,
            # Without it Keras takes a model only after its first call.
            input_signature=[_signature(model)],
        )


def export_openvino(
    model: keras.Model, folder: str | os.PathLike, card: str | None = None
) -> pathlib.Path:
    """Write a model for OpenVINO, with its tokenizer beside it.

    As `export_onnx`, of the same arguments, return value and errors, but the
    files of the model are `model.xml` and `model.bin`.
    """
    for module, package in (("openvino", "OpenVINO"), ("onnx", "onnx")):
        import_extra(module, "The OpenVINO format", package, "formats")
    return _export("openvino", model, folder, write_openvino, card)


def write_openvino(model, folder):
    """Write `model.xml` and `model.bin` to a folder."""
    import onnx
    import openvino

    from keras_selfattn.serving.onnx_graph import translating

    with tempfile.TemporaryDirectory() as temporary:
        source = pathlib.Path(temporary) / ONNX_FILE
        try:
            # OpenVINO's `LSTM` overlooks lengths that are inputs.
            made = translating.translate(model, gives_lengths=False)
            onnx.save(made, source)
        except translating.NoRule:
            source = pathlib.Path(temporary) / "savedmodel"
            _save_ids_model(model, str(source))
        converted = openvino.convert_model(source)
        names = {tensor.name for tensor in model.inputs} | {"probabilities"}
        for operation in converted.get_ops():
            for tensor in operation.outputs():
                # Else a cast that falls away leaves its name to the inputs.
                tensor.set_names(tensor.names & names)
        # Otherwise it rounds what it multiplies with weights of 8 bits, too.
        converted.set_rt_info(
            "0", ["runtime_options", "DYNAMIC_QUANTIZATION_GROUP_SIZE"]
        )
        openvino.save_model(
            converted, folder / OPENVINO_FILE, compress_to_fp16=False
        )


def export_litert(
    model: keras.Model, folder: str | os.PathLike, card: str | None = None
) -> pathlib.Path:
    """Write a model for LiteRT, with its tokenizer beside it.

    As `export_onnx`, of the same arguments, return value and errors, but the
    model is `model.tflite`. It needs no further package.
    """
    return _export("litert", model, folder, write_litert, card)


def write_litert(model, folder):
    """Write `model.tflite` to a folder."""
    with tempfile.TemporaryDirectory() as saved_model:
        _save_ids_model(model, saved_model, for_litert=True)
        converter = tf.lite.TFLiteConverter.from_saved_model(saved_model)
        (folder / LITERT_FILE).write_bytes(converter.convert())


# What the card says of each: its file, and what runs it.
_ABOUT = {
    "onnx": (ONNX_FILE, "ONNX Runtime"),
    "openvino": (OPENVINO_FILE, "OpenVINO"),
    "litert": (LITERT_FILE, "LiteRT, by the signature `serving_default`,"),
}


def _export(format, model, folder, write, card):
    """Call `write` with a new folder that has all else that a client needs."""
    check_model(model, format)
    check_has_no_code(model.preprocessor)
    folder = pathlib.Path(folder)
    if os.path.lexists(folder):
        raise ValueError(f"{folder} exists already; choose another folder")
    with new_folder(folder) as written:
        model.preprocessor.save(written)
        write_json(written / LABELS_FILE, model.labels, ensure_ascii=False)
        text = format_card(card or model_card(model), model, *_ABOUT[format])
        (written / CARD_FILE).write_text(text, encoding="utf-8")
        in_tensorflow(write, model, written)
        write_checksums(written)
    return folder


def _of_ids(model):
    """A model of ids whose output has its name in all formats."""
    outputs = {"probabilities": as_probabilities(model, model.output)}
    return keras.Model(model.input, outputs, name=model.name)


def _signature(model):
    return {
        tensor.name: tf.TensorSpec(
            (None, *tensor.shape[1:]), tf.int32, name=tensor.name
        )
        for tensor in model.inputs
    }


def _save_ids_model(model, folder, for_litert=False):
    """Write a SavedModel whose inputs are ids.

    Args:
        model: A classifier.
        folder: Path of a folder.
        for_litert: Boolean, whether layers are those of `litert_layers`.
    """
    storage = Storage(model)
    module = tf.Module()
    module.weights = storage.variables
    of_ids = _of_ids(model)

    def answer(inputs):
        with storage.read():
            if for_litert:
                return litert_layers.answer(of_ids, model.sides, inputs)
            return of_ids(inputs, training=False)

    function = tf.function(
        answer, input_signature=[_signature(model)], autograph=False
    )
    with without_cudnn(model, portable=True):
        tf.saved_model.save(module, folder, function)

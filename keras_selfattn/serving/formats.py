"""Models in formats other than TensorFlow's."""

import json
import os
import pathlib

from keras_selfattn.serving.recurrent import without_cudnn
from keras_selfattn.serving.staging import staging_folder

ONNX_FILE = "model.onnx"
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
    try:
        import onnx  # noqa: F401
        import tf2onnx  # noqa: F401
    except ImportError:
        raise ImportError(
            "The ONNX format needs onnx and tf2onnx: "
            'pip install "keras_selfattn[formats]"'
        ) from None
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
        # The converter knows Keras's own loops.
        with without_cudnn(model, keras_loops=True):
            model.export(str(written / ONNX_FILE), format="onnx", verbose=False)
        os.replace(written, folder)
    return folder

"""SavedModels in Python, without the Keras model they came from."""

import concurrent.futures
import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from keras_selfattn.checksums import check_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.streams import several
from keras_selfattn.text import string_tensor
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.zoo.folders import find_saved_model

REQUIREMENTS = "requirements.json"


def load_savedmodel(
    path: str | os.PathLike, verify: bool = True
) -> "ServedModel":
    """Load what `export` wrote.

    Args:
        path: Path of a version folder, or of a folder of version folders, of
            which the newest is taken.
        verify: Boolean, whether the files must be those that were written,
            by their SHA-256 in `checksums.json`, if there is one.

    Returns:
        A `ServedModel`.

    Raises:
        ValueError: if there is no such SavedModel, or it has been changed.
        ImportError: if the graph calls ops of tensorflow-text, and that
            package is not there.
    """
    return ServedModel(_version_folder(pathlib.Path(path)), verify)


class ServedModel:
    """A SavedModel in Python, without the Keras model that it came from.

    Where the model reads pairs, each text is a pair of str or bytes.

    Args:
        folder: Path of the version folder.
        verify: As in `load_savedmodel`.

    Attributes:
        folder: `pathlib.Path` of the version folder.
        requirements: Dictionary of what the graph needs.
        signatures: Dictionary by name of TensorFlow functions.
        input_names: The names of the inputs of each of them.
        labels: List of the names of the classes.
    """

    def __init__(self, folder: str | os.PathLike, verify: bool = True) -> None:
        folder = pathlib.Path(folder)
        if verify:
            check_checksums(folder)
        self.folder = folder
        self.requirements = _read_requirements(folder)
        if self.requirements["op_libraries"]:
            _import_text_ops(folder)
        try:
            self._loaded = _loaded(folder)
        except (OSError, tf.errors.OpError) as error:
            raise ValueError(
                f"{folder} is not a complete SavedModel: {one_line(error)}"
            ) from error
        self.signatures = dict(self._loaded.signatures)
        self._made = {}
        _, inputs = self.signatures[
            "serving_default"
        ].structured_input_signature
        # A premise comes before its hypothesis.
        self.input_names = sorted(inputs, reverse=True)
        self.labels = _labels(self.signatures["serving_default"])

    def predict(self, texts: Sequence) -> tuple[list[str], np.ndarray]:
        """Classify texts.

        Args:
            texts: List of B str or bytes, or of pairs of them, at least one.

        Returns:
            The B labels, a list of str, and their probabilities, a float32
            array of shape `(B, num_classes)`.
        """
        outputs = self.run("serving_default", texts)
        labels = [*map(decoded, outputs["label"])]
        return labels, outputs["probabilities"]

    def attend(self, texts: Sequence) -> tuple[list[list[str]], np.ndarray]:
        """Show which words the model looked at.

        Args:
            texts: List of B str or bytes, at least one.

        Returns:
            The tokens, B lists of str, and their attention scores, a float32
            array of shape `(B, num_heads, n)` that is 0 after a row's tokens.
        """
        outputs = self.run("attend", texts)
        return _words(outputs["tokens"]), outputs["scores"]

    def align(self, pairs: Sequence) -> dict[str, Any]:
        """Show which words of each pair the model looked at.

        Args:
            pairs: List of B pairs of str or bytes, at least one.

        Returns:
            A dictionary of the outputs of the signature `align`, with the
            tokens of each side as B lists of str.
        """
        return {
            name: _words(output) if name.endswith("_tokens") else output
            for name, output in self.run("align", pairs).items()
        }

    def embed(self, texts: Sequence) -> Any:
        """Embed texts.

        Args:
            texts: List of B str or bytes, or of pairs of them, at least one.

        Returns:
            A float32 array of shape `(B, num_heads, D)`; for pairs two of
            them, of the premises and of the hypotheses.
        """
        outputs = self.run("embed", texts)
        if len(outputs) == 1:
            return outputs["embedding"]
        return tuple(outputs[f"{name}_embedding"] for name in self.input_names)

    def run(self, name: str, texts: Sequence) -> dict[str, np.ndarray]:
        """Run a signature.

        Args:
            name: The name of a signature.
            texts: List of B str or bytes, or of pairs of them, at least one.

        Returns:
            Dictionary of its outputs, NumPy arrays.

        Raises:
            ValueError: if there is no such signature, or `texts` is not what
                it takes.
        """
        return self.run_together([name], texts)

    def run_together(
        self, names: Sequence[str], texts: Sequence
    ) -> dict[str, np.ndarray]:
        """Run several signatures, in one pass through the encoder.

        Exports of earlier versions take a pass for each.

        Args:
            names: List of names of signatures.
            texts: List of B str or bytes, or of pairs of them, at least one.

        Returns:
            Dictionary of the outputs of all of them, NumPy arrays.

        Raises:
            ValueError: as `run`.
        """
        for name in names:
            if name not in self.signatures:
                raise ValueError(
                    "Expected one of the signatures "
                    f"{', '.join(map(repr, self.signatures))}. "
                    f"Received: {name!r}"
                )
        columns = string_tensors(texts, len(self.input_names))
        outputs = {}
        if len(names) > 1 and hasattr(self._loaded, "together"):
            outputs = self._together(tuple(names))(*columns)
        else:
            inputs = dict(zip(self.input_names, columns, strict=True))
            for name in names:
                outputs |= self.signatures[name](**inputs)
        return {key: value.numpy() for key, value in outputs.items()}

    def _together(self, names):
        if names not in self._made:
            wanted = {
                key
                for name in names
                for key in self.signatures[name].structured_outputs
            }

            def run(*columns):
                outputs = self._loaded.together(*columns)
                return {key: outputs[key] for key in wanted}

            texts = [tf.TensorSpec((None,), tf.string)] * len(self.input_names)
            # What is not wanted is no part of the graph that runs.
            self._made[names] = tf.function(run, texts, autograph=False)
        return self._made[names]


def _loaded(folder):
    # The scope of a strategy is that of a thread. Signatures can't read the
    # variables that it makes.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(tf.saved_model.load, str(folder)).result()


def string_tensors(texts, count):
    """String tensors `(B,)` of texts, or of pairs where `count` is 2.

    Raises:
        ValueError: if `texts` is no list of at least one of them.
    """
    rows = [
        (text,) if isinstance(text, str | bytes) else text
        for text in several(texts)
    ]
    if not rows or not all(
        isinstance(row, tuple | list)
        and len(row) == count
        and all(isinstance(text, str | bytes) for text in row)
        for row in rows
    ):
        kind = "str or bytes" if count == 1 else "pair of str or bytes"
        raise ValueError(
            f"`texts` must be a list of at least one {kind}. "
            f"Received: texts={texts!r}"
        )
    return [string_tensor(column) for column in zip(*rows, strict=True)]


def _labels(classify):
    """The classes of a SavedModel, which its graph holds as a constant."""
    classes = classify.structured_outputs["probabilities"].shape[-1]
    found = [
        tensor.numpy().tolist()
        for tensor in classify.captured_inputs
        if tensor.dtype == tf.string and tensor.shape == (classes,)
    ]
    if len(found) != 1:
        return [f"class {number + 1}" for number in range(classes)]
    return [*map(decoded, found[0])]


def _version_folder(path):
    folder = find_saved_model(path)
    if folder is None:
        raise ValueError(
            "Expected the folder of a SavedModel, or a folder of numbered "
            f"ones. Received: {path}"
        )
    return folder


def _read_requirements(folder):
    path = folder / "assets.extra" / REQUIREMENTS
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{folder} is not a SavedModel of keras_selfattn: {one_line(error)}"
        ) from error


def _import_text_ops(folder):
    try:
        import tensorflow_text  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{folder} calls ops of TF Text, and the package tensorflow-text "
            f"cannot be imported: {one_line(error)}"
        ) from error


def _words(tokens):
    return [[decoded(token) for token in row if token] for row in tokens]

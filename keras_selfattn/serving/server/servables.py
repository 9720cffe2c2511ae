"""The models that a server answers with: SavedModels and folders of runs."""

import pathlib

import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.serving import warmup
from keras_selfattn.serving.checks import check_model
from keras_selfattn.serving.endpoints import endpoints
from keras_selfattn.serving.endpoints import input_names
from keras_selfattn.serving.served_model import load_savedmodel
from keras_selfattn.serving.tensorflow_process import is_at_hand
from keras_selfattn.zoo import hub
from keras_selfattn.zoo.folders import find_model


class Servable:
    """A model that answers signatures.

    Args:
        name: String, the name that clients ask it by.
        version: Integer.
        input_names: The names of the texts of a row.
        signatures: Dictionary by name of functions from string tensors
            `(B,)`, by those names, to a dictionary of tensors.
        labels: List of the names of the classes as strings.

    Attributes:
        is_pair: Boolean, whether a row is a pair of texts.
        is_aligned: Boolean, whether the scores of a pair are those of words
            that look at each other.
    """

    def __init__(self, name, version, input_names, signatures, labels):
        self.name = name
        self.version = version
        self.input_names = list(input_names)
        self.signatures = signatures
        self.labels = labels
        self.is_pair = len(self.input_names) > 1
        # Of pairs, the models with heads have an embedding of each side.
        self.is_aligned = self.is_pair and "embed" not in signatures

    def run(self, signature, columns):
        """Outputs by name, NumPy arrays, of a list of bytes for each input."""
        inputs = {
            name: tf.constant(column)
            for name, column in zip(self.input_names, columns, strict=True)
        }
        outputs = self.signatures[signature](**inputs)
        return {name: output.numpy() for name, output in outputs.items()}

    def warm_up(self):
        """Run each signature once, as the first run is slow."""
        texts = [text.encode() for text in warmup.TEXTS]
        for signature in self.signatures:
            self.run(signature, [texts] * len(self.input_names))


def load(path, verify=True):
    """The `Servable` of a folder.

    Args:
        path: Path of a SavedModel's version, of a folder of such versions, of
            which the newest is taken, or of a run or a model, or the name of
            one, as in `keras_selfattn.models.from_preset`. The folder's name
            is the model's; a run has version 1.
        verify: Boolean, whether files must be those that were written.

    Raises:
        ValueError: if there is no model, or it can't be served.
    """
    if find_model(path) is None:
        return _saved_model(pathlib.Path(path), verify)
    return _run(path, verify)


def _saved_model(path, verify):
    served = load_savedmodel(path, verify)
    folder = served.folder.resolve()
    is_version = folder.name.isdecimal()
    return Servable(
        folder.parent.name if is_version else folder.name,
        int(folder.name) if is_version else 1,
        served.input_names,
        served.signatures,
        served.labels,
    )


def _run(path, verify):
    if not is_at_hand():
        raise ValueError(
            "The folder of a run is served on TensorFlow, a SavedModel with "
            f"any `KERAS_BACKEND`. Received: {path}"
        )
    model = models.from_preset(path, verify=verify)
    check_model(model, "savedmodel")
    names = input_names(model)
    by_place, _ = endpoints(model)
    signatures = {
        name: _concrete(function, names) for name, function in by_place.items()
    }
    name = pathlib.Path(path).resolve().name
    if hub.is_on_hub(path):
        name, _ = hub.parse(path)
        name = name.partition("/")[2]
    return Servable(name, 1, names, signatures, [*map(str, model.labels)])


def _concrete(function, names):
    """A function called by the names of its inputs, as those of SavedModels."""

    def by_name(**texts):
        return function(*(texts[name] for name in names))

    specs = {name: tf.TensorSpec((None,), tf.string, name) for name in names}
    return tf.function(by_name, autograph=False).get_concrete_function(**specs)

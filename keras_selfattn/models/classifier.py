"""What all classifiers share: views of the model, and preset folders."""

import os
import pathlib
import warnings
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import keras

from keras_selfattn.checksums import write_checksums
from keras_selfattn.files import read_json
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import write_json
from keras_selfattn.labels import plain
from keras_selfattn.layers.penalty_layer import KeepsPenalties
from keras_selfattn.models import arguments
from keras_selfattn.models import construction
from keras_selfattn.models.groups import GROUPS
from keras_selfattn.models.portable import ExportsPortably
from keras_selfattn.models.raw_texts import ReadsTexts
from keras_selfattn.models.sizes import check_fits
from keras_selfattn.models.sizes import with_sizes
from keras_selfattn.models.view import View
from keras_selfattn.models.weights import WEIGHTS_FILE
from keras_selfattn.models.weights import SavesWeights
from keras_selfattn.private_names import Cloning
from keras_selfattn.sides import SENTENCE
from keras_selfattn.zoo.folders import CONFIG_FILE

PREPROCESSOR_FILE = "preprocessor.json"
_TRAINING_FILE = "training.json"
# What the classes are in that a preset folder can name.
_PACKAGE = "keras_selfattn.models."
_TEXT = "keras_selfattn.text."


class Classifier(
    Cloning,
    ExportsPortably,
    SavesWeights,
    ReadsTexts,
    KeepsPenalties,
    keras.Model,
):
    """A functional model that gives class probabilities and its attention.

    Subclasses build the graph and hand it over with its inner views.

    Attributes:
        sides: Tuple of what the names of the inputs of each sentence begin
            with: `("",)`, or `("premise_", "hypothesis_")` for pairs.
        has_heads: Whether attention heads look at the words; otherwise the
            words of two sentences look at each other.
        preprocessor: The `keras_selfattn.text.TextPreprocessor` that turns
            text into the model's inputs, or `None`.
        labels: List of the names of the classes, or `None`. A name is a
            string, a number or a boolean, and is compared by its value or
            its text. Files and served models hold the text of them.
        training_record: Dictionary with what is known of the training, saved
            with the model.
    """

    sides: tuple[str, ...] = SENTENCE
    has_heads = True

    def __new__(cls, *args, **kwargs):
        if construction.is_graph(args) and not construction.clone_of(args[1]):
            # Arguments don't describe the clone that is another graph.
            return keras.Model(*args, **kwargs)
        return super().__new__(cls, *args, **kwargs)

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        views: dict,
        groups: Mapping,
        config: dict,
        **kwargs: Any,
    ) -> None:
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self._views = views
        self._group_of = {
            layer.name: group
            for group, members in groups.items()
            for layer in members
        }
        config = {"dtype": self.dtype_policy, **config}
        self._arguments = arguments.plain(
            arguments.applying(type(self), config)
        )
        self.preprocessor = None
        self.labels = None
        self.training_record = {}

    def _become_clone(self, inputs, outputs, name=None):
        origin, views = construction.clone_of(outputs)
        # Otherwise the clone would hold on to the weights of its origin.
        del outputs._clone_of
        with construction.dtype_scope(origin.dtype_policy):
            Classifier.__init__(
                self, inputs, outputs, views, {}, origin._arguments, name=name
            )
        self._group_of = origin._group_of
        if not origin.trainable:
            self.trainable = False
        self._take_over(origin)

    def _take_over(self, origin):
        """What a copy has of its origin besides arguments and weights."""
        for attribute in ("preprocessor", "labels", "training_record"):
            setattr(self, attribute, getattr(origin, attribute))

    def run_for_clone(self, inputs: Any, operation_fn: Callable) -> Any:
        """The outputs of a clone's graph; `keras.models.clone_model` asks."""
        views = dict(self._views)
        return construction.run_as_clone(self, views, inputs, operation_fn)

    def __setattr__(self, name, value):
        if name in ("preprocessor", "labels"):
            check_fits(self._arguments, **{name: value})
        if name == "preprocessor":
            # Keras would track it as a layer, one that XLA can't compile.
            object.__setattr__(self, name, value)
            return
        if name == "labels" and value is not None:
            value = plain(value)
        super().__setattr__(name, value)

    @property
    def gives_logits(self) -> bool:
        """Whether the outputs are logits, and no probabilities yet."""
        return self._arguments["activation"] is None

    def attention_model(self) -> keras.Model:
        """A model of the same inputs that gives the attention scores."""
        return View(
            self.input, self._views["attention_scores"], name="attention"
        )

    def explanation_model(self) -> keras.Model:
        """A model of the same inputs that answers and shows where it looked.

        Both come out of one pass through the encoder.

        Returns:
            A `keras.Model` that gives a dictionary of `"outputs"` and
            `"attention_scores"`.
        """
        return self._views_model("attention_scores")

    def _views_model(self, *names):
        views = {name: self._views[name] for name in names}
        return View(
            self.input, {"outputs": self.output, **views}, name="explanation"
        )

    def embedding_model(self) -> keras.Model:
        """A model of the same inputs that gives the sentence embeddings."""
        return View(
            self.input, self._views["sentence_embedding"], name="embedding"
        )

    def ngram_model(self) -> keras.Model:
        """A model of the same inputs that gives each n-gram's shares.

        Returns:
            A `keras.Model` that gives an array of shape `(batch, n, grams,
            num_classes)`, as `keras_selfattn.layers.NGramLogits` returns it
            with `return_shares`.

        Raises:
            ValueError: if the model has no n-grams.
        """
        if "ngram_shares" not in self._views:
            raise ValueError(
                f"The model {self.name!r} has no n-grams: it takes "
                "`ngram_buckets`"
            )
        return View(self.input, self._views["ngram_shares"], name="ngrams")

    def group_of(self, layer: keras.layers.Layer) -> str | None:
        """The part of the model that a layer is of, or `None`.

        Args:
            layer: One of the model's layers.

        Returns:
            One of the names that `parameter_counts` has.
        """
        return self._group_of.get(layer.name)

    def parameter_counts(self) -> dict[str, int]:
        """The number of weights of each part of the model.

        Returns:
            A dictionary with an integer for each of `"word vectors"`,
            `"encoder"`, `"pooling"` and `"classifier"`.
        """
        counts = dict.fromkeys(GROUPS, 0)
        for layer in self.layers:
            if layer.name in self._group_of:
                counts[self._group_of[layer.name]] += layer.count_params()
        return counts

    def summary(self, print_fn: Callable | None = None, **kwargs: Any) -> None:
        """Print the layers, and then the parameters of each part.

        Args:
            print_fn: Function to print with, as in `keras.Model.summary`.
            **kwargs: Further arguments of `keras.Model.summary`.
        """
        super().summary(print_fn=print_fn, **kwargs)
        counts = self.parameter_counts()
        lines = [f"{group:>14} {n:>13,}" for group, n in counts.items()]
        (print_fn or print)("\n".join([" Parameters by part:", *lines]))

    def quantize(self, *args: Any, **kwargs: Any) -> None:
        """Quantize the layers that Keras can, and warn of all others.

        Keras quantizes `Dense` layers alone, in place.
        `keras_selfattn.serving.reduce_precision` makes a copy with all
        weight matrices in 8 bits. A quantized model can be exported, and no
        longer saved.

        Args:
            *args: Arguments of `keras.Model.quantize`.
            **kwargs: Further arguments of it.
        """
        with warnings.catch_warnings():
            # Keras has one for each layer, those without weights included.
            warnings.filterwarnings("ignore", ".*have a `quantize` method")
            super().quantize(*args, **kwargs)
        left = [
            layer.name
            for layer in self.layers
            if _quantization_mode(layer) is None
            and any(len(weight.shape) > 1 for weight in layer.weights)
        ]
        if left:
            warnings.warn(
                "`quantize` left these layers as they were: "
                f"{', '.join(left)}. `keras_selfattn.serving."
                'reduce_precision(model, "int8")` quantizes their weights too',
                stacklevel=2,
            )

    def get_config(self) -> dict:
        if any(map(_quantization_mode, self.layers)):
            # Loading would read whole numbers for float weights.
            raise ValueError(
                f"The quantized model {self.name!r} has no configuration that "
                "it can be loaded or copied by. Save the model it was before"
            )
        config = {
            **self._arguments,
            "name": self.name,
            "trainable": self.trainable,
        }
        if self.trainable and "trainable_embeddings" in config:
            # They may have been fixed, or freed, since.
            vectors = self.get_layer("word_vectors")
            config["trainable_embeddings"] = vectors.trainable
        fixed = [
            name
            for name in self._fixed_layers()
            if not (name == "word_vectors" and "trainable_embeddings" in config)
        ]
        if self.trainable and fixed:
            config["fixed_layers"] = fixed
        if self.labels is not None:
            config["labels"] = list(self.labels)
        return config

    @classmethod
    def from_config(
        cls, config: dict, custom_objects: dict | None = None
    ) -> "Classifier":
        config = arguments.by_new_names(dict(config))
        labels = config.pop("labels", None)
        # Configurations had all arguments once, with or without effect.
        model = cls(**arguments.applying(cls, config))
        model.labels = labels
        return model

    def _fixed_layers(self):
        """The names of the layers whose weights are not trained."""
        return [
            layer.name
            for layer in self.layers
            if layer.weights
            # A wrapper may be trained, and its layer not.
            and not (layer.trainable and _inner(layer).trainable)
        ]

    def save(
        self, filepath: str | os.PathLike, *args: Any, **kwargs: Any
    ) -> None:
        """Write the model as a `.keras` file.

        Args:
            filepath: Path of the file.
            *args: Further arguments of `keras.Model.save`.
            **kwargs: Further arguments of it.

        Raises:
            ValueError: if the file is an HDF5 one, which would lose the
                preprocessor.
        """
        if pathlib.Path(filepath).suffix in (".h5", ".hdf5"):
            raise ValueError(
                "A model is saved with its preprocessor as a `.keras` file, or "
                "by `save_to_preset` as a folder. "
                f"Received: filepath={str(filepath)!r}"
            )
        super().save(filepath, *args, **kwargs)

    def save_assets(self, dir_path: str | os.PathLike) -> None:
        """Write the preprocessor and the record; `.keras` files have them.

        Args:
            dir_path: Path of the folder.
        """
        folder = pathlib.Path(dir_path)
        if self.preprocessor is not None:
            config = keras.saving.serialize_keras_object(self.preprocessor)
            write_json(folder / PREPROCESSOR_FILE, config)
            # Keras adds it but once, where others have the same preprocessor
            # with the first of them.
            self.preprocessor.save_assets(folder)
        if self.training_record:
            write_json(folder / _TRAINING_FILE, self.training_record)

    def load_assets(self, dir_path: str | os.PathLike | None) -> None:
        """Read what `save_assets` wrote.

        Args:
            dir_path: Path of the folder, or `None` where there is none.
        """
        if dir_path is None:
            return
        folder = pathlib.Path(dir_path)
        path = folder / PREPROCESSOR_FILE
        if path.exists():
            # What is not imported, Keras does not know by its name.
            from keras_selfattn import text  # noqa: F401

            preprocessor = keras.saving.deserialize_keras_object(
                read_json(path)
            )
            preprocessor.load_assets(folder)
            # Files had the vocabulary elsewhere once, and it is read later.
            object.__setattr__(self, "preprocessor", preprocessor)
        path = folder / _TRAINING_FILE
        if path.exists():
            self.training_record = read_json(path)

    def save_to_preset(self, folder: str | os.PathLike) -> None:
        """Write a folder that holds all that the model needs.

        The folder gets the configuration, the weights, the names of the
        classes, the vocabulary, and the SHA-256 of each file;
        `keras_selfattn.models.from_preset` checks them and loads it back. It
        is written beside and renamed, and replaces a preset folder of the
        same name.

        Args:
            folder: Path of the folder.

        Raises:
            ValueError: if `folder` exists and is not a preset folder, or
                another process is writing it, if the model or its
                `preprocessor` is of a class that the package does not have,
                or its `preprocessor` or `labels` are not of its sizes.
        """
        if not type(self).__module__.startswith(_PACKAGE):
            raise ValueError(
                "A preset folder has no code: it holds models of the "
                f"package's own classes. Received: a {type(self).__name__}; "
                "a `.keras` file holds it"
            )
        check_has_no_code(self.preprocessor)
        with_sizes(type(self), self._arguments, self.preprocessor, self.labels)
        folder = pathlib.Path(folder)
        if folder.exists() and not (folder / CONFIG_FILE).exists():
            raise ValueError(
                "A preset folder is written to a new path, or over another "
                f"preset folder. Received: {folder}, which is neither"
            )
        with replaced_folder(folder) as beside:
            self._save_weights_alone(beside / WEIGHTS_FILE)
            if self.preprocessor is not None:
                self.preprocessor.save(beside)
            config = self.get_config()
            labels = config.pop("labels", None)
            config = {
                "class_name": type(self).__name__,
                "config": config,
                "labels": labels,
                "training": self.training_record,
            }
            write_json(beside / CONFIG_FILE, config, ensure_ascii=False)
            write_checksums(beside)

    def _save_weights_alone(self, path):
        # Keras would save the optimizer's state with the weights.
        optimizer = getattr(self, "optimizer", None)
        self.optimizer = None
        try:
            self.save_weights(path)
        finally:
            self.optimizer = optimizer


def check_has_no_code(preprocessor: Any) -> None:
    """`ValueError` where a folder would lose a preprocessor's own code.

    Args:
        preprocessor: A preprocessor, or `None`.
    """
    own = type(preprocessor)
    if preprocessor is not None and not own.__module__.startswith(_TEXT):
        raise ValueError(
            "A folder has no code: it holds a `keras_selfattn.text."
            f"TextPreprocessor`. Received: a {own.__name__}; a `.keras` file "
            "holds it"
        )


def _inner(layer):
    """The layer that a wrapper holds, or the layer itself."""
    return getattr(layer, "layer", layer)


def _quantization_mode(layer):
    return _inner(layer).quantization_mode

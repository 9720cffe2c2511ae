"""A run that starts from a trained model rather than from a preset alone."""

import dataclasses
import pathlib

import keras
import numpy as np
from keras import ops

from keras_selfattn.files import read_json
from keras_selfattn.models.groups import GROUPS
from keras_selfattn.models.loading import load_whole
from keras_selfattn.models.restarting import restarted
from keras_selfattn.text.preprocessor import first_word_id
from keras_selfattn.training.building import compile_model
from keras_selfattn.training.preparation import induce_vectors
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.zoo import hub

# Without a record of the preset, the one whose training values are taken.
_PRESETS = {
    "SentenceClassifier": "lin2017_yelp",
    "SentencePairClassifier": "lin2017_snli",
    "DecomposableClassifier": "parikh2016_snli",
}
# What follows from the model's own words, or from the run's data.
_OF_DATA = ("vocabulary_size", "num_classes", "labels")
_OF_TEXTS = ("lowercase", "max_tokens", "prepend_null", "num_oov_indices")
# Its word vectors stay as they are.
_AS_THEY_ARE = {"normalize_vectors": False, "learn_vectors": 0}
_OF_MODEL = ("name", "trainable", "fixed_layers")
_NO_MORE = {
    "induce_vectors": False,
    "learn_vectors": 0,
    "unseen_words": 0,
    "class_weight": None,
}


def started_from(folder, name):
    """The name of the model that a run goes on from.

    Args:
        folder: Path of the folder of the run.
        name: The name that is asked for.

    Returns:
        `name`, or where it is one of the Hub without a revision, that of the
        commit that the run has started from.
    """
    path = pathlib.Path(folder, SETTINGS_FILE)
    if hub.is_on_hub(name) and path.exists():
        settings = read_json(path)
        known = settings.get("from") if isinstance(settings, dict) else None
        if str(known).startswith(f"{name}@"):
            return known
    return name


class Start:
    """The trained model that a run starts from.

    Args:
        name: As `keras_selfattn.models.from_preset` takes it.
        preset: The name of a preset that is asked for beside it, which there
            can't be.
        vectors: The word vectors that are asked for, likewise.
        freeze: Names of groups of layers whose weights stay.
        verify: Boolean, whether its files must be those that were written.

    Attributes:
        model: The classifier.
        preset: The name of the preset that it is one of.
        settings: Dictionary of what a run's settings say of it.

    Raises:
        ValueError: if one of them can't be.
    """

    def __init__(self, name, preset, vectors, freeze, verify):
        for given, value in (("preset", preset), ("vectors", vectors)):
            if value is not None:
                raise ValueError(
                    f"`{given}` must be None with `start` (--from), whose "
                    f"model has its own. Received: {given}={value!r}"
                )
        if hub.is_on_hub(name):
            name = hub.pinned(name)
        self.model = load_whole(name, verify, "A model to start from")
        self._freeze = _groups(self.model, freeze)
        record = self.model.training_record
        self.preset = record.get("preset", _PRESETS[type(self.model).__name__])
        self._training = record.get("training", {})
        self.settings = {"from": str(name), "freeze": self._freeze}

    def values(self, preset):
        """A `Preset` with the model's arguments and training values."""
        model = {
            name: value
            for name, value in self.model.get_config().items()
            if name not in (*_OF_DATA, *_OF_MODEL)
        }
        known = {
            **preset.training,
            **self._training,
            **_NO_MORE,
            **self._of_texts(),
        }
        return dataclasses.replace(preset, model=model, training=known)

    def _of_texts(self):
        """The training values that the model's preprocessor has decided."""
        return {
            name: getattr(self.model.preprocessor, name) for name in _OF_TEXTS
        }

    def check_texts(self, overrides):
        """`ValueError` where the model would read texts in another way.

        Args:
            overrides: Dictionary of training values.
        """
        for name, value in {**self._of_texts(), **_AS_THEY_ARE}.items():
            if overrides.get(name, value) != value:
                raise ValueError(
                    f"`{name}` must be that of the model that `start` (--from) "
                    f"names, {value!r}. Received: {name}={overrides[name]!r}"
                )

    def check(self, overrides):
        """`ValueError` where the model can't have other arguments."""
        if overrides:
            restarted(self.model, self.model.labels, **overrides)

    def make_model(self, texts, training, seed, overrides):
        """The model as it is before the first epoch.

        Args:
            texts: The `PreparedTexts`.
            training: Dictionary of training values.
            seed: Integer, the seed of fresh weights and of dropout.
            overrides: Dictionary of arguments that take the place of the
                model's.

        Returns:
            The compiled model.
        """
        keras.utils.set_random_seed(seed)
        model = restarted(
            self.model,
            texts.train_data.label_names,
            texts.preprocessor,
            **overrides,
        )
        self._induce(model, texts)
        for layer in model.layers:
            if model.group_of(layer) in self._freeze:
                layer.trainable = False
        compile_model(model, training)
        return model

    def _induce(self, model, texts):
        """Give the new words vectors, from those that stand around them."""
        layer = model.get_layer("word_vectors")
        table = np.array(ops.convert_to_numpy(layer.embeddings))
        preprocessor = self.model.preprocessor
        first = first_word_id(preprocessor)
        found = np.zeros(len(table), bool)
        found[first : preprocessor.vocabulary_size()] = True
        if found[first:].all() or not _occur(texts.train_data, found):
            return
        table[:first] = 0
        pair = induce_vectors(
            texts.train_data, texts.preprocessor, table, found
        )
        layer.load_vectors(*pair)


def _groups(model, names):
    counts = model.parameter_counts()
    known = [group for group in GROUPS if counts[group]]
    groups = [str(name).replace("_", " ") for name in names]
    for name, group in zip(names, groups, strict=True):
        if group not in known:
            raise ValueError(
                "`freeze` must name groups of layers that the model has: "
                f"{', '.join(known)}. Received: {name!r}"
            )
    return groups


def _occur(data, found):
    return any(found[ids].any() for ids, _ in data.token_stretches())

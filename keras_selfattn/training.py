"""Recipes: from labelled texts and a preset to a folder with a model."""

import collections
import csv
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile

import keras
import numpy as np

from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.models.loading import MODEL_FOLDER
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import build_vocabulary

SETTINGS_FILE = "settings.json"
HISTORY_FILE = "history.csv"
CHECKPOINT_FOLDER = "checkpoint"
_STATE_FILE = "state.json"
_CHECKPOINT_WEIGHTS = "state.weights.h5"

# Of a preset's training values, those that are not the optimizer's.
_NOT_OPTIMIZER = (
    "optimizer",
    "batch_size",
    "epochs",
    "lowercase",
    "max_tokens",
    "prepend_null",
    "num_oov_indices",
    "normalize_vectors",
)
MAX_TOKENS = 512


def train(
    preset,
    train_texts,
    dev_texts,
    folder,
    vectors=None,
    seed=0,
    resume=False,
    model_overrides=None,
    training_overrides=None,
    callbacks=(),
    verbose="auto",
):
    """Train a preset's model on labelled texts, and keep the best on dev.

    The folder gets the model with the best dev accuracy (`model/`, which
    `keras_selfattn.models.from_preset` loads, vocabulary included), the
    `settings.json` of the run, its `history.csv`, and a `checkpoint/` after
    each epoch.

    A run repeats itself for the same seed, data and settings, and one that
    was stopped and resumed ends with the weights of one that was not.

    Args:
        preset: The name of a preset.
        train_texts: Re-iterable of `(text, label)`, the training texts.
        dev_texts: The same, the texts that choose the best epoch.
        folder: Path of the folder of the run.
        vectors: Path of a file of word vectors in text format, or `None`.
        seed: Integer, the seed of weights, dropout and order.
        resume: Boolean, whether to go on with the run that is in `folder`.
        model_overrides: Dictionary of model arguments that take the place of
            the preset's.
        training_overrides: The same for the preset's training values.
        callbacks: Further Keras callbacks.
        verbose: As in `fit` below.

    Returns:
        The model with the best dev accuracy, with its `training_record`.

    Raises:
        ValueError: if the folder exists and `resume` is not given, if there
            is nothing to resume or if its settings differ, or if an argument
            or the data are not as expected.
    """
    preset_values = models.get_preset(preset)
    training = {"max_tokens": MAX_TOKENS, **preset_values.training}
    _check_names(training_overrides or {}, training)
    training.update(training_overrides or {})
    settings = {
        "preset": preset,
        "seed": seed,
        "vectors": None if vectors is None else str(vectors),
        "model": {**preset_values.model, **(model_overrides or {})},
        "training": training,
    }
    run = Run(folder, settings, resume)
    keras.utils.set_random_seed(seed)
    preprocessor, found = make_preprocessor(
        train_texts, training, vectors, settings["model"]
    )
    train_data = EncodedDataset.from_texts(train_texts, preprocessor)
    dev_data = EncodedDataset.from_texts(
        dev_texts, preprocessor, labels=train_data.label_names
    )
    overrides = dict(model_overrides or {})
    if found is not None:
        width = found[0].shape[1]
        if overrides.setdefault("embedding_dim", width) != width:
            raise ValueError(
                f"The word vectors in {vectors} have {width} numbers, where "
                f"embedding_dim={overrides['embedding_dim']} was asked for"
            )
    if preprocessor.character_vocabulary_size() is not None:
        overrides["character_vocabulary_size"] = (
            preprocessor.character_vocabulary_size()
        )
    model = models.from_preset(
        preset,
        vocabulary_size=preprocessor.vocabulary_size(),
        num_classes=len(train_data.label_names),
        **overrides,
    )
    if found is not None:
        model.get_layer("word_vectors").load_vectors(
            *found, normalize=training.get("normalize_vectors", False)
        )
    model.preprocessor = preprocessor
    model.labels = train_data.label_names
    model.training_record = {
        **settings,
        "train_rows": len(train_data),
        "dev_rows": len(dev_data),
    }
    compile_model(model, training)
    run.start()
    fit(
        model,
        train_data,
        dev_data,
        run,
        training["batch_size"],
        training["epochs"],
        seed,
        callbacks,
        verbose,
    )
    return models.from_preset(run.folder)


def make_preprocessor(texts, training, vectors, model):
    """The tokenizer with the vocabulary of the training texts.

    The vocabulary holds the words that occur twice and, where vectors are
    given, those that have one; where the vectors are fixed, only those.

    Returns:
        The preprocessor and, with `vectors`, the pair that
        `WordEmbedding.load_vectors` takes, otherwise `None`.
    """
    lowercase = training["lowercase"]

    def words_that_occur(times):
        return build_vocabulary(
            _strings(texts), lowercase=lowercase, min_count=times
        )

    if vectors is None:
        words = words_that_occur(2)
    else:
        words = words_that_occur(1)
        matrix, has_vector = load_word_vectors(vectors, words)
        kept = {words[row] for row in np.flatnonzero(has_vector)}
        if model.get("trainable_embeddings", True):
            kept.update(words_that_occur(2))
        rows = [row for row, word in enumerate(words) if word in kept]
        words = [words[row] for row in rows]
        matrix, has_vector = matrix[rows], has_vector[rows]
    characters = None
    if model.get("character_vocabulary_size") is not None:
        characters = most_frequent_characters(
            _strings(texts), model["character_vocabulary_size"] - 2
        )
    preprocessor = TextPreprocessor(
        words,
        lowercase=lowercase,
        max_tokens=training["max_tokens"],
        num_oov_indices=training.get("num_oov_indices", 1),
        prepend_null=training.get("prepend_null", False),
        characters=characters,
    )
    if vectors is None:
        return preprocessor, None
    # Ids of padding, unknown words and the NULL token come first.
    extra = preprocessor.vocabulary_size() - len(words)
    return preprocessor, (
        np.pad(matrix, ((extra, 0), (0, 0))),
        np.pad(has_vector, (extra, 0)),
    )


def most_frequent_characters(texts, count):
    """The `count` most frequent characters of the texts, in that order."""
    counter = collections.Counter()
    for text in texts:
        counter.update(text)
    printable = [(n, c) for c, n in counter.items() if not c.isspace()]
    return [c for _, c in sorted(printable, key=lambda x: (-x[0], x[1]))][
        :count
    ]


def _strings(texts):
    for text, _ in texts:
        if isinstance(text, str):
            yield text
        else:
            yield from text


def _check_names(overrides, known):
    for name in overrides:
        if name not in known:
            raise ValueError(
                "A training value must be one of "
                f"{', '.join(sorted(known))}. Received: {name!r}"
            )


def compile_model(model, training):
    """Compile a classifier with a recipe's optimizer and the papers' loss.

    Args:
        model: A `keras_selfattn.models.Classifier`.
        training: Dictionary of training values, as in a preset.
    """
    optimizer = optimizers.get(
        training["optimizer"],
        **{k: v for k, v in training.items() if k not in _NOT_OPTIMIZER},
    )
    from_logits = model.get_config()["activation"] != "softmax"
    model.compile(
        optimizer,
        keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits),
        metrics=["accuracy"],
    )


def fit(
    model,
    train_data,
    dev_data,
    run,
    batch_size,
    epochs,
    seed=0,
    callbacks=(),
    verbose="auto",
):
    """Fit a compiled classifier, and keep its best on dev in a run's folder.

    Args:
        model: A compiled `keras_selfattn.models.Classifier`.
        train_data: The `EncodedDataset` to train on.
        dev_data: The `EncodedDataset` that chooses the best epoch.
        run: The `Run` that keeps what is to be kept.
        batch_size: Integer.
        epochs: Integer.
        seed: Integer, the seed of the order of the rows.
        callbacks: Further Keras callbacks.
        verbose: As in `keras.Model.fit`; `"auto"` is a bar in a terminal and
            a line an epoch elsewhere.
    """
    if verbose == "auto":
        verbose = 1 if sys.stdout.isatty() else 2
    batches = train_data.batches(batch_size, shuffle=True, seed=seed)
    run.restore(model)
    model.fit(
        batches,
        validation_data=dev_data.batches(batch_size),
        initial_epoch=len(run.history),
        epochs=epochs,
        callbacks=[_KeepRun(run, batches.plan), *callbacks],
        # The plan of the batches shuffles.
        shuffle=False,
        verbose=verbose,
    )


class Run:
    """The folder of a training run.

    Args:
        folder: Path of the folder.
        settings: Dictionary of all that the run depends on besides the data.
        resume: Boolean, whether to go on with the run that is there.

    Attributes:
        history: List of one dictionary of logs an epoch.

    Raises:
        ValueError: if the folder exists and `resume` is not given, or if
            there is nothing to resume, or a run of other settings.
    """

    def __init__(self, folder, settings, resume=False):
        self.folder = pathlib.Path(folder)
        self.history = []
        self.settings = settings
        path = self.folder / SETTINGS_FILE
        if resume:
            self._check_settings(path, settings)
            state = self.folder / CHECKPOINT_FOLDER / _STATE_FILE
            if state.exists():
                self.history = json.loads(state.read_text())["history"]
        elif self.folder.exists():
            raise ValueError(
                f"The folder of a run must be new. {self.folder} exists; "
                "to go on with the run in it, ask to resume"
            )

    def start(self):
        """Make the folder; called once all inputs are known to be good."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.settings, indent=2) + "\n"
        write_text(self.folder / SETTINGS_FILE, text)

    def _check_settings(self, path, settings):
        if not path.exists():
            raise ValueError(
                f"There is no run to resume: {path} does not exist"
            )
        saved = json.loads(path.read_text())
        given = json.loads(json.dumps(settings))
        # A run may be made longer.
        for each in (saved, given):
            each["training"] = {**each["training"], "epochs": None}
        different = [name for name in given if given[name] != saved.get(name)]
        if different:
            raise ValueError(
                "A run is resumed with the settings it was started with "
                f"({path}). Received other values of: {', '.join(different)}"
            )

    def restore(self, model):
        """Give a compiled model the state after the last finished epoch."""
        if not self.history:
            return
        model.optimizer.build(model.trainable_variables)
        checkpoint = self.folder / CHECKPOINT_FOLDER
        model.load_weights(checkpoint / _CHECKPOINT_WEIGHTS)
        state = json.loads((checkpoint / _STATE_FILE).read_text())
        for variable, value in zip(
            _random_state(model), state["random_state"], strict=True
        ):
            variable.assign(value)

    def keep(self, model, logs):
        """Write what is to be kept at the end of an epoch."""
        logs = {name: float(value) for name, value in logs.items()}
        best = max((e["val_accuracy"] for e in self.history), default=-1.0)
        self.history.append(logs)
        if logs["val_accuracy"] > best:
            model.training_record = {
                **model.training_record,
                "epoch": len(self.history),
                "dev_accuracy": logs["val_accuracy"],
            }
            model.save_to_preset(self.folder / MODEL_FOLDER)
        self._write_history()
        # Last, so that a run stopped in between repeats the whole epoch.
        self._write_checkpoint(model)

    def _write_history(self):
        text = io.StringIO()
        names = ["epoch", *self.history[0]]
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        for epoch, logs in enumerate(self.history, start=1):
            writer.writerow({"epoch": epoch, **logs})
        write_text(self.folder / HISTORY_FILE, text.getvalue())

    def _write_checkpoint(self, model):
        beside = pathlib.Path(
            tempfile.mkdtemp(prefix=".checkpoint-", dir=self.folder)
        )
        try:
            model.save_weights(beside / _CHECKPOINT_WEIGHTS)
            state = {
                "history": self.history,
                "random_state": [
                    variable.numpy().tolist()
                    for variable in _random_state(model)
                ],
            }
            (beside / _STATE_FILE).write_text(json.dumps(state))
            target = self.folder / CHECKPOINT_FOLDER
            old = self.folder / f".{CHECKPOINT_FOLDER}-old"
            if target.exists():
                os.replace(target, old)
            os.replace(beside, target)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _random_state(model):
    """The states of the dropouts, which no weights file of Keras holds."""
    weights = {id(weight) for weight in model.weights}
    return [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in weights
    ]


class _KeepRun(keras.callbacks.Callback):
    """Ties the order of the rows to the epoch, and keeps each epoch."""

    def __init__(self, run, plan):
        super().__init__()
        self.run = run
        self.plan = plan

    def on_epoch_begin(self, epoch, logs=None):
        self.plan.epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        self.run.keep(self.model, logs)


def write_text(path, text):
    """Write a text file beside its path, and rename it."""
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.writing")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)

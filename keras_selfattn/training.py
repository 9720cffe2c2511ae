"""Recipes: from labelled texts and a preset to a folder with a model."""

import contextlib
import csv
import io
import json
import math
import pathlib
import shutil
import sys
import zlib

import keras
import numpy as np
from keras import ops

from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.induced_vectors import induce_word_vectors
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import restore_folder
from keras_selfattn.files import write_text
from keras_selfattn.models import arguments
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.models.loading import MODEL_FOLDER
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.text import most_frequent_characters

SETTINGS_FILE = "settings.json"
HISTORY_FILE = "history.csv"
CHECKPOINT_FOLDER = "checkpoint"
DATA_FOLDER = "data"
_STATE_FILE = "state.json"
_VARIABLES_FILE = "variables.npz"
# What a resumed run must have again, by the name of its checksum. That of the
# lengths and labels is for checkpoints from before there was one of the texts.
_CHECKED = {
    "data": "texts",
    "texts": "texts",
    "fixed_weights": "word vectors",
}

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
    "min_count",
    "induce_vectors",
    "steps_per_execution",
    "ema_momentum",
    "decay_epochs",
)
# Training values that presets may leave out.
_DEFAULTS = {
    "max_tokens": 512,
    # How often a word without a pretrained vector must occur to have a vector
    # of its own; `None` where such words share those of unknown words.
    "min_count": 2,
    # Whether that vector is induced from those of other words, or drawn.
    "induce_vectors": False,
    # Python waits for the model once in so many batches. It changes no
    # number.
    "steps_per_execution": 8,
    # Of a moving average of the weights, which then are those evaluated and
    # kept; `None` for the weights themselves.
    "ema_momentum": None,
    # Over so many epochs the learning rate falls to zero; `None` if it stays.
    "decay_epochs": None,
}
# Training values that count something. Those of the preprocessor, it checks.
_COUNTS = (
    "batch_size",
    "epochs",
    "steps_per_execution",
    "min_count",
    "decay_epochs",
)
_SWITCHES = (
    "lowercase",
    "prepend_null",
    "normalize_vectors",
    "induce_vectors",
)
_MAY_BE_ZERO = ("initial_accumulator_value", "weight_decay")
# Training values that a resumed run may change.
_CHANGEABLE = ("epochs", "steps_per_execution")


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
    each epoch. While the run lasts its `data/` holds the encoded texts, so
    that no corpus is too large for the memory. The training texts are read
    twice, the dev texts once.

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
        training_overrides: The same for the preset's training values. Every
            preset also takes `steps_per_execution`, the number of batches
            for which the model does not come back to Python, which changes
            no number; `ema_momentum`, such as 0.999, which has the moving
            average of the weights evaluated and kept; `decay_epochs`, the
            number of epochs over which the learning rate falls to zero,
            epoch by epoch along a half cosine; `min_count`, how often a word
            without a pretrained vector must occur to have one of its own;
            and `induce_vectors`, whether that one is predicted from those of
            the words around it and from its spelling.
        callbacks: Further Keras callbacks.
        verbose: As in `fit` below.

    Returns:
        The model with the best dev accuracy, with its `training_record`.

    Raises:
        ValueError: if the folder exists and `resume` is not given, if there
            is nothing to resume or if its settings or data differ, or if an
            argument or the data are not as expected.
        FloatingPointError: if the loss of an epoch is not finite. The best
            model of the epochs before stays in the folder.
    """
    preset_values = models.get_preset(preset)
    model_overrides = arguments.plain(model_overrides or {})
    training = training_values(preset_values, training_overrides or {})
    settings = {
        "preset": preset,
        "seed": seed,
        "vectors": None if vectors is None else str(vectors),
        "model": {**preset_values.model, **model_overrides},
        "training": training,
    }
    run = Run(folder, settings, resume)
    if model_overrides:
        check_model_arguments(preset, model_overrides)
    keras.utils.set_random_seed(seed)
    preprocessor, found = make_preprocessor(
        train_texts, training, vectors, settings["model"]
    )
    overrides = dict(model_overrides)
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
    with run.data_folder() as data:
        train_data = EncodedDataset.from_texts(
            train_texts, preprocessor, folder=data / "train"
        )
        dev_data = EncodedDataset.from_texts(
            dev_texts,
            preprocessor,
            labels=train_data.label_names,
            folder=data / "dev",
        )
        model = build_model(
            preset,
            preprocessor.vocabulary_size(),
            len(train_data.label_names),
            overrides,
        )
        check_data(model, train_data, dev_data)
        if training.get("induce_vectors"):
            found = induce_vectors(train_data, preprocessor, *found)
        if found is not None:
            model.get_layer("word_vectors").load_vectors(
                *found, normalize=training.get("normalize_vectors", False)
            )
            # As large as the table that they are in now.
            del found
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
            [*learning_rate_decay(training), *callbacks],
            verbose,
        )
    return models.from_preset(run.folder)


def check_data(model, train_data, dev_data):
    """`ValueError` where a model can't learn from the texts.

    Args:
        model: A `keras_selfattn.models.Classifier`.
        train_data: The `EncodedDataset` to train on.
        dev_data: The `EncodedDataset` of the dev texts.
    """
    if len(train_data.label_names) < 2:
        raise ValueError(
            "The training texts must have two labels or more. "
            f"Received: {', '.join(map(repr, train_data.label_names))}"
        )
    kinds = ("single texts", "pairs of texts")
    takes_pairs = len(model.sides) > 1
    for data in (train_data, dev_data):
        if (data.lengths.ndim == 2) != takes_pairs:
            raise ValueError(
                f"The model {model.name!r} takes {kinds[takes_pairs]}. "
                f"Received {kinds[not takes_pairs]}"
            )


def build_model(preset, vocabulary_size, num_classes, overrides):
    """A preset's model, or `ValueError` where an argument can't be.

    Args:
        preset: The name of a preset.
        vocabulary_size: As in `keras_selfattn.models.from_preset`.
        num_classes: The same.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    try:
        return models.from_preset(
            preset,
            vocabulary_size=vocabulary_size,
            num_classes=num_classes,
            **overrides,
        )
    except TypeError as error:
        raise ValueError(f"The model can't be built: {error}") from error


def check_model_arguments(preset, overrides):
    """`ValueError` where a preset's model can't be built, in little time.

    Args:
        preset: The name of a preset.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    values = {**models.get_preset(preset).model, **overrides}
    model_class = CLASSES[models.get_preset(preset).class_name]
    # Wide layers take seconds to build.
    narrow = {
        name: _at_most_eight(value)
        for name, value in arguments.applying(
            model_class, values, given=overrides
        ).items()
    }
    try:
        build_model(preset, 3, 2, narrow)
    except ValueError:
        # With the message on the value that was given.
        build_model(preset, 3, 2, overrides)


def _at_most_eight(value):
    if isinstance(value, (list, tuple)):
        return [_at_most_eight(each) for each in value]
    return min(value, 8) if isinstance(value, int) else value


def training_values(preset, overrides):
    """A preset's training values with others in their place.

    With another optimizer, the arguments that only the preset's takes go, and
    the learning rate is that optimizer's own unless it is given.

    Args:
        preset: A `keras_selfattn.models.presets.Preset`.
        overrides: Dictionary of training values.

    Returns:
        Dictionary of all training values.

    Raises:
        ValueError: if there is no training value of a name, or one is not
            as expected.
    """
    values = {**_DEFAULTS, **preset.training}
    optimizer = overrides.get("optimizer", values["optimizer"])
    known = value_names(optimizer)
    for name in overrides:
        if name not in known:
            raise ValueError(
                f"A training value with the optimizer {optimizer} must be one "
                f"of {', '.join(sorted(known))}. Received: {name!r}"
            )
    if optimizer != values["optimizer"]:
        # A rate for one is none for the other.
        rate = optimizers.defaults(optimizer)["learning_rate"]
        values["learning_rate"] = rate
    kept = {name: value for name, value in values.items() if name in known}
    values = {**kept, **overrides}
    check_training_values(values)
    return values


def check_training_values(values):
    """`ValueError` where a training value is not as expected.

    Args:
        values: Dictionary of all training values.
    """
    for name in _COUNTS:
        value = values[name]
        if name in ("min_count", "decay_epochs") and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(
                f"`{name}` must be a positive integer. "
                f"Received: {name}={value!r}"
            )
    for name in _SWITCHES:
        value = values.get(name, False)
        if not isinstance(value, bool):
            raise ValueError(
                f"`{name}` must be True or False. Received: {name}={value!r}"
            )
    defaults = {
        **optimizers.defaults(values["optimizer"]),
        "ema_momentum": None,
    }
    for name, default in defaults.items():
        value = values.get(name, default)
        if value is None and default is None:
            continue
        if isinstance(default, bool):
            expected, is_right = "True or False", True
        elif name == "gradient_accumulation_steps":
            expected = "an integer of 2 or more"
            is_right = isinstance(value, int) and value >= 2
        else:
            expected, holds = _range(name)
            is_right = isinstance(value, (int, float)) and holds(value)
        if not is_right or isinstance(value, bool) != isinstance(default, bool):
            raise ValueError(
                f"`{name}` must be {expected}. Received: {name}={value!r}"
            )


def _range(name):
    """What a number of an optimizer must be, in words and as a function."""
    if "momentum" in name or "beta" in name:
        return (
            "a number from 0 up to, but not including, 1",
            lambda value: 0 <= value < 1,
        )
    if name in _MAY_BE_ZERO:
        return (
            "a finite number of 0 or more",
            lambda value: 0 <= value < math.inf,
        )
    return "a finite number above 0", lambda value: 0 < value < math.inf


def value_names(optimizer):
    """The names of the training values that there are with an optimizer."""
    return {*_NOT_OPTIMIZER, *optimizers.argument_names(optimizer)}


def is_training_value(name):
    """Whether a name is that of a training value of any optimizer."""
    return any(name in value_names(each) for each in optimizers.OPTIMIZERS)


def make_preprocessor(texts, training, vectors, model):
    """The tokenizer with the vocabulary of the training texts.

    The vocabulary holds the words that occur `min_count` times and, where
    vectors are given, those that have one.

    Returns:
        The preprocessor and, with `vectors`, the pair that
        `WordEmbedding.load_vectors` takes, otherwise `None`.
    """
    if vectors is None and training.get("induce_vectors"):
        raise ValueError(
            "`induce_vectors` takes a file of pretrained word vectors. "
            "Received: vectors=None"
        )
    counts = count_words(_strings(texts), training["lowercase"])
    characters = None
    size = model.get("character_vocabulary_size")
    if size is not None:
        if not isinstance(size, int) or size < 3:
            raise ValueError(
                "`character_vocabulary_size` must be an integer of at least 3, "
                "for padding, one character and all others. Received: "
                f"character_vocabulary_size={size!r}"
            )
        characters = most_frequent_characters(counts, size - 2)
    min_count = training.get("min_count", _DEFAULTS["min_count"])
    if vectors is None:
        min_count = min_count or _DEFAULTS["min_count"]
        words = [word for word, count in counts.items() if count >= min_count]
    else:
        words = list(counts)
        matrix, has_vector = load_word_vectors(vectors, words)
        kept = has_vector.copy()
        if min_count is not None:
            occurs = np.fromiter(counts.values(), "int64", len(words))
            kept |= occurs >= min_count
        rows = np.flatnonzero(kept)
        words = [words[row] for row in rows]
    preprocessor = TextPreprocessor(
        words,
        lowercase=training["lowercase"],
        max_tokens=training["max_tokens"],
        num_oov_indices=training.get("num_oov_indices", 1),
        prepend_null=training.get("prepend_null", False),
        characters=characters,
    )
    if vectors is None:
        return preprocessor, None
    size = preprocessor.vocabulary_size()
    return preprocessor, (
        _last_rows(matrix, rows, size),
        _last_rows(has_vector, rows, size),
    )


def induce_vectors(data, preprocessor, vectors, found):
    """The pair that `make_preprocessor` gives, with a vector for each word.

    Args:
        data: The `EncodedDataset` of the training texts.
        preprocessor: The `TextPreprocessor` that encoded them.
        vectors: The vectors of the pair.
        found: Its booleans.
    """
    first = 1 + preprocessor.num_oov_indices + preprocessor.prepend_null
    words = preprocessor.get_vocabulary()[first:]
    return induce_word_vectors(data.token_stretches(), words, vectors, found)


def _last_rows(array, rows, size):
    """Some rows of an array, the last of `size`, below rows of zeros.

    The first ids are those of padding, unknown words and the NULL token.
    """
    result = np.zeros((size, *array.shape[1:]), array.dtype)
    # Without a copy in between, as the table may be large.
    np.take(array, rows, 0, out=result[size - len(rows) :], mode="clip")
    return result


def _strings(texts):
    for text, _ in texts:
        if isinstance(text, str):
            yield text
        else:
            yield from text


def compile_model(model, training):
    """Compile a classifier with a recipe's optimizer and the papers' loss.

    Args:
        model: A `keras_selfattn.models.Classifier`.
        training: Dictionary of training values, as in a preset.
    """
    arguments = {k: v for k, v in training.items() if k not in _NOT_OPTIMIZER}
    if training.get("ema_momentum") is not None:
        arguments.update(use_ema=True, ema_momentum=training["ema_momentum"])
    optimizer = optimizers.get(training["optimizer"], **arguments)
    model.compile(
        optimizer,
        keras.losses.SparseCategoricalCrossentropy(
            from_logits=model.gives_logits
        ),
        metrics=["accuracy"],
        steps_per_execution=_steps_per_execution(training),
    )


def _steps_per_execution(training):
    # It changes no number, and Keras knows none but 1 on torch.
    if keras.backend.backend() == "torch":
        return 1
    return training.get("steps_per_execution", 1)


def learning_rate_decay(training):
    """The callbacks that let the learning rate fall.

    Args:
        training: Dictionary of training values.

    Returns:
        A list of one callback, or of none without `decay_epochs`.
    """
    start, epochs = training["learning_rate"], training.get("decay_epochs")
    if epochs is None:
        return []

    def rate(epoch, _):
        share = min(epoch / epochs, 1.0)
        return start * (1 + math.cos(math.pi * share)) / 2

    return [keras.callbacks.LearningRateScheduler(rate)]


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
    datasets = (train_data, dev_data)
    lengths = _checksum(
        array for each in datasets for array in (each.labels, each.lengths)
    )
    texts = texts_checksum(model.preprocessor, *datasets)
    run.restore(model, {"data": lengths, "texts": texts})
    model.fit(
        batches,
        validation_data=dev_data.batches(batch_size),
        initial_epoch=len(run.history),
        epochs=epochs,
        callbacks=[
            SetEpoch(batches.plan, seed),
            _KeepRun(run),
            *callbacks,
        ],
        # The plan of the batches shuffles.
        shuffle=False,
        verbose=verbose,
    )


def texts_checksum(preprocessor, *datasets):
    """A number that differs for other texts, labels or ids of words.

    Args:
        preprocessor: The `TextPreprocessor` that encoded the texts, or
            `None`.
        *datasets: `EncodedDataset`s.

    Returns:
        An integer.
    """
    checksum = 0
    if preprocessor is not None:
        words = preprocessor.get_vocabulary()
        lines = "\n".join([*words, preprocessor.characters or ""])
        checksum = zlib.crc32(lines.encode())
    for dataset in datasets:
        checksum = dataset.checksum(checksum)
    return checksum


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
        self._checksums = {}
        path = self.folder / SETTINGS_FILE
        if resume:
            self._check_settings(path, settings)
            restore_folder(self.folder / CHECKPOINT_FOLDER)
            state = self.folder / CHECKPOINT_FOLDER / _STATE_FILE
            if state.exists():
                self.history = json.loads(state.read_text())["history"]
        elif self.folder.exists() and not self._was_killed_before_start():
            raise ValueError(
                f"The folder of a run must be new. {self.folder} exists; "
                "to go on with the run in it, ask to resume"
            )

    def start(self):
        """Make the folder; called once all inputs are known to be good."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.settings, indent=2) + "\n"
        write_text(self.folder / SETTINGS_FILE, text)

    def _was_killed_before_start(self):
        return self.folder.is_dir() and _names(self.folder) == [DATA_FOLDER]

    @contextlib.contextmanager
    def data_folder(self):
        """A folder for the encoded texts, which goes when the run ends.

        What a killed run has left is never used again.

        Yields:
            The path of the folder.
        """
        data = self.folder / DATA_FOLDER
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        try:
            yield data
        finally:
            shutil.rmtree(data, ignore_errors=True)
            # A run that has not started leaves nothing behind.
            if not _names(self.folder):
                self.folder.rmdir()

    def _check_settings(self, path, settings):
        if not path.exists():
            raise ValueError(
                f"There is no run to resume: {path} does not exist"
            )
        saved = json.loads(path.read_text())
        given = json.loads(json.dumps(settings))
        for each in (saved, given):
            changeable = dict.fromkeys(_CHANGEABLE)
            each["training"] = {**_DEFAULTS, **each["training"], **changeable}
        different = [name for name in given if given[name] != saved.get(name)]
        if different:
            raise ValueError(
                "A run is resumed with the settings it was started with "
                f"({path}). Received other values of: {', '.join(different)}"
            )

    def restore(self, model, checksums):
        """Give a compiled model the state after the last finished epoch.

        Args:
            model: The model.
            checksums: Dictionary of integers by name, of what a resumed run
                must have again.

        Raises:
            ValueError: if there is a state of another backend, or of other
                texts or fixed word vectors.
        """
        fixed = _checksum(map(ops.convert_to_numpy, _fixed(model)))
        self._checksums = {"fixed_weights": fixed, **checksums}
        if not self.history:
            return
        model.optimizer.build(model.trainable_variables)
        checkpoint = self.folder / CHECKPOINT_FOLDER
        state = json.loads((checkpoint / _STATE_FILE).read_text())
        # Runs were TensorFlow's alone at first.
        backend = state.get("backend", "tensorflow")
        if backend != keras.backend.backend():
            raise ValueError(
                "A run is resumed on the backend it was started on, as no "
                "other draws the same random numbers: set "
                f"KERAS_BACKEND={backend}. "
                f"Received: {keras.backend.backend()}"
            )
        for name, what in _CHECKED.items():
            given = self._checksums[name]
            # Checkpoints had fewer of them at first.
            if state.get(name, given) != given:
                raise ValueError(
                    f"A run is resumed with the {what} it was started with. "
                    f"Received others than those of {checkpoint}"
                )
        variables = _changing(model)
        with np.load(checkpoint / _VARIABLES_FILE) as arrays:
            for variable, name in zip(variables, arrays.files, strict=True):
                variable.assign(arrays[name])

    def keep(self, model, logs):
        """Write what is to be kept at the end of an epoch."""
        logs = {name: float(value) for name, value in logs.items()}
        if not np.isfinite(logs["loss"]):
            raise FloatingPointError(
                f"The loss is {logs['loss']} in epoch {len(self.history) + 1}"
            )
        best = max((e["val_accuracy"] for e in self.history), default=-1.0)
        self.history.append(logs)
        if logs["val_accuracy"] > best:
            model.training_record = {
                **model.training_record,
                "epoch": len(self.history),
                "dev_accuracy": logs["val_accuracy"],
            }
            with averaged_weights(model):
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
        state = {
            "history": self.history,
            "backend": keras.backend.backend(),
            **self._checksums,
        }
        with replaced_folder(self.folder / CHECKPOINT_FOLDER) as beside:
            arrays = map(ops.convert_to_numpy, _changing(model))
            np.savez(beside / _VARIABLES_FILE, *arrays)
            write_text(beside / _STATE_FILE, json.dumps(state))


def _names(folder):
    return [path.name for path in folder.iterdir()]


def _changing(model):
    """All variables that training changes, in a fixed order.

    Those of the optimizer and the states of the dropouts are among them;
    fixed word vectors, often most of a model, are not.
    """
    fixed = {id(variable) for variable in _fixed(model)}
    variables = [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in fixed
    ]
    return variables + model.optimizer.variables


def _fixed(model):
    return [
        variable
        for layer in model.layers
        if not layer.trainable
        for variable in layer.weights
    ]


def _checksum(arrays):
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array), checksum)
    return checksum


@contextlib.contextmanager
def averaged_weights(model):
    """Give a model the moving averages of its weights, within a block.

    Keras's `SwapEMAWeights` swaps by sums on TensorFlow, which changes the
    weights by what is rounded off; a resumed run then would not be the same.

    Args:
        model: A compiled model. Nothing happens if its optimizer does not
            keep averages.
    """
    # Keras wraps the optimizer of a model that computes in float16.
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    if not optimizer.use_ema:
        yield
        return
    variables = model.trainable_variables
    weights = [ops.convert_to_numpy(variable) for variable in variables]
    optimizer.finalize_variable_values(variables)
    if keras.backend.backend() == "jax":
        for variable in variables:
            # It has become the average's array, which JAX gives up with
            # either of them.
            variable.assign(ops.convert_to_numpy(variable))
    try:
        yield
    finally:
        for variable, value in zip(variables, weights, strict=True):
            variable.assign(value)


class SetEpoch(keras.callbacks.Callback):
    """Ties the order of the rows to the epoch, and the dropout on torch.

    Args:
        plan: The `keras_selfattn.data.batches.BatchPlan` of the rows.
        seed: Integer, the seed of the training, or `None` for any.
    """

    def __init__(self, plan, seed):
        super().__init__()
        self.plan = plan
        self.seed = seed

    def on_epoch_begin(self, epoch, logs=None):
        self.plan.epoch = epoch
        if keras.backend.backend() == "torch" and self.seed is not None:
            import torch

            # Keras draws dropout from torch's own generator there, whose
            # state is no variable of the model.
            words = np.random.SeedSequence((self.seed, epoch))
            torch.manual_seed(int(words.generate_state(1)[0]))


class _KeepRun(keras.callbacks.Callback):
    """Keeps each epoch."""

    def __init__(self, run):
        super().__init__()
        self.run = run
        self.averaged = contextlib.ExitStack()

    def on_test_begin(self, logs=None):
        self.averaged.enter_context(averaged_weights(self.model))

    def on_test_end(self, logs=None):
        self.averaged.close()

    def on_epoch_end(self, epoch, logs=None):
        self.run.keep(self.model, logs)

"""From labeled texts and a preset to a folder with a model."""

import math
import sys
import warnings

import keras
import numpy as np

from keras_selfattn import models
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.training import starting
from keras_selfattn.training.averaging import EvaluateAverages
from keras_selfattn.training.balancing import class_weights
from keras_selfattn.training.building import check_model_arguments
from keras_selfattn.training.building import make_model
from keras_selfattn.training.preparation import prepare
from keras_selfattn.training.run import Run
from keras_selfattn.training.run import write_run_checksums
from keras_selfattn.training.values import training_values


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
    keep_checkpoint=True,
    verify=True,
    start=None,
    freeze=(),
):
    """Train a preset's model on labeled texts, and keep the best on dev.

    The folder gets the model of the best epoch by its dev accuracy, or
    whichever figure the training value `monitor` names (`model/`, which
    `keras_selfattn.models.from_preset` loads, vocabulary included), the
    `settings.json` of the run, its `history.csv`, and a `checkpoint/` after
    each epoch; `checksums.json` has the SHA-256 of their files. While the run
    lasts its `data/` holds the encoded texts, so that no corpus is too large
    for the memory. The training texts are read twice, the dev texts once.

    A run repeats itself for the same seed, data and settings, and one that
    was stopped and resumed ends with the weights of one that was not.

    Args:
        preset: The name of a preset, or `None` with `start`.
        train_texts: Re-iterable of `(text, label)`, the training texts.
        dev_texts: The same, the texts that choose the best epoch.
        folder: Path of the folder of the run.
        vectors: Path of a file of word vectors in text format, or `None`.
        seed: Integer, the seed of weights, dropout and order.
        resume: Boolean, whether to go on with the run that is in `folder`.
        model_overrides: Dictionary of model arguments that take the place of
            the preset's.
        training_overrides: The same for the preset's training values;
            `print(keras_selfattn.training.describe_values())` lists them.
        callbacks: Further Keras callbacks.
        verbose: As in `fit` below.
        keep_checkpoint: Boolean, whether the `checkpoint/` of a finished run
            stays, so that it may go on with more epochs.
        verify: Boolean, whether the files of a run that goes on, and of
            `start`, must be those that were written.
        start: The name of a trained model to start from, as
            `keras_selfattn.models.from_preset` takes it, or `None`. The new
            model has its weights and its words; words of the training texts
            that it does not know come behind, with vectors predicted from
            those around them. Where the labels are others, the last layer is
            new. The training values are those that it was trained with.
        freeze: Names of the groups of layers, of those that
            `Classifier.parameter_counts` has, whose weights stay as those of
            `start` are.

    Returns:
        The model of the best epoch, with its `training_record`.

    Raises:
        ValueError: if the folder is not empty and `resume` is not given, if
            another process is writing it, if there is nothing to resume or
            if its settings or data differ, or if an argument or the data are
            not as expected.
        FloatingPointError: if a loss is not finite. The best model of the
            epochs before stays in the folder.
    """
    origin = None
    if start is not None:
        origin = starting.Start(start, preset, vectors, freeze, verify)
        preset = origin.preset
    elif freeze:
        raise ValueError(
            "`freeze` is for layers of the model that `start` names. "
            f"Received: freeze={freeze!r} without it"
        )
    values = models.get_preset(preset)
    if origin is not None:
        values = origin.values(values)
    model_overrides = arguments.plain(model_overrides or {})
    training = training_values(values, training_overrides or {})
    settings = {
        "preset": preset,
        "seed": seed,
        "vectors": None if vectors is None else str(vectors),
        "model": {**values.model, **model_overrides},
        "training": training,
        **({} if origin is None else origin.settings),
    }
    with folder_held(folder):
        return _train(
            Run(folder, settings, resume, verify),
            train_texts,
            dev_texts,
            model_overrides,
            callbacks,
            verbose,
            keep_checkpoint,
            verify,
            origin,
        )


def _train(
    run,
    train_texts,
    dev_texts,
    model_overrides,
    callbacks,
    verbose,
    keep_checkpoint,
    verify,
    origin,
):
    if run.is_finished:
        return models.from_preset(run.folder, verify=verify)
    preset, seed, vectors, training = (
        run.settings[name] for name in ("preset", "seed", "vectors", "training")
    )
    if origin is not None:
        origin.check(model_overrides)
    elif model_overrides:
        check_model_arguments(preset, model_overrides)
    with run.data_folder() as data:
        texts = prepare(
            preset,
            train_texts,
            dev_texts,
            training,
            model_overrides,
            vectors=vectors,
            folder=data,
            start=None if origin is None else origin.model,
        )
        if origin is None:
            model = make_model(
                preset,
                training,
                vectors=texts.vectors,
                seed=seed,
                **{**model_overrides, **texts.arguments},
            )
        else:
            model = origin.make_model(texts, training, seed, model_overrides)
        # As large as the table that they are in now.
        texts.vectors = None
        texts.hand_to(model, run.settings)
        _warn_of_size(model, texts.train_data)
        run.start()
        fit(model, texts, run, training, seed, callbacks, verbose)
    if not keep_checkpoint:
        run.drop_checkpoint()
    write_run_checksums(run.folder)
    return models.from_preset(run.folder, verify=verify)


def _warn_of_size(model, data):
    """A warning where there is more to learn than to learn from."""
    weights = sum(math.prod(each.shape) for each in model.trainable_weights)
    tokens = int(data.lengths.sum())
    if weights > tokens:
        warnings.warn(
            f"The model has {weights:,} weights to train, and the training "
            f"texts have {tokens:,} tokens: it may learn them by heart. With "
            "few texts, fewer units and fixed pretrained word vectors help",
            stacklevel=4,
        )


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


def fit(model, texts, run, training, seed=0, callbacks=(), verbose="auto"):
    """Fit a compiled classifier, and keep its best on dev in a run's folder.

    Args:
        model: A compiled `keras_selfattn.models.Classifier`.
        texts: The `PreparedTexts`.
        run: The `Run` that keeps what is to be kept.
        training: Dictionary of training values.
        seed: Integer, the seed of the order of the rows.
        callbacks: Further Keras callbacks.
        verbose: As in `keras.Model.fit`; `"auto"` is a bar in a terminal and
            a line an epoch elsewhere.
    """
    if verbose == "auto":
        verbose = 1 if sys.stdout.isatty() else 2
    batches = texts.train_data.batches(
        training["batch_size"], shuffle=True, seed=seed
    )
    run.restore(model, texts.checksums())
    if run.is_over():
        return
    model.fit(
        batches,
        validation_data=texts.dev_data.batches(training["batch_size"]),
        initial_epoch=len(run.history),
        epochs=training["epochs"],
        class_weight=class_weights(
            texts.train_data.labels, model.output.shape[-1], training
        ),
        callbacks=[
            SetEpoch(batches.plan, seed),
            _KeepRun(run),
            *learning_rate_decay(training),
            *callbacks,
        ],
        # The plan of the batches shuffles.
        shuffle=False,
        verbose=verbose,
    )


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


class _KeepRun(EvaluateAverages):
    """Keeps each epoch, and ends the run where a loss is not finite."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch, logs)
        self._epoch = epoch + 1
        # On JAX it stands still within an epoch.
        self._steps = int(self.model.optimizer.iterations)

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        # The last of several steps that are executed at once, or that would be
        # at the end of an epoch.
        batch = min(batch + 1, self.params["steps"] or math.inf)
        self.run.check_finite(
            float(logs["loss"]),
            f"by step {self._steps + batch}, batch {batch} of epoch "
            f"{self._epoch}",
        )

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.run.keep(self.model, logs)
        if self.run.is_over():
            self.model.stop_training = True

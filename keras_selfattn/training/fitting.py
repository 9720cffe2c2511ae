"""From labeled texts and a preset to a folder with a model."""

import json
import math
import os
import sys
import warnings
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras

from keras_selfattn import models
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.training import starting
from keras_selfattn.training.balancing import balanced_weights
from keras_selfattn.training.building import check_model_arguments
from keras_selfattn.training.building import make_model
from keras_selfattn.training.epochs import KeepRun
from keras_selfattn.training.epochs import SetEpoch
from keras_selfattn.training.epochs import learning_rate_decay
from keras_selfattn.training.followed_run import FollowedRun
from keras_selfattn.training.preparation import PreparedTexts
from keras_selfattn.training.preparation import prepare
from keras_selfattn.training.prepared_folder import PreparedFolder
from keras_selfattn.training.run import Run
from keras_selfattn.training.run import fixed_checksum
from keras_selfattn.training.run import write_run_checksums
from keras_selfattn.training.values import training_values

_FINISHED = True


def train(
    preset: str,
    train_texts: Any,
    dev_texts: Any,
    folder: str | os.PathLike,
    vectors: str | os.PathLike | None = None,
    seed: int = 0,
    resume: bool = False,
    model_overrides: Mapping | None = None,
    training_overrides: Mapping | None = None,
    callbacks: Iterable = (),
    verbose: str | int = "auto",
    keep_checkpoint: bool = True,
    verify: bool = True,
    start: Classifier | None = None,
    freeze: Sequence[str] = (),
    strategy: Any = None,
) -> Classifier | None:
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
        train_texts: Re-iterable of `(text, label)`, the training texts; or
            the `PreparedFolder` of these and of the dev texts.
        dev_texts: The same, the texts that choose the best epoch; `None` with
            a `PreparedFolder`.
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
        strategy: A `tf.distribute.MultiWorkerMirroredStrategy` of one device
            a worker, where several processes train together: each calls this
            with the same arguments. They share out the rows of each batch, so
            that the run is that of one process. The first alone writes
            `folder`; the others need not see it. Callbacks are called in all
            of them, with the logs of the whole epoch.

    Returns:
        The model of the best epoch, with its `training_record`. In workers
        other than the first, `None`.

    Raises:
        ValueError: if the folder is not empty and `resume` is not given, if
            another process is writing it, if there is nothing to resume or
            if its settings or data differ, or if an argument or the data are
            not as expected, or not the same in all workers.
        ConnectionError: if another worker has ended.
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
    given = (
        train_texts,
        dev_texts,
        model_overrides,
        callbacks,
        verbose,
        keep_checkpoint,
        verify,
        origin,
    )
    if strategy is None:
        with folder_held(folder):
            return _train(Run(folder, settings, resume, verify), *given)
    _check_backend()
    from keras_selfattn.training.workers import Workers

    workers = Workers(strategy)
    with workers.losses_named():
        if not workers.is_chief:
            said = workers.told_by_chief()
            if said is not None:
                return None if said == _FINISHED else _raise(said)
            return _train(FollowedRun(settings), *given, workers)
        with folder_held(folder):
            try:
                run = Run(folder, settings, resume, verify)
            except (ValueError, OSError) as error:
                workers.told_by_chief(str(error))
                raise
            workers.told_by_chief(_FINISHED if run.is_finished else None)
            return _train(run, *given, workers)


def _raise(message):
    raise ValueError(message)


def _check_backend():
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Several workers train on the TensorFlow backend. Received: "
            f"strategy and the backend {keras.backend.backend()!r}, where "
            "`fit` is for keras.distribution.DataParallel"
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
    workers=None,
):
    writes = workers is None or workers.is_chief
    if writes and run.is_finished:
        return models.from_preset(run.folder, verify=verify)
    preset, seed, vectors, training = (
        run.settings[name] for name in ("preset", "seed", "vectors", "training")
    )
    if origin is not None:
        origin.check(model_overrides)
    elif model_overrides:
        check_model_arguments(preset, model_overrides)
    with run.data_folder() as data:
        if isinstance(train_texts, PreparedFolder):
            if origin is not None:
                raise ValueError(
                    "A model to start from takes texts, as it has words of "
                    f"its own. Received: {train_texts.folder}"
                )
            texts = train_texts.texts(
                preset, training, model_overrides, vectors
            )
        else:
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
        if writes:
            _warn_of_size(model, texts.train_data)
        run.start()
        fit(model, texts, run, training, seed, callbacks, verbose, workers)
    if not writes:
        return None
    if not keep_checkpoint:
        run.drop_checkpoint()
    write_run_checksums(run.folder)
    return models.from_preset(run.folder, verify=verify)


def _warn_of_size(model, data):
    """A warning where there is more to learn than to learn from."""
    weights = sum(math.prod(each.shape) for each in model.trainable_weights)
    tokens = data.tokens()
    if weights > tokens:
        warnings.warn(
            f"The model has {weights:,} weights to train, and the training "
            f"texts have {tokens:,} tokens: it may learn them by heart. With "
            "few texts, fewer units and fixed pretrained word vectors help",
            stacklevel=4,
        )


def fit(
    model: keras.Model,
    texts: PreparedTexts,
    run: Run,
    training: Mapping,
    seed: int = 0,
    callbacks: Iterable = (),
    verbose: str | int = "auto",
    workers: Any = None,
) -> None:
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
        workers: The `Workers` that fit it together, or `None`.
    """
    if verbose == "auto":
        verbose = 1 if sys.stdout.isatty() else 2
    share = workers and workers.share
    batches = texts.train_data.batches(
        training["batch_size"], shuffle=True, seed=seed, share=share
    )
    dev_batches = texts.dev_data.batches(training["batch_size"], share=share)
    checksums = texts.checksums()
    run.restore(model, checksums)
    if workers is not None:
        from keras_selfattn.training import together

        workers.check_same(
            _checksum(model, run.settings, checksums), "texts and settings"
        )
        model.optimizer.build(model.trainable_variables)
        together.take_state_of_chief(model, run, workers)
    if run.is_over():
        return
    counts = texts.train_data.class_counts(model.output.shape[-1])
    weights = balanced_weights(counts, training)
    callbacks = [
        SetEpoch(batches.plan, seed),
        KeepRun(run),
        *learning_rate_decay(training),
        *callbacks,
    ]
    epochs, first_epoch = training["epochs"], len(run.history)
    if workers is not None:
        if not workers.is_chief:
            verbose = 0
        together.fit_together(
            model,
            batches,
            dev_batches,
            workers,
            together.Steps(model, workers, training["batch_size"], weights),
            first_epoch,
            epochs,
            keras.callbacks.CallbackList(
                callbacks,
                add_history=True,
                add_progbar=verbose != 0,
                model=model,
                verbose=verbose,
                epochs=epochs,
                steps=len(batches),
            ),
        )
        workers.wait_for_all()
        return
    model.fit(
        batches,
        validation_data=dev_batches,
        initial_epoch=first_epoch,
        epochs=epochs,
        class_weight=weights,
        callbacks=callbacks,
        # The plan of the batches shuffles.
        shuffle=False,
        verbose=verbose,
    )


def _checksum(model, settings, checksums):
    """A number that differs for a run of other texts or settings."""
    # The files of word vectors may have other names elsewhere.
    told = {**settings, "vectors": None, **checksums}
    told["fixed_weights"] = fixed_checksum(model)
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())

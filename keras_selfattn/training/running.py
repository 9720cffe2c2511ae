"""From labeled texts and a preset to a folder with a model."""

import dataclasses
import math
import os
import warnings
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_selfattn import models
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.data.joined_vectors import vector_files
from keras_selfattn.data.labeled_rows import check_rows
from keras_selfattn.data.repeated_rows import warn_of_repeated_rows
from keras_selfattn.files import remove_folder
from keras_selfattn.files import replaced_folder
from keras_selfattn.labels import listed
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.ngrams import NAME
from keras_selfattn.training.building import check_model_arguments
from keras_selfattn.training.building import compile_model
from keras_selfattn.training.building import make_model
from keras_selfattn.training.epochs import Clock
from keras_selfattn.training.fitting import fit
from keras_selfattn.training.fitting import shown
from keras_selfattn.training.followed_run import FollowedRun
from keras_selfattn.training.kept_texts import kept_or_prepared
from keras_selfattn.training.kept_texts import read_checksums
from keras_selfattn.training.prepared_folder import PreparedFolder
from keras_selfattn.training.run import Run
from keras_selfattn.training.run import write_run_checksums
from keras_selfattn.training.starting import Start
from keras_selfattn.training.starting import started_from
from keras_selfattn.training.teaching import Teachers
from keras_selfattn.training.values import DEFAULTS
from keras_selfattn.training.values import training_values

_FINISHED = True
_TARGETS_FOLDER = "targets"
_TARGETS_FILE = "targets.npy"


def train(
    preset: str | None,
    train_texts: Any,
    dev_texts: Any,
    folder: str | os.PathLike,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    seed: int = 0,
    resume: bool = False,
    model_overrides: Mapping | None = None,
    training_overrides: Mapping | None = None,
    callbacks: Iterable = (),
    verbose: str | int = "auto",
    keep_checkpoint: bool = True,
    verify: bool = True,
    start: str | os.PathLike | None = None,
    freeze: Sequence[str] = (),
    strategy: Any = None,
    checkpoint_minutes: float | None = None,
    teachers: Sequence[str | os.PathLike] = (),
) -> Classifier | None:
    """Train a preset's model on labeled texts, and keep the best on dev.

    The folder gets the model of the best epoch by its dev accuracy, or
    whichever figure the training value `monitor` names (`model/`, which
    `keras_selfattn.models.from_preset` loads, vocabulary included), the
    `settings.json` of the run, its `history.csv`, and a `checkpoint/` after
    each epoch, or more often; `checksums.json` has the SHA-256 of their files.
    Until the run has ended its `data/` holds the encoded texts, so that no
    corpus is too large for the memory, and none is encoded again where a run
    goes on, nor are teachers asked again. The training texts are read twice,
    the dev texts once.

    A run repeats itself for the same seed, data and settings, and one that
    was stopped and resumed ends with the weights of one that was not.

    Args:
        preset: The name of a preset, or `None` with `start`.
        train_texts: Re-iterable of `(text, label)`, the training texts; or
            the `PreparedFolder` of these and of the dev texts.
        dev_texts: The same, the texts that choose the best epoch; `None` with
            a `PreparedFolder`.
        folder: Path of the folder of the run.
        vectors: Path of a file of word vectors in text format; the name or
            the folder of a trained model, as
            `keras_selfattn.models.from_preset` takes it, for the vectors of
            its words; a list of these, whose vectors are joined; or `None`.
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
        checkpoint_minutes: Number, how many minutes are between two
            checkpoints within an epoch, or `None` for none but at its end.
        teachers: Names of trained models, as `start`, whose answers on the
            training texts are learned beside the labels: each target is the
            label's share, the training value `student_loss_weight`, and the
            mean of their probabilities. They must know the same labels. The
            training accuracy in the logs counts as right what has the largest
            number in the target.

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
    if not isinstance(train_texts, PreparedFolder):
        check_rows(train_texts, "train_texts")
        check_rows(dev_texts, "dev_texts")
    if start is not None and resume:
        start = started_from(folder, start)
    origin, name = _origin(start, preset, vectors, freeze, verify)
    values = models.get_preset(name)
    if origin is not None:
        values = origin.values(values)
        origin.check_texts(training_overrides or {})
    model_overrides = arguments.plain(model_overrides or {})
    training = training_values(values, training_overrides or {})
    taught = _teachers(
        teachers, training_overrides or {}, train_texts, strategy, verify
    )
    settings = {
        "preset": name,
        "seed": seed,
        "vectors": vector_files(vectors),
        "model": {**values.model, **model_overrides},
        "training": training,
        **({} if origin is None else origin.settings),
        **({} if taught is None else taught.settings),
    }
    asked = _Asked(
        train_texts,
        dev_texts,
        model_overrides,
        origin,
        taught,
        {
            "callbacks": callbacks,
            "verbose": verbose,
            "clock": Clock(checkpoint_minutes),
        },
        keep_checkpoint,
        verify,
    )
    if strategy is not None:
        return _train_together(strategy, folder, settings, resume, asked)
    with folder_held(folder):
        return _train(Run(folder, settings, resume, verify), asked)


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What `train` is asked for that is no setting of the run.

    Attributes:
        train_texts: As in `train`.
        dev_texts: As there.
        model_overrides: As there, with plain values.
        origin: The `Start`, or `None`.
        teachers: The `Teachers`, or `None`.
        fitting: Dictionary of arguments of `fit`.
        keep_checkpoint: As in `train`.
        verify: As there.
    """

    train_texts: object
    dev_texts: object
    model_overrides: Mapping
    origin: Start | None
    teachers: Teachers | None
    fitting: dict
    keep_checkpoint: bool
    verify: bool


def _train_together(strategy, folder, settings, resume, asked):
    """The part of one of several workers, of which the chief has a `Run`."""
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Several workers train on the TensorFlow backend. Received: "
            f"strategy and the backend {keras.backend.backend()!r}, where "
            "`fit` is for keras.distribution.DataParallel"
        )
    from keras_selfattn.training.workers import Workers

    workers = Workers(strategy)
    with workers.losses_named():
        if not workers.is_chief:
            said = workers.told_by_chief()
            if said == _FINISHED:
                return None
            if said is not None:
                raise ValueError(said)
            return _train(FollowedRun(settings), asked, workers)
        with folder_held(folder):
            try:
                run = Run(folder, settings, resume, asked.verify)
            except (ValueError, OSError) as error:
                workers.told_by_chief(str(error))
                raise
            workers.told_by_chief(_FINISHED if run.is_finished else None)
            return _train(run, asked, workers)


def _train(run, asked, workers=None):
    writes = workers is None or workers.is_chief
    if writes and run.is_finished:
        model = models.from_preset(run.folder, verify=asked.verify)
        _check_same_texts(run.folder, model, asked)
        # What a killed process has left of it.
        run.drop_checkpoint()
        return model
    training, seed = run.settings["training"], run.settings["seed"]
    if asked.origin is not None:
        asked.origin.check(asked.model_overrides)
    elif asked.model_overrides:
        check_model_arguments(run.settings["preset"], asked.model_overrides)
    with run.data_folder() as data:
        goes_on = bool(run.history or run.batches)
        texts = _texts(run.settings, asked, data, goes_on)
        targets = _targets(run.settings, asked, texts, data / _TARGETS_FOLDER)
        model = _model(run.settings, asked, texts)
        if writes and _has_random_vectors(model, asked, texts):
            _warn_of_random_vectors()
            if workers is None and run.history:
                _take_vectors(model, run.folder, asked.verify)
        # As large as the table that they are in now.
        texts.vectors = None
        texts.hand_to(model, run.settings)
        if writes:
            if shown(asked.fitting["verbose"]):
                _print_classes(texts.train_data)
                _print_cut(texts)
            _warn_of_size(model, texts.train_data)
            warn_of_repeated_rows(texts.train_data, texts.dev_data)
        fit(
            model,
            texts,
            run,
            training,
            seed,
            workers=workers,
            targets=targets,
            **asked.fitting,
        )
    if not writes:
        return None
    write_run_checksums(run.folder)
    if not asked.keep_checkpoint:
        run.drop_checkpoint()
    return models.from_preset(run.folder, verify=asked.verify)


def _texts(settings, asked, folder, goes_on):
    """The `PreparedTexts`, of which new ones are written to a folder."""
    preset, training, vectors = (
        settings[name] for name in ("preset", "training", "vectors")
    )
    if not isinstance(asked.train_texts, PreparedFolder):
        return kept_or_prepared(
            folder,
            preset,
            asked.train_texts,
            asked.dev_texts,
            training,
            asked.model_overrides,
            vectors=vectors,
            goes_on=goes_on,
            start=None if asked.origin is None else asked.origin.model,
        )
    if asked.origin is not None:
        raise ValueError(
            "A model to start from takes texts, as it has words of its own. "
            f"Received: {asked.train_texts.folder}"
        )
    return asked.train_texts.texts(
        preset, training, asked.model_overrides, vectors
    )


def _origin(start, preset, vectors, freeze, verify):
    """The `Start`, or `None` where there is to be none, and the preset."""
    if start is not None:
        origin = Start(start, preset, vectors, freeze, verify)
        return origin, origin.preset
    if freeze:
        raise ValueError(
            "`freeze` (--freeze) is for layers of the model that `start` "
            "(--from) names. "
            f"Received: freeze={freeze!r} without it"
        )
    if preset is None:
        raise ValueError(
            "`preset` must be the name of a preset, where no `start` (--from) "
            "is that of a model. Received: preset=None"
        )
    return None, preset


def _teachers(names, asked, train_texts, strategy, verify):
    """The `Teachers`, or `None` where there are to be none."""
    if isinstance(names, (str, os.PathLike)):
        raise ValueError(
            "`teachers` must be a list of names of trained models. Received: "
            f"teachers={names!r}"
        )
    if not names:
        if "student_loss_weight" in asked:
            raise ValueError(
                "`student_loss_weight` is for `teachers`. Received: "
                f"student_loss_weight={asked['student_loss_weight']!r} "
                "without them"
            )
        return None
    if strategy is not None or isinstance(train_texts, PreparedFolder):
        raise ValueError(
            "`teachers` answer texts, and one process trains with them. "
            "Received: teachers with several workers or a folder of "
            "prepared texts"
        )
    return Teachers(names, verify)


def _targets(settings, asked, texts, folder):
    """What is learned in the labels' place, or `None`.

    Teachers may take longer to answer than their pupil to learn, so their
    answers stay beside the encoded texts for when the run goes on.
    """
    if asked.teachers is None:
        return None
    try:
        check_checksums(folder)
        return np.load(folder / _TARGETS_FILE)
    except (ValueError, OSError):
        remove_folder(folder)
    targets = asked.teachers.targets(
        asked.train_texts,
        texts.train_data,
        {**DEFAULTS, **settings["training"]}["student_loss_weight"],
        shown(asked.fitting["verbose"]),
    )
    with replaced_folder(folder) as written:
        np.save(written / _TARGETS_FILE, targets)
        write_checksums(written)
    return targets


def _model(settings, asked, texts):
    """The compiled model as it is before the first epoch."""
    training, seed = settings["training"], settings["seed"]
    if asked.origin is not None:
        model = asked.origin.make_model(
            texts, training, seed, asked.model_overrides
        )
    else:
        model = make_model(
            settings["preset"],
            training,
            vectors=texts.vectors,
            seed=seed,
            **{**asked.model_overrides, **texts.arguments},
        )
    if asked.teachers is not None:
        compile_model(model, training, soft_targets=True)
    return model


def _has_random_vectors(model, asked, texts):
    """Whether the word vectors are neither given nor trained."""
    return (
        asked.origin is None
        and texts.vectors is None
        and not model.get_layer("word_vectors").trainable_weights
    )


def _take_vectors(model, folder, verify):
    """Those that a run has drawn; earlier versions have not scaled them."""
    best = models.from_preset(folder, verify=verify)
    vectors = best.get_layer("word_vectors").get_weights()
    model.get_layer("word_vectors").set_weights(vectors)


def _check_same_texts(folder, model, asked):
    """`ValueError` where a finished run is known to be of other texts."""
    # Earlier runs have not noted theirs.
    noted = model.training_record.get("texts")
    if noted is None:
        return
    if isinstance(asked.train_texts, PreparedFolder):
        found = asked.train_texts.checksums()
    else:
        found = read_checksums(asked.train_texts, asked.dev_texts, model.labels)
    if found != noted:
        raise ValueError(
            f"The run in {folder} is finished, and is of other texts: these "
            "take a new folder"
        )


def _print_classes(data):
    labels = data.label_names
    print(f"Classes: {listed(labels, data.class_counts(len(labels)))}")


def _print_cut(texts):
    limit, data = texts.preprocessor.max_tokens, texts.train_data
    if limit is None:
        return
    # A text of as many words is not told from one that was cut.
    count = sum(
        np.count_nonzero(
            part.lengths.reshape(len(part), -1).max(axis=1) >= limit
        )
        for part in data.parts()
    )
    if count:
        words = limit - texts.preprocessor.prepend_null
        print(
            f"Up to {words:,} words of a text are read (max_tokens), and "
            f"{count:,} of {len(data):,} training texts have as many, or more"
        )


def _warn_of_random_vectors():
    warnings.warn(
        "The word vectors stay as they are drawn at random, as there are no "
        "others (vectors, --vectors) and the model does not train them "
        "(trainable_embeddings=False): with either it learns more",
        stacklevel=4,
    )


def _warn_of_size(model, data):
    """A warning where there is more to learn than to learn from."""
    # Most rows of a table of n-grams stand for none, or for a rare one.
    weights = sum(
        math.prod(each.shape)
        for each in model.trainable_weights
        if not each.path.startswith(f"{NAME}/")
    )
    tokens = data.tokens()
    if weights > tokens:
        helps = "fewer units help"
        if model.get_layer("word_vectors").trainable_weights:
            helps = "fewer units and fixed pretrained word vectors help"
        warnings.warn(
            f"The model has {weights:,} weights to train, and the training "
            f"texts have {tokens:,} tokens: it may learn them by heart. With "
            f"few texts, {helps}",
            stacklevel=4,
        )

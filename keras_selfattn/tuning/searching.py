"""Searches: from labeled texts and a preset to a folder with a model."""

import contextlib
import functools
import logging
import os
import pathlib
import sys
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import keras_tuner

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import validation
from keras_selfattn import zoo
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.data.joined_vectors import vector_files
from keras_selfattn.data.repeated_rows import warn_of_repeated_rows
from keras_selfattn.files import disk_named
from keras_selfattn.files import read_json
from keras_selfattn.first_use import import_extra
from keras_selfattn.locks import folder_held
from keras_selfattn.models.arguments import applying
from keras_selfattn.models.arguments import plain
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.training.run import write_run_checksums
from keras_selfattn.training.values import preset_of
from keras_selfattn.tuning import oracles
from keras_selfattn.tuning import results
from keras_selfattn.tuning.hypermodels import HYPERMODELS
from keras_selfattn.tuning.hypermodels import as_recipe
from keras_selfattn.tuning.picture import PICTURE_FILE
from keras_selfattn.tuning.picture import draw
from keras_selfattn.tuning.progress import Progress
from keras_selfattn.tuning.tuners import TUNERS
from keras_selfattn.tuning.tuners import role
from keras_selfattn.zoo.folders import MODEL_FOLDER

SEARCH_FILE = "search.json"
TRIALS_FOLDER = "trials"
_DEFAULT_TRIALS = 20
# What a hypermodel is handed beside the arguments, under names of its own.
_OF_SEARCH = ("preset", "seed", "vectors", "papers_space")
_OF_TEXTS = ("vocabulary_size", "num_classes", "preprocessor", "labels")


def search(
    preset: str | zoo.Recipe,
    train_texts: Iterable,
    dev_texts: Iterable,
    folder: str | os.PathLike,
    tuner: str = "random",
    trials: int | None = None,
    minutes: float | None = None,
    epochs: int | None = None,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    seed: int = 0,
    arguments: dict | None = None,
    papers_space: bool = True,
    resume: bool = False,
) -> Any:
    """Search arguments of a model on labeled texts, and keep the best one.

    The first trial has the values of the preset, or of the recipe, but for
    those that `arguments` fixes; of a list without the own value it has the
    first one. The best trial is no worse than it on the dev texts. The
    folder becomes that of a training run, with the best trial's model as it
    was at its best epoch (`model/`, `settings.json`, `history.csv`), and
    holds the search as well: `trials.csv`, the picture `trials.png`,
    TensorBoard's table of hyperparameters in `tensorboard/`, and KerasTuner's
    `trials/`.

    With KerasTuner's environment variables, the call is that of a chief or
    of a worker of a search over several processes, which share the folder.

    Args:
        preset: The name of a preset, or a `keras_selfattn.zoo.Recipe`.
        train_texts: Re-iterable of `(text, label)`, the training texts.
        dev_texts: The same, the texts that choose the best trial.
        folder: Path of the folder.
        tuner: `"random"`, `"hyperband"`, `"grid"` or `"bayesian"`.
        trials: Integer, the number of trials at most. Defaults to 20, or,
            with `minutes`, to no limit.
        minutes: Number, how long to search at most, or `None`.
        epochs: Integer, the epochs of a trial at most. Defaults to those
            among `arguments`, or to the preset's.
        vectors: As in `keras_selfattn.training.train`.
        seed: Integer, the seed of the search and of each trial.
        arguments: Dictionary of arguments of the model and of training
            values. A list is searched; anything else is fixed, a tuple too.
        papers_space: Boolean, whether other arguments are searched in the
            papers' values, or in those of a recipe that has some. Otherwise
            they stay the preset's.
        resume: Boolean, whether to go on with the search that is in `folder`.

    Returns:
        The best trial's model, with its `training_record`; `None` in a
        worker.

    Raises:
        ValueError: if the folder exists and `resume` is not given, if another
            process is writing it, if there is nothing to resume or if its
            settings differ, if an argument or the data are not as expected,
            or if no trial has completed.
    """
    folder = pathlib.Path(folder)
    validation.one_of(tuner, TUNERS, "tuner")
    _check_limits(trials, minutes, epochs)
    _check_packages(tuner)
    if trials is None and minutes is None:
        trials = _DEFAULT_TRIALS
    recipe = as_recipe(preset)
    _check_arguments(arguments or {}, epochs)
    arguments = plain(arguments or {})
    if epochs is None:
        of_preset = preset_of(recipe).training["epochs"]
        epochs = arguments.get("epochs", of_preset)
    arguments["epochs"] = epochs
    settings = {
        "preset": recipe.preset,
        "tuner": tuner,
        "seed": seed,
        "vectors": vector_files(vectors),
        "epochs": epochs,
        "arguments": arguments,
        "papers_space": papers_space,
    }
    if recipe != as_recipe(recipe.preset):
        settings["recipe"] = {
            "model": plain(recipe.model),
            "training": recipe.training,
            "search": recipe.search,
        }
    # The workers of a search share the folder, which its chief holds.
    lock = (
        contextlib.nullcontext() if role() == "worker" else folder_held(folder)
    )
    with lock, disk_named(folder):
        _check_folder(folder, settings, resume)
        return _search(
            folder, settings, trials, minutes, train_texts, dev_texts
        )


def _search(folder, settings, trials, minutes, train_texts, dev_texts):
    from rich.console import Console

    tuner, seed, epochs = (settings[n] for n in ("tuner", "seed", "epochs"))
    hypermodel, texts = _prepare(settings, train_texts, dev_texts)
    settings["texts"] = texts.checksums()["texts"]
    _check_texts(folder, settings["texts"])
    if role() != "worker":
        folder.mkdir(parents=True, exist_ok=True)
        training.write_settings(folder / SEARCH_FILE, settings)

    console = Console(file=sys.stdout)
    with _quiet():
        searcher = TUNERS[tuner](
            hypermodel,
            max_trials=trials,
            minutes=minutes,
            seed=seed,
            directory=str(folder),
            project_name=TRIALS_FOLDER,
            **_tuner_arguments(tuner, trials, epochs),
        )
        progress = Progress(searcher, folder, console, trials, texts.train_data)
        searcher.listener = progress
        with progress.shown():
            _run(searcher, texts, epochs)
        if role() == "worker":
            return None
        best = oracles.best_trial(searcher.oracle)
        if best is None:
            raise ValueError(
                "No trial has completed. The last one: "
                f"{progress.results()[-1].reason or 'was stopped'}"
            )
        model = searcher.load_model(best)
    found = progress.results()
    result = found[searcher.oracle.start_order.index(best.trial_id)]
    run_settings = {
        **{name: settings[name] for name in ("preset", "seed", "vectors")},
        **hypermodel.settings(best.hyperparameters),
    }
    figures = {"epoch": result.epoch, "dev_accuracy": result.accuracy}
    texts.hand_to(model, {**run_settings, **figures})
    _write_run(folder, model, run_settings, _history(progress, best))
    progress.write_csv()
    draw(folder / PICTURE_FILE, found, hypermodel.choices)
    console.print(
        results.make_table(
            results.best_first(found),
            progress.first_values,
            "The trials, best first",
            most=_DEFAULT_TRIALS,
        )
    )
    return model


def _write_run(folder, model, settings, history):
    """Make a folder that of a run."""
    # They are of the search as it was before.
    (folder / CHECKSUMS_FILE).unlink(missing_ok=True)
    model.save_to_preset(folder / MODEL_FOLDER)
    training.write_settings(folder / training.SETTINGS_FILE, settings)
    training.write_history(folder, history)
    write_run_checksums(folder)


def _check_limits(trials, minutes, epochs):
    if trials is not None:
        validation.integer(trials, "trials")
    if minutes is not None:
        validation.positive(minutes, "minutes")
    if epochs is not None:
        validation.integer(epochs, "epochs")


def _check_arguments(arguments, epochs):
    """`ValueError` where one is given otherwise than among the arguments."""
    for names, why in (
        (_OF_SEARCH, "is given to the search itself"),
        (_OF_TEXTS, "follows from the texts"),
    ):
        for name in names:
            if name in arguments:
                raise ValueError(
                    f"{name!r} {why}: as an argument of the model it can "
                    "neither be set nor searched. "
                    f"Received: {name}={arguments[name]!r}"
                )
    if epochs is not None and "epochs" in arguments:
        raise ValueError(
            "Expected `epochs` by itself or among the arguments, and not "
            f"both. Received: epochs={epochs!r} and {arguments['epochs']!r}"
        )


def _check_packages(tuner):
    """`ImportError` where what a search needs, or ends with, is missing."""
    needed = [("matplotlib", "The picture of a search", "matplotlib")]
    if tuner == "bayesian":
        needed.append(("sklearn", "The bayesian tuner", "scikit-learn"))
    for module, what, package in needed:
        import_extra(module, what, package, "tuning")


def _check_folder(folder, settings, resume):
    path = folder / SEARCH_FILE
    if role() == "worker":
        # The chief may not have begun yet.
        resume = path.exists()
        if not resume:
            return
    if resume:
        training.check_settings(path, settings, "search")
    else:
        # Workers may be faster than their chief.
        training.check_new(folder, "search", TRIALS_FOLDER)


def _check_texts(folder, checksum):
    path = folder / SEARCH_FILE
    if not path.exists():
        return
    # Searches had no checksum of the texts at first.
    if read_json(path).get("texts", checksum) != checksum:
        raise ValueError(
            "A search is resumed, and shared, with the texts it was started "
            f"with ({path}). Received others"
        )


def _prepare(settings, train_texts, dev_texts):
    """The hypermodel and the `PreparedTexts`."""
    preset, arguments = settings["preset"], settings["arguments"]
    recipe = zoo.Recipe(preset, **settings.get("recipe", {}))
    own = models.get_preset(preset)
    make = functools.partial(
        HYPERMODELS[own.class_name],
        recipe,
        seed=settings["seed"],
        papers_space=settings["papers_space"],
    )
    # The arguments are checked before the texts are read.
    unsized = make(vocabulary_size=2, num_classes=2, **arguments)
    if not unsized.choices:
        raise ValueError(
            "There is nothing to search: expected at least one argument with "
            "a list of values"
        )
    values = unsized.first_settings()
    if values["model"] != own.model:
        training.check_model_arguments(
            preset, applying(CLASSES[own.class_name], values["model"])
        )
    texts = training.prepare(
        preset,
        train_texts,
        dev_texts,
        values["training"],
        {**recipe.model, **arguments},
        vectors=settings["vectors"],
    )
    warn_of_repeated_rows(texts.train_data, texts.dev_data)
    hypermodel = make(vectors=texts.vectors, **{**arguments, **texts.arguments})
    try:
        # So that wrong values fail here, and not in each trial.
        hypermodel.build(keras_tuner.HyperParameters())
    except keras_tuner.errors.FailedTrialError as error:
        raise ValueError(
            f"The first trial's model cannot be built: {error}"
        ) from error
    return hypermodel, texts


def _tuner_arguments(tuner, trials, epochs):
    if tuner == "hyperband":
        # As many iterations as the budget allows.
        return {"max_epochs": epochs, "hyperband_iterations": None}
    if tuner == "bayesian":
        # KerasTuner would start with three random ones a hyperparameter.
        return {"num_initial_points": max(3, (trials or _DEFAULT_TRIALS) // 3)}
    return {}


@contextlib.contextmanager
def _quiet():
    """Keeps notes of KerasTuner and TensorFlow out of the output.

    KerasTuner prints whatever it is told, and the tracebacks of trials that
    fail, which it keeps in their `trial.json` too. TensorFlow warns of
    functions that are traced again, as those of each trial's model are.
    """
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with (
            open(
                os.devnull, "w", encoding="utf-8", errors="replace"
            ) as nothing,
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            yield
    finally:
        logger.setLevel(level)


def _run(searcher, texts, epochs):
    try:
        searcher.search(
            texts.train_data,
            validation_data=texts.dev_data,
            epochs=epochs,
            verbose=0,
        )
    except RuntimeError as error:
        # The trials before the failures may still be good.
        if "consecutive failures" not in str(error):
            raise


def _history(progress, trial):
    """The logs of all epochs that led to a trial's weights."""
    values = trial.hyperparameters.values
    before = []
    if "tuner/trial_id" in values:
        earlier = progress.tuner.oracle.trials[values["tuner/trial_id"]]
        before = [
            logs
            for logs in _history(progress, earlier)
            if logs["epoch"] <= values["tuner/initial_epoch"]
        ]
    return before + [
        {name: value for name, value in logs.items() if name != "seconds"}
        for logs in progress.history(trial.trial_id)
    ]

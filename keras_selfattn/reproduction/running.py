"""Runs the rows of a table, each seed in a folder of its own."""

import gc
import json
import os
import pathlib
import shutil
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

import keras
import tensorflow as tf

from keras_selfattn import endings
from keras_selfattn import training
from keras_selfattn import validation
from keras_selfattn.backends.memory import is_too_small
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.data.joined_vectors import vector_files
from keras_selfattn.data.labeled_rows import check_rows
from keras_selfattn.files import read_json
from keras_selfattn.files import write_json
from keras_selfattn.files import write_text
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.reproduction.measuring import measure
from keras_selfattn.reproduction.report import write_report
from keras_selfattn.reproduction.results import Results
from keras_selfattn.reproduction.rows import check_data
from keras_selfattn.reproduction.rows import check_overrides
from keras_selfattn.reproduction.rows import choose_rows
from keras_selfattn.reproduction.rows import measured_splits
from keras_selfattn.reproduction.rows import row_overrides
from keras_selfattn.reproduction.tables import get_table

SETTINGS_FILE = "reproduction.json"
RUNS_FOLDER = "runs"
RESULT_FILE = "result.json"

_OF_A_RUN = (training.SETTINGS_FILE, training.HISTORY_FILE)

# What a row may fail with though the input is right. JAX and torch report too
# little memory as a `RuntimeError`, which can also mean anything else.
FAILURES = (ArithmeticError, MemoryError, RuntimeError, tf.errors.OpError)


def reproduce(
    paper: str,
    name: str,
    corpus: str,
    train_texts: Iterable,
    dev_texts: Iterable,
    test_texts: Iterable | None = None,
    mismatched_texts: Iterable | None = None,
    *,
    folder: str | os.PathLike,
    rows: Sequence[str] | None = None,
    seeds: int = 1,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    model_overrides: Mapping | None = None,
    training_overrides: Mapping | None = None,
    verbose: str | int = "auto",
    verify: bool = True,
) -> Results:
    """Run the rows of a paper's table, and set them beside the published ones.

    Each row and seed is a training run below `folder / "runs"`. Called again
    for the same folder, data and settings, finished runs are read, the one
    that was interrupted goes on from its last epoch, and the others follow:
    so rows and seeds can be added. The best epoch is chosen on dev; the
    figures are those of the test texts where given, otherwise of dev.

    After each run the folder gets `results.json`, `results.csv`,
    `results.md` and, for a figure, `figure.png`.

    Args:
        paper: `"lin2017"`, `"chen2018"` or `"parikh2016"`.
        name: Such as `"table 1"` or `"figure 5"`.
        corpus: The corpus of the table that the texts are: `"yelp"`,
            `"age"`, `"snli"` or `"multinli"`.
        train_texts: Re-iterable of `(text, label)`, or of
            `((premise, hypothesis), label)`.
        dev_texts: The same, which choose the best epoch. Of MultiNLI, the
            matched ones.
        test_texts: The same, or `None`.
        mismatched_texts: The same, of MultiNLI's mismatched texts.
        folder: Path of the folder, a new one or that of a call before.
        rows: Sequence of the keys of the rows to run, or `None` for all.
        seeds: Integer, how many seeds each row is run with, from 0.
        vectors: As in `keras_selfattn.training.train`.
        model_overrides: Arguments of the model for all rows that take them,
            but not one that the rows compare.
        training_overrides: As in `keras_selfattn.training.train`.
        verbose: As in `keras_selfattn.training.train`.
        verify: As in `keras_selfattn.training.train`.

    Returns:
        The `Results`. Its `failures` name the runs that gave no figure,
        because the loss was not finite or the memory too small.

    Raises:
        ValueError: if an argument or the data are not as expected, or if the
            folder holds something else.
        ImportError: if it is a figure, and matplotlib is missing.
    """
    table = get_table(paper, name)
    if table.is_figure:
        from keras_selfattn.reproduction import curves  # noqa: F401
    model_overrides = arguments.plain(model_overrides or {})
    chosen = choose_rows(table, corpus, rows)
    check_overrides(table, chosen, corpus, model_overrides)
    validation.integer(seeds, "seeds")
    given = {
        "train": train_texts,
        "dev": dev_texts,
        "test": test_texts,
        "mismatched": mismatched_texts,
    }
    splits = {
        split: texts for split, texts in given.items() if texts is not None
    }
    for split, texts in splits.items():
        check_rows(texts, f"{split}_texts")
    settings = {
        "paper": paper,
        "name": name,
        "corpus": corpus,
        "vectors": vector_files(vectors),
        "model": model_overrides,
        "training": training_overrides or {},
        "data": {split: fingerprint(texts) for split, texts in splits.items()},
    }
    check_data(settings["data"], table, corpus)
    to_run = [(row, seed) for seed in range(seeds) for row in chosen]
    with folder_held(folder):
        runs = _Runs(pathlib.Path(folder), table, splits, settings, verify)
        return _run_all(runs, to_run, verbose)


def _run_all(runs, to_run, verbose):
    for number, (row, seed) in enumerate(to_run, start=1):
        title = f"[{number}/{len(to_run)}] {row.key}, seed {seed}"
        if runs.is_done(row, seed):
            print(f"{title}: done before", flush=True)
            continue
        print(title, flush=True)
        try:
            runs.run(row, seed, verbose)
        except FAILURES as error:
            endings.raise_if_asked()
            if isinstance(error, RuntimeError) and not is_too_small(error):
                raise
            runs.failures[row.key, seed] = _reason(error)
            print(f"{title} failed: {_reason(error)}", flush=True)
        # A model and its compiled functions refer to each other.
        gc.collect()
        runs.report()
    return runs.report()


class _Runs:
    """The runs of a table, each in a folder of its own below one.

    Attributes:
        failures: Dictionary of messages by `(row key, seed)`.

    Raises:
        ValueError: if the folder holds anything but these settings' runs.
    """

    def __init__(self, folder, table, splits, settings, verify):
        self.folder = folder
        self.table = table
        self.splits = splits
        self.settings = settings
        self.verify = verify
        self.corpus = settings["corpus"]
        self.measured_on = measured_splits(table, self.corpus, splits)
        self.failures = {}
        path = folder / SETTINGS_FILE
        if path.exists():
            training.check_settings(path, settings, "reproduction")
        # Runs without a figure were stopped before the first of them began.
        elif not training.is_new(folder, RUNS_FOLDER) or any(
            (folder / RUNS_FOLDER).rglob(RESULT_FILE)
        ):
            raise ValueError(
                "The folder must be new, or hold a reproduction to go on with. "
                f"Received: {folder}, which holds something else"
            )

    def is_done(self, row, seed):
        return (self._place(row, seed) / RESULT_FILE).exists()

    def run(self, row, seed, verbose):
        """Train a row's model with a seed, or go on with it, and measure."""
        place = self._place(row, seed)
        resume = (place / training.SETTINGS_FILE).exists()
        if place.exists() and not resume:
            # The run was stopped before there was anything to keep.
            shutil.rmtree(place)
        model = training.train(
            row.presets[self.corpus],
            self.splits["train"],
            self.splits["dev"],
            place,
            vectors=self.settings["vectors"],
            seed=seed,
            resume=resume,
            model_overrides=row_overrides(
                row, self.corpus, self.settings["model"]
            ),
            training_overrides=self.settings["training"],
            callbacks=[_Begin(self._write_settings)],
            verbose=verbose,
            verify=self.verify,
        )
        needed = {*self.measured_on.values()} & {*self.splits}
        result = measure(model, {s: self.splits[s] for s in needed})
        write_text(place / RESULT_FILE, json.dumps(result) + "\n")
        write_checksums(place, (*_OF_A_RUN, RESULT_FILE))
        # It is several times as large as the model, and done with.
        shutil.rmtree(place / training.CHECKPOINT_FOLDER)

    def report(self):
        """The `Results` of all finished runs, which are written as well."""
        found = {}
        for row in self.table.rows:
            if row.key is None:
                continue
            for place in (self.folder / RUNS_FOLDER / row.key).glob("seed-*"):
                if not (place / RESULT_FILE).exists():
                    continue
                result = self._result(place)
                seed = int(place.name.removeprefix("seed-"))
                found.setdefault(row.key, {})[seed] = result
        results = Results(
            self.table, self.corpus, self.measured_on, found, self.failures
        )
        if (self.folder / SETTINGS_FILE).exists():
            write_report(results, self.folder)
        return results

    def _result(self, place):
        if self.verify:
            check_checksums(place, (*_OF_A_RUN, RESULT_FILE))
        result = read_json(place / RESULT_FILE)
        if not isinstance(result, dict):
            raise ValueError(
                f"{place / RESULT_FILE} does not hold the figures of a run"
            )
        history = training.read_history(place)
        accuracies = [logs["val_accuracy"] for logs in history]
        return {**result, "dev_accuracies": accuracies}

    def _place(self, row, seed):
        return self.folder / RUNS_FOLDER / row.key / f"seed-{seed}"

    def _write_settings(self):
        path = self.folder / SETTINGS_FILE
        write_json(path, self.settings, ensure_ascii=False)


class _Begin(keras.callbacks.Callback):
    """Calls a function once all inputs are known to be good."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def on_train_begin(self, logs=None):
        self.function()


def _reason(error):
    text = one_line(error)[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

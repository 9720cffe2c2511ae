"""Runs the rows of a table, each seed in a folder of its own."""

import csv
import gc
import json
import pathlib
import re
import shutil

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import validation
from keras_selfattn.backends.memory import is_too_small
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.files import write_text
from keras_selfattn.models import arguments
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.reproduction import significance
from keras_selfattn.reproduction.report import write_report
from keras_selfattn.reproduction.results import Results
from keras_selfattn.reproduction.tables import get_table

SETTINGS_FILE = "reproduction.json"
RUNS_FOLDER = "runs"
RESULT_FILE = "result.json"

# What a row may fail with though the input is right. JAX and torch report too
# little memory as a `RuntimeError`, which can also mean anything else.
FAILURES = (ArithmeticError, MemoryError, RuntimeError, tf.errors.OpError)


def reproduce(
    paper,
    name,
    corpus,
    train_texts,
    dev_texts,
    test_texts=None,
    mismatched_texts=None,
    *,
    folder,
    rows=None,
    seeds=1,
    vectors=None,
    model_overrides=None,
    training_overrides=None,
    verbose="auto",
):
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

    Returns:
        The `Results`. Its `failures` name the runs that gave no figure,
        because the loss was not finite or the memory too small.

    Raises:
        ValueError: if an argument or the data are not as expected, or if the
            folder holds something else.
        ImportError: if SciPy, or for a figure matplotlib, is missing.
    """
    table = get_table(paper, name)
    significance.import_scipy()
    if table.is_figure:
        from keras_selfattn.reproduction import curves  # noqa: F401
    chosen = choose_rows(table, corpus, rows)
    check_overrides(table, chosen, corpus, model_overrides or {})
    validation.integer(seeds, "seeds")
    splits = {
        "train": train_texts,
        "dev": dev_texts,
        "test": test_texts,
        "mismatched": mismatched_texts,
    }
    splits = {
        split: texts for split, texts in splits.items() if texts is not None
    }
    settings = {
        "paper": paper,
        "name": name,
        "corpus": corpus,
        "vectors": None if vectors is None else str(vectors),
        "model": arguments.plain(model_overrides or {}),
        "training": training_overrides or {},
        "data": {split: fingerprint(texts) for split, texts in splits.items()},
    }
    check_data(settings["data"], table, corpus)
    folder = pathlib.Path(folder)
    check_folder(folder, settings)
    measured_on = measured_splits(table, corpus, splits)
    failures = {}
    runs = [(row, seed) for seed in range(seeds) for row in chosen]
    for number, (row, seed) in enumerate(runs, start=1):
        place = run_folder(folder, row, seed)
        title = f"[{number}/{len(runs)}] {row.key}, seed {seed}"
        if (place / RESULT_FILE).exists():
            print(f"{title}: done before", flush=True)
            continue
        print(title, flush=True)
        try:
            model = train_row(
                row, seed, place, corpus, splits, settings, folder, verbose
            )
            needed = {measured_on[column.name] for column in table.columns}
            result = measure(
                model, {s: splits[s] for s in splits if s in needed}
            )
        except FAILURES as error:
            if isinstance(error, RuntimeError) and not is_too_small(error):
                raise
            failures[row.key, seed] = one_line(error)
            print(f"{title} failed: {one_line(error)}", flush=True)
        else:
            text = json.dumps(result) + "\n"
            write_text(place / RESULT_FILE, text)
            # It is several times as large as the model, and done with.
            shutil.rmtree(place / training.CHECKPOINT_FOLDER)
            del model
        # A model and its compiled functions refer to each other.
        gc.collect()
        write_report(
            read_results(folder, table, corpus, measured_on, failures), folder
        )
    results = read_results(folder, table, corpus, measured_on, failures)
    write_report(results, folder)
    return results


def choose_rows(table, corpus, keys):
    """The rows to run: those of the keys, or all that the corpus has."""
    if corpus not in table.corpora:
        raise ValueError(
            f"{table.paper} {table.name} is on {', '.join(table.corpora)}. "
            f"Received: {corpus!r}"
        )
    known = {row.key: row for row in table.rows if corpus in row.presets}
    for key in keys or ():
        if key not in known:
            raise ValueError(
                f"The rows of {table.paper} {table.name} on {corpus} are "
                f"{', '.join(known)}. Received: {key!r}"
            )
    return [row for key, row in known.items() if not keys or key in keys]


def check_overrides(table, rows, corpus, overrides):
    """`ValueError` where a model argument can't be set for all rows."""
    for name in overrides:
        if name in table.compared:
            raise ValueError(
                f"{table.paper} {table.name} compares rows by {name}: it "
                "can't be set for all of them"
            )
    taken = set()
    for row in rows:
        values = row_overrides(row, corpus, overrides)
        taken.update(values)
        training.check_model_arguments(row.presets[corpus], values)
    for name, value in overrides.items():
        if name not in taken:
            raise ValueError(
                f"`{name}` changes nothing in any row of {table.paper} "
                f"{table.name}. Received: {name}={value!r}"
            )


def row_overrides(row, corpus, overrides):
    """A row's model arguments, with those set for all rows that it takes."""
    preset = models.get_preset(row.presets[corpus])
    values = {**row.overrides, **overrides}
    applying = arguments.applying(
        CLASSES[preset.class_name],
        {**preset.model, **values},
        given=row.overrides,
    )
    return {name: value for name, value in values.items() if name in applying}


def check_data(data, table, corpus):
    """`ValueError` where texts have labels that can't be learned."""
    known = list(map(str, data["train"]["classes"]))
    for split, found in data.items():
        for label in found["classes"]:
            if str(label) not in known:
                raise ValueError(
                    f"A label of the {split} texts must be one of the "
                    f"training texts, {', '.join(known)}. Received: {label!r}"
                )
    for column in table.columns:
        if column.corpus == corpus and column.label not in (None, *known):
            raise ValueError(
                f"{table.paper} {table.name} needs texts of the class "
                f"{column.label!r}. Received: {', '.join(known)}"
            )


def check_folder(folder, settings):
    """`ValueError` where a folder holds anything but these settings' runs."""
    path = folder / SETTINGS_FILE
    if path.exists():
        training.check_settings(path, settings, "reproduction")
    elif folder.exists() and any(folder.iterdir()):
        raise ValueError(
            "The folder must be new, or hold a reproduction to go on with. "
            f"Received: {folder}, which holds something else"
        )


def measured_splits(table, corpus, splits):
    """The split that each column is measured on here; `None` for none."""
    measured_on = {}
    for column in table.columns:
        split = column.split
        if split == "test" and split not in splits:
            split = "dev"
        here = column.corpus == corpus and split in splits
        measured_on[column.name] = split if here else None
    return measured_on


def run_folder(folder, row, seed):
    return folder / RUNS_FOLDER / row.key / f"seed-{seed}"


def train_row(row, seed, place, corpus, splits, settings, folder, verbose):
    """Train a row's model with a seed, or go on with its training."""
    resume = (place / training.SETTINGS_FILE).exists()
    if place.exists() and not resume:
        # The run was stopped before there was anything to keep.
        shutil.rmtree(place)
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    return training.train(
        row.presets[corpus],
        splits["train"],
        splits["dev"],
        place,
        vectors=settings["vectors"],
        seed=seed,
        resume=resume,
        model_overrides=row_overrides(row, corpus, settings["model"]),
        training_overrides=settings["training"],
        callbacks=[
            _Begin(lambda: write_text(folder / SETTINGS_FILE, text)),
            _StopAtInfinity(),
        ],
        verbose=verbose,
    )


class _Begin(keras.callbacks.Callback):
    """Calls a function once all inputs are known to be good."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def on_train_begin(self, logs=None):
        self.function()


class _StopAtInfinity(keras.callbacks.Callback):
    """Raises at the first loss that is not finite.

    The epoch does not end, so nothing of it is kept.
    """

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if not np.isfinite(logs["loss"]):
            raise FloatingPointError(
                f"The loss is {logs['loss']} at batch {batch + 1} of epoch "
                f"{self.epoch + 1}"
            )


def one_line(error):
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def measure(model, splits):
    """A result as plain data.

    Returns:
        A dictionary of the best `"epoch"`; the `"parameters"` by part; and,
        in `"right"`, for each split and class a string with a `1` for each
        text answered rightly and a `0` for the others, in their order.
    """
    return {
        "epoch": model.training_record["epoch"],
        "parameters": count_parameters(model),
        "right": {
            split: right_answers(model, texts)
            for split, texts in splits.items()
        },
    }


def right_answers(model, records):
    """Which texts of each class are answered rightly, as ones and zeros."""
    right = [[] for _ in model.labels]
    for label_ids, probabilities in evaluation.answers(records, model):
        found = probabilities.argmax(axis=-1)
        for label_id, answer in zip(label_ids, found, strict=True):
            right[label_id].append("01"[int(answer == label_id)])
    return {
        str(label): "".join(signs)
        for label, signs in zip(model.labels, right, strict=True)
    }


def count_parameters(model):
    """The numbers of weights without word vectors, by the papers' parts."""
    counts = {"hidden layer": 0, "softmax": 0}
    for layer in model.layers:
        if layer.name in ("probabilities", "logits"):
            counts["softmax"] += layer.count_params()
        elif re.fullmatch(r"hidden_\d+|pruned_hidden", layer.name):
            counts["hidden layer"] += layer.count_params()
    by_group = model.parameter_counts()
    total = sum(by_group.values()) - by_group["word vectors"]
    counts["other parts"] = total - sum(counts.values())
    counts["total"] = total
    return counts


def dev_accuracies(run):
    """The dev accuracy after each epoch of a run."""
    text = (run / training.HISTORY_FILE).read_text()
    rows = csv.DictReader(text.splitlines())
    return [float(row["val_accuracy"]) for row in rows]


def read_results(folder, table, corpus, measured_on, failures):
    """The `Results` of all finished runs in a folder."""
    found = {}
    for row in table.rows:
        if row.key is None:
            continue
        for path in (folder / RUNS_FOLDER / row.key).glob("seed-*"):
            if not (path / RESULT_FILE).exists():
                continue
            result = json.loads((path / RESULT_FILE).read_text())
            result["dev_accuracies"] = dev_accuracies(path)
            seed = int(path.name.removeprefix("seed-"))
            found.setdefault(row.key, {})[seed] = result
    return Results(table, corpus, measured_on, found, failures)

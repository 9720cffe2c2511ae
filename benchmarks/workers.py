"""An epoch by two processes on a core each, beside one process on one core.

    python -m benchmarks.workers

gives `keras-selfattn train` made-up texts of the lengths of the works W1 and
W3s, and the sizes of their models, alone and with `--workers 2`, in turn. An
epoch is the time from its line to that of the next. Then both train a small
model with dropout, of which each worker draws its own, on generated reviews,
with three seeds.

Whatever else runs on the machine changes the figures.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.encoding import ONE_CORE
from benchmarks.peers.workloads import WORKS
from benchmarks.peers.workloads import made_up_words
from benchmarks.peers.workloads import make_rows
from benchmarks.tables import print_table

# By work a preset of its class, and the steps of an epoch.
TIMED = {"W1": ("lin2017_yelp", 40), "W3s": ("chen2018_snli", 12)}
# The first one compiles, the last one has no line after it.
EPOCHS = 4
# What follows from the texts.
SIZES = ("vocabulary_size", "num_classes")
REVIEWS = {"train": 4_000, "dev": 1_000}
DROPOUT = {
    "embedding_dim": 32,
    "units": 32,
    "attention_dim": 16,
    "num_heads": 4,
    "hidden_units": 32,
    "dropout": 0.5,
    "optimizer": "adam",
    "learning_rate": 0.001,
    "batch_size": 64,
    "epochs": 4,
}


def write_work(name, folder):
    """Files of texts of a work's lengths, and the options for its model."""
    work = WORKS[name]
    preset, steps = TIMED[name]
    features, labels = make_rows(work, steps * work.batch_size)
    words = np.array(["", *made_up_words(work.arguments["vocabulary_size"])])
    columns = {"label": map(str, labels)}
    for side in work.sides:
        rows = features[f"{side}token_ids"]
        columns[side.strip("_") or "text"] = [
            " ".join(words[row[row > 0]]) for row in rows
        ]
    rows = [
        json.dumps(dict(zip(columns, row, strict=True))) + "\n"
        for row in zip(*columns.values(), strict=True)
    ]
    for part, taken in (("train", rows), ("dev", rows[: work.batch_size])):
        (folder / f"{part}.jsonl").write_text("".join(taken))
    values = {k: v for k, v in work.arguments.items() if k not in SIZES}
    values.update(
        batch_size=work.batch_size,
        epochs=EPOCHS,
        optimizer=work.optimizer,
        learning_rate=work.learning_rate,
    )
    return preset, values


def write_reviews(folder):
    from keras_selfattn.data.generated import generate_reviews

    for seed, (part, size) in enumerate(REVIEWS.items()):
        rows = [
            json.dumps({"text": each.text, "label": each.label}) + "\n"
            for each in generate_reviews(size, seed=seed)
        ]
        (folder / f"{part}.jsonl").write_text("".join(rows))


def train(folder, preset, values, workers=1, seed=0):
    """Train, and return the seconds of each epoch and the losses on dev."""
    command = [
        *(sys.executable, "-m", "keras_selfattn", "train"),
        *(folder / "train.jsonl", "--dev", folder / "dev.jsonl"),
        *("--preset", preset, "--seed", seed, "--output", folder / "run"),
    ]
    for name, value in values.items():
        command += ["--set", f"{name}={json.dumps(value)}"]
    if workers > 1:
        command += ["--workers", workers]
    starts = []
    with subprocess.Popen(
        list(map(str, command)),
        env={**os.environ, **ONE_CORE, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        for line in process.stdout:
            if line.startswith("Epoch "):
                starts.append(time.perf_counter())
    if process.returncode:
        raise SystemExit(f"{command} has ended with {process.returncode}")
    with open(folder / "run" / "history.csv", newline="") as file:
        losses = [float(row["val_loss"]) for row in csv.DictReader(file)]
    return np.diff(starts), losses


def measure(name, turns):
    """The median epoch of one and of two processes, and their ratios."""
    taken = {1: [], 2: []}
    for _ in range(turns):
        for workers, each in taken.items():
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                seconds, _ = train(folder, *write_work(name, folder), workers)
            each.append(statistics.median(seconds[1:]))
    ratios = [two / one for one, two in zip(*taken.values(), strict=True)]
    return [
        name,
        *(f"{statistics.median(each):.1f}" for each in taken.values()),
        f"{statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f})",
    ]


def curves(seeds):
    """By epoch the loss on dev of one and of two processes, all seeds."""
    found = {1: [], 2: []}
    for seed in range(seeds):
        for workers, each in found.items():
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                write_reviews(folder)
                _, losses = train(
                    folder, "lin2017_yelp", DROPOUT, workers, seed
                )
            each.append(losses)
    return [
        [
            epoch,
            *(
                f"{np.mean(losses):.4f} ± {np.std(losses, ddof=1):.4f}"
                for losses in both
            ),
        ]
        for epoch, both in enumerate(
            zip(*(zip(*f, strict=True) for f in found.values()), strict=True), 1
        )
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print_table(
        ["work", "one process, s", "two, s", "ratio"],
        [measure(name, options.turns) for name in TIMED],
    )
    print()
    print_table(
        ["epoch", "loss on dev, one process", "two"], curves(options.seeds)
    )


if __name__ == "__main__":
    main()

"""What several processes on a core each bring, beside one on one core.

    python -m benchmarks.workers

makes the texts of some files into ids by one process, and by as many as there
are cores, which must write the same bytes. It trains the models of the works W1
and W3s on made-up texts of the works' lengths, in one process and in two that
share out the rows of each batch, in turn; the first steps don't count. Then
both train a small model with dropout, of which each process draws its own, on
generated reviews, with three seeds.

Whatever else runs on the machine changes the figures.
"""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import shutil
import socket
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
from benchmarks.scale import write_files
from benchmarks.tables import median_and_range
from benchmarks.tables import print_table
from keras_selfattn.checksums import folder_checksum

# By work a preset of its class, and how many steps count.
TIMED = {"W1": ("lin2017_yelp", 25), "W3s": ("chen2018_snli", 10)}
WARM_UP = 4
# What follows from the texts.
SIZES = ("vocabulary_size", "num_classes")
REVIEWS = (4_000, 1_000)
DROPOUT = {
    "embedding_dim": 32,
    "units": 32,
    "attention_dim": 16,
    "num_heads": 4,
    "hidden_units": 32,
    "dropout": 0.5,
}
# Reviews of the length of Yelp's.
FILES = {"words": 180, "vocabulary": 50_000, "files": 8}
DEV = '{{"text": "w1 w2", "label": "{label}"}}\n'


def of_work(name):
    """What `train` takes for a work."""
    work = WORKS[name]
    preset, steps = TIMED[name]
    rows = (steps + WARM_UP) * work.batch_size
    features, labels = make_rows(work, rows)
    words = np.array(["", *made_up_words(work.arguments["vocabulary_size"])])
    texts = zip(
        *(
            [" ".join(words[ids[ids > 0]]) for ids in features[f"{s}token_ids"]]
            for s in work.sides
        ),
        strict=True,
    )
    if len(work.sides) == 1:
        texts = (text for (text,) in texts)
    rows = list(zip(texts, map(str, labels), strict=True))
    return {
        "preset": preset,
        "train_texts": rows,
        "dev_texts": rows[: work.batch_size],
        "model_overrides": {
            k: v for k, v in work.arguments.items() if k not in SIZES
        },
        "training_overrides": {
            "epochs": 1,
            "batch_size": work.batch_size,
            "optimizer": work.optimizer,
            "learning_rate": work.learning_rate,
            "steps_per_execution": 1,
        },
    }


def of_seed(seed):
    """What `train` takes for a model with dropout."""
    from keras_selfattn.data.generated import generate_reviews

    train, dev = (
        [(each.text, each.label) for each in generate_reviews(size, seed=size)]
        for size in REVIEWS
    )
    return {
        "preset": "lin2017_yelp",
        "train_texts": train,
        "dev_texts": dev,
        "seed": int(seed),
        "model_overrides": DROPOUT,
        "training_overrides": {
            "epochs": 4,
            "batch_size": 64,
            "optimizer": "adam",
            "learning_rate": 1e-3,
        },
    }


def train(what, folder):
    """Train as one of the processes, and print what it has seen."""
    import keras
    import tensorflow as tf

    from keras_selfattn import training

    times, losses = [], []
    seen = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: times.append(
            time.perf_counter()
        ),
        on_epoch_end=lambda epoch, logs: losses.append(float(logs["val_loss"])),
    )
    strategy = None
    if "TF_CONFIG" in os.environ:
        # Waiting for another, one thread sends nothing.
        tf.config.threading.set_inter_op_parallelism_threads(4)
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    training.train(
        folder=os.path.join(folder, "run"),
        callbacks=[seen],
        strategy=strategy,
        verbose=0,
        **(of_work(what) if what in TIMED else of_seed(what)),
    )
    print(json.dumps([np.diff(times).tolist()[WARM_UP - 1 :], losses]))


def configurations(count):
    """What each of some processes has in its environment."""
    if count == 1:
        return [{}]
    with contextlib.ExitStack() as stack:
        # All at once, so that no two are the same.
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    tasks = [{"type": "worker", "index": number} for number in range(count)]
    return [
        {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})}
        for task in tasks
    ]


def run(count, what):
    """What the first of so many processes has seen."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.workers", what, folder],
                env={**os.environ, **ONE_CORE, **configuration},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for configuration in configurations(count)
        ]
        said = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise SystemExit(f"{what} by {count} has failed")
    return json.loads(said[0].splitlines()[-1])


def prepare(rows, turns):
    """A row a number of processes: seconds, and how many times as fast."""
    cores = sorted(os.sched_getaffinity(0))
    taken, checksums = {1: [], len(cores): []}, set()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_files(folder / "texts", rows, **FILES)
        (folder / "dev.jsonl").write_text(
            "".join(DEV.format(label=label) for label in "01")
        )
        for turn in range(turns):
            for count, each in taken.items():
                output = folder / "ids"
                started = time.perf_counter()
                subprocess.run(
                    [
                        *(sys.executable, "-m", "keras_selfattn", "prepare"),
                        *(folder / "texts").iterdir(),
                        f"--dev={folder / 'dev.jsonl'}",
                        f"--output={output}",
                        f"--workers={count}",
                    ],
                    env={**os.environ, **ONE_CORE},
                    check=True,
                    capture_output=True,
                    # A process has threads that would run beside each other.
                    preexec_fn=functools.partial(
                        os.sched_setaffinity, 0, cores[:count]
                    ),
                )
                each.append(time.perf_counter() - started)
                checksums.add(folder_checksum(output))
                shutil.rmtree(output)
                print(f"prepare, turn {turn + 1}: {count} in {each[-1]:.1f} s")
    if len(checksums) > 1:
        raise SystemExit("The ids differ with the number of processes")
    table = []
    for count, each in taken.items():
        ratios = [one / s for one, s in zip(taken[1], each, strict=True)]
        table.append(
            [
                count,
                f"{statistics.median(each):.1f}",
                median_and_range(ratios),
            ]
        )
    return table


def times(work, turns):
    taken = {1: [], 2: []}
    for turn in range(turns):
        for count, each in taken.items():
            each.append(1000 * statistics.median(run(count, work)[0]))
            print(f"{work}, turn {turn + 1}: {count} at {each[-1]:,.0f} ms")
    ratios = [two / one for one, two in zip(*taken.values(), strict=True)]
    return [
        work,
        *(f"{statistics.median(each):,.0f}" for each in taken.values()),
        median_and_range(ratios),
    ]


def losses(seeds):
    """A row an epoch: the loss on dev by one process, and by two."""
    by_count = [
        np.array([run(count, str(seed))[1] for seed in range(seeds)])
        for count in (1, 2)
    ]
    means, spreads = np.mean(by_count, 1), np.std(by_count, 1, ddof=1)
    return [
        [
            epoch + 1,
            *(
                f"{mean:.4f} ± {spread:.4f}"
                for mean, spread in zip(
                    means[:, epoch], spreads[:, epoch], strict=True
                )
            ),
        ]
        for epoch in range(means.shape[1])
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=320_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=["prepare", "train", "dropout"])
    parser.add_argument("alone", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        train(*options.alone)
        return
    tables = {
        "prepare": (
            ["processes", "s to prepare", "times as fast"],
            lambda: prepare(options.rows, options.turns),
        ),
        "train": (
            ["work", "one process, ms a step", "two", "ratio"],
            lambda: [times(work, options.turns) for work in TIMED],
        ),
        "dropout": (
            ["epoch", "loss on dev, one process", "two"],
            lambda: losses(options.seeds),
        ),
    }
    for name, (header, make_table) in tables.items():
        if options.only in (None, name):
            print_table(header, make_table())
            print()


if __name__ == "__main__":
    main()

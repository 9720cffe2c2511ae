"""How the cost of a corpus grows: rows, words, vocabulary, heads, files.

    python -m benchmarks.scale

changes one of these at a time, and for each prepares generated sentences,
trains a BiLSTM of 100 units on the folder for an epoch, and encodes the
sentences with it, in a process of its own on one core. Times are the
processor's, so that other programs disturb them little; peaks are those of the
process until then. At the end stands what follows for a billion sentences.

`--rows` is the number of sentences from which the others start, `--only` what
is changed. The rows a second of several processes are those of `python -m
benchmarks.encoding`.
"""

import argparse
import functools
import itertools
import json
import os
import pathlib
import tempfile
import time

import numpy as np

from benchmarks.corpus_size import in_a_process
from benchmarks.corpus_size import peak
from benchmarks.encoding import ONE_CORE
from benchmarks.tables import print_table

START = {"words": 20, "vocabulary": 20_000, "heads": 8, "files": 4}
CHANGES = {
    "words": (10, 80),
    "vocabulary": (2_000, 200_000),
    "heads": (1, 30),
    "files": (1, 16),
}
BATCH = 64
# The first steps compile, and read the first window.
WARM_UP = 20
BILLION = 10**9


def write_files(folder, rows, words, vocabulary, files):
    """Sentences of words drawn by their squares, so that some are frequent."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    paths = []
    for number in range(files):
        path = folder / f"part-{number:03}.jsonl"
        with open(path, "w") as file:
            for _ in range(rows // files):
                drawn = (vocabulary * rng.random(words) ** 2).astype(int)
                text = " ".join(f"w{word}" for word in drawn)
                record = {"text": text, "label": str(drawn[0] % 2)}
                file.write(json.dumps(record) + "\n")
        paths.append(path)
    return paths


def model_arguments(heads):
    return {
        "embedding_dim": 100,
        "units": 100,
        "attention_dim": 100,
        "num_heads": heads,
        "hidden_units": 200,
    }


def train(prepared, folder, heads):
    """Milliseconds of the processor for a step."""
    import keras

    from keras_selfattn import training

    class Clock(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch + 1 == WARM_UP:
                self.started = time.process_time()
            self.steps = batch + 1 - WARM_UP
            self.ended = time.process_time()

    clock = Clock()
    training.train(
        "lin2017_yelp",
        training.PreparedFolder(prepared),
        None,
        folder,
        model_overrides=model_arguments(heads),
        training_overrides={
            "epochs": 1,
            "batch_size": BATCH,
            "steps_per_execution": 1,
        },
        callbacks=[clock],
        verbose=0,
    )
    return 1000 * (clock.ended - clock.started) / clock.steps


def encode(model, paths, folder):
    """Seconds of the processor, without the start, and bytes written."""
    from keras_selfattn import encoding

    (folder / "few").mkdir()
    few = folder / "few" / "few.jsonl"
    with open(paths[0]) as file:
        few.write_text("".join(itertools.islice(file, 64)))
    seconds = []
    for number, files in enumerate(([few], paths)):
        started = time.process_time()
        encoding.encode_files(model, files, folder / f"encoded{number}")
        seconds.append(time.process_time() - started)
    written = (folder / "encoded1").glob("*.parquet")
    size = sum(path.stat().st_size for path in written)
    return seconds[1] - seconds[0], size


def measure(folder, heads, **texts):
    """What one point of the curves has taken."""
    from keras_selfattn import training
    from keras_selfattn.data import Corpus

    folder = pathlib.Path(folder)
    paths = write_files(folder / "texts", **texts)
    (dev,) = write_files(folder / "dev", **{**texts, "rows": 200, "files": 1})
    started = time.process_time()
    done = training.prepare_shards(
        "lin2017_yelp",
        [Corpus(path) for path in paths],
        Corpus(dev),
        folder / "ids",
        model_overrides=model_arguments(heads),
        processes=1,
    )
    found = {"prepare": time.process_time() - started}
    found["prepare_peak"] = peak()
    files = (folder / "ids" / "train").rglob("*.npy")
    found["bytes"] = sum(path.stat().st_size for path in files)
    found["step"] = train(folder / "ids", folder / "run", heads)
    found["train_peak"] = peak()
    found["encode"], found["written"] = encode(folder / "run", paths, folder)
    found["encode_peak"] = peak()
    return {"rows": done["rows"], **found}


def row(name, value, found):
    rows = found["rows"]
    return [
        name,
        f"{value:,}",
        f"{1e6 * found['prepare'] / rows:,.0f}",
        f"{found['bytes'] / rows:.0f}",
        f"{found['step']:.1f}",
        f"{rows / found['encode']:,.0f}",
        f"{found['written'] / rows:,.0f}",
        *(f"{found[f'{s}_peak']:,.0f}" for s in ("prepare", "train", "encode")),
    ]


def project(found):
    """What a billion rows take, each stage by itself."""
    rows = found["rows"]
    hours = {
        "prepare": BILLION * found["prepare"] / rows,
        "an epoch": BILLION / BATCH * found["step"] / 1000,
        "encode": BILLION * found["encode"] / rows,
    }
    print_table(
        ["a billion rows", "hours of a core", "hours of 64 cores"],
        [
            [name, f"{s / 3600:,.0f}", f"{s / 3600 / 64:,.1f}"]
            for name, s in hours.items()
        ],
    )
    for what in ("bytes", "written"):
        size = BILLION * found[what] / rows / 1e9
        print(f"\n{'Ids' if what == 'bytes' else 'Encoded'}: {size:,.0f} GB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", choices=("rows", *CHANGES), action="append")
    options = parser.parse_args()
    os.environ.update(ONE_CORE)
    points = [("rows", options.rows, {"rows": options.rows, **START})]
    changes = {"rows": (options.rows // 4, options.rows * 4), **CHANGES}
    for name in options.only or changes:
        for value in changes[name]:
            point = {"rows": options.rows, **START, name: value}
            points.append((name, value, point))
    table, first = [], None
    for name, value, point in points:
        with tempfile.TemporaryDirectory() as folder:
            found = in_a_process(functools.partial(measure, folder, **point))
        first = first or found
        table.append(row(name, value, found))
        print(*table[-1], flush=True)
    print_table(
        [
            "changed",
            "to",
            "prepare, s a million",
            "bytes a row",
            "ms a step",
            "encoded rows/s",
            "bytes written a row",
            "peak MiB: prepare",
            "train",
            "encode",
        ],
        table,
    )
    project(first)


if __name__ == "__main__":
    main()

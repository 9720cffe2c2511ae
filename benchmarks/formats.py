"""What fewer bits and other formats cost: size, speed and accuracy.

    python -m benchmarks.formats

trains small models on generated reviews and pairs, writes each in every
format that is installed, and asks all of them the same dev texts, in batches
and one by one, each format in turn. It is timed twice: from raw text on, and
from ids on, for which TensorFlow's row is the model as one graph. A format that
fails is a row that says why.

    python -m benchmarks.formats --model runs/reviews --data reviews_dev.csv

does it for a model that is trained, and dev texts of one's own.
"""

import argparse
import importlib.metadata
import itertools
import pathlib
import tempfile
import time

import numpy as np

from benchmarks.tables import print_table
from benchmarks.written_formats import FORMATS
from benchmarks.written_formats import SAVED_MODEL
from benchmarks.written_formats import numpy_ids
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.formats import open_corpus
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

SIZES = {
    "embedding_dim": 64,
    "attention_dim": 32,
    "num_heads": 4,
    "hidden_units": 64,
}
MODELS = {
    "BiLSTM, structured self-attention": (
        "lin2017_yelp",
        {**SIZES, "units": 32, "attention_penalty": 0.1},
    ),
    "convolution, structured self-attention": (
        "lin2017_yelp",
        {**SIZES, "encoder": "cnn", "units": 64, "attention_penalty": 0.1},
    ),
    "BiLSTM, generalized pooling": (
        "chen2018_yelp",
        {**SIZES, "units": [32], "hidden_units": [64, 64]},
    ),
    "decomposable attention": (
        "parikh2016_snli",
        {"embedding_dim": 64, "projection_dim": 64},
    ),
}
BATCH = 32
# By the number of texts how many times they are asked.
TURNS = {BATCH: 40, 1: 200}
WARM_UP = 20


def train(preset, overrides, records, dev, epochs):
    with tempfile.TemporaryDirectory() as folder:
        return training.train(
            preset,
            records,
            dev,
            pathlib.Path(folder) / "run",
            model_overrides=overrides,
            training_overrides={
                "optimizer": "adam",
                "learning_rate": 2e-3,
                "epochs": epochs,
            },
            verbose=0,
        )


def loaded(write, model, folder):
    """What answers texts and ids, or why nothing does, and the format's size.

    What answers ids is `None` where there is nothing.
    """
    folder.mkdir()
    try:
        answers = write(model, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}", 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    return answers, sum(path.stat().st_size for path in files)


def milliseconds(answers, batches):
    """By format the median for one of the batches, each asked in turn."""
    seconds = {name: [] for name in answers}
    # From some call on, all formats read texts with a graph.
    for turn in range(-WARM_UP, len(batches)):
        for name, answer in answers.items():
            begin = time.perf_counter()
            answer(batches[turn])
            if turn >= 0:
                seconds[name].append(time.perf_counter() - begin)
    return {name: 1000 * float(np.median(s)) for name, s in seconds.items()}


def times(model, made, texts):
    """The columns of times: by title those of the formats that have one."""
    columns = {}
    for place, what in enumerate(("texts", "ids")):
        answers = {name: pair[place] for name, pair in made.items()}
        answers = {name: each for name, each in answers.items() if each}
        for size, turns in TURNS.items():
            starts = [
                turn * size % max(1, len(texts) - size) for turn in range(turns)
            ]
            batches = [texts[start : start + size] for start in starts]
            if place:
                batches = [numpy_ids(model, batch) for batch in batches]
            took = milliseconds(answers, batches)
            columns[f"ms, {what}, {size} at a time"] = {
                name: f"{ms:.2f} ({ms / took[SAVED_MODEL]:.2f})"
                for name, ms in took.items()
            }
    return columns


def compare_formats(label, model, dev):
    """Prints the table of a model on dev texts, pairs of a text and a label."""
    texts, gold = zip(*dev, strict=True)
    batches = evaluation.predict(model, texts, BATCH)
    expected = np.concatenate([probabilities for _, probabilities in batches])
    names, gold = np.array(model.labels), np.array(gold)
    right = names[expected.argmax(axis=-1)] == gold
    print(
        f"\n{label}: accuracy in Keras {100 * right.mean():.2f} % of "
        f"{len(dev):,} texts; in brackets, times as parts of "
        f"{SAVED_MODEL}'s"
    )
    with tempfile.TemporaryDirectory() as folder:
        written = {
            name: loaded(write, model, pathlib.Path(folder) / str(number))
            for number, (name, (_, write)) in enumerate(FORMATS.items())
        }
        made = {
            name: answers
            for name, (answers, _) in written.items()
            if not isinstance(answers, str)
        }
        columns = times(model, made, texts)
        rows = []
        for name, (package, _) in FORMATS.items():
            answers, size = written[name]
            if name not in made:
                rows.append([name, package, " ".join(answers.split())[:300]])
                rows[-1] += [""] * (3 + len(columns))
                continue
            answers = np.concatenate(
                [
                    answers[0](texts[start : start + BATCH])
                    for start in range(0, len(texts), BATCH)
                ]
            )
            found = answers.argmax(axis=-1)
            rows.append(
                [
                    name,
                    f"{package} {importlib.metadata.version(package)}",
                    f"{size / 1e6:.2f}",
                    f"{100 * np.mean(names[found] == gold):.2f}",
                    f"{100 * np.mean(found == expected.argmax(axis=-1)):.2f}",
                    f"{np.abs(answers - expected).max():.1g}",
                    *[each.get(name, "") for each in columns.values()],
                ]
            )
    print_table(
        [
            "format",
            "runs in",
            "MB",
            "accuracy %",
            "same answers %",
            "largest difference",
            *columns,
        ],
        rows,
    )


def generated(options):
    """Labels of models, models trained on generated texts, and dev texts."""
    count = options.train_rows + options.dev_rows
    reviews = [(r.text, r.label) for r in generate_reviews(count)]
    pairs = [
        ((p.premise, p.hypothesis), p.label) for p in generate_pairs(count)
    ]
    for number, (label, (preset, overrides)) in enumerate(MODELS.items()):
        if options.only not in (None, number):
            continue
        records = pairs if "parikh" in preset else reviews
        dev = records[options.train_rows :]
        model = train(
            preset,
            overrides,
            records[: options.train_rows],
            dev,
            options.epochs,
        )
        yield label, model, dev


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-rows", type=int, default=8000)
    parser.add_argument("--dev-rows", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--only", type=int, help="the number of one model, from 0"
    )
    parser.add_argument("--model", help="folder of a run or of a model")
    parser.add_argument("--data", help="labeled dev texts for --model")
    options = parser.parse_args()
    if (options.model is None) != (options.data is None):
        parser.error("expected both --model and --data, or none of them")
    if options.model:
        corpus = open_corpus(options.data)
        dev = list(itertools.islice(corpus, options.dev_rows))
        compare_formats(options.model, models.from_preset(options.model), dev)
        return
    for label, model, dev in generated(options):
        compare_formats(label, model, dev)


if __name__ == "__main__":
    main()

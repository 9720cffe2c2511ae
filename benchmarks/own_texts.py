"""What `train` does with no preset, beside the presets and a linear model.

    python -m benchmarks.own_texts trec --rows 500

reads the folder that KERAS_SELFATTN_DATA names, takes the first rows of the
training texts, without pretrained word vectors, and prints dev accuracies. The
best epoch is chosen on the dev set, as is the linear model's `C`.
"""

import argparse
import itertools
import os
import pathlib
import tempfile
import time

from benchmarks.real_text import linear_svm
from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import training
from keras_selfattn import zoo
from keras_selfattn.data.corpus import Corpus

TASKS = "tasks/{}_{{}}.jsonl.gz"
CORPORA = {
    **{name: (TASKS.format(name), "label") for name in ("mr", "trec", "subj")},
    "yelp": ("yelp/yelp_review_{}.jsonl.gz", "stars"),
    "age": ("age/blog_age_{}.jsonl.gz", "age_group"),
    "snli": ("snli/snli_1.0_{}.jsonl.gz", "gold_label"),
}
SPLITS = {"snli": {"train": "train_part"}}
DEV_ROWS = 1000
# One of each kind of model.
PRESETS = {
    1: (
        "lin2017_yelp",
        "lin2017_yelp_pruned",
        "lin2017_bilstm_max_yelp",
        "lin2017_cnn_max_yelp",
        "chen2018_yelp",
    ),
    2: ("parikh2016_snli", "lin2017_snli", "chen2018_snli"),
}
OWN = {1: "own_texts", 2: "own_pairs"}


def read(name, split, rows):
    """The first rows of a part of a corpus."""
    data = pathlib.Path(os.environ["KERAS_SELFATTN_DATA"])
    pattern, label = CORPORA[name]
    split = SPLITS.get(name, {}).get(split, split)
    columns = {"label": label}
    if name == "snli":
        columns.update(text="sentence1", text_pair="sentence2")
    corpus = Corpus(data / pattern.format(split), **columns)
    # Pairs that annotators disagreed on have "-".
    labeled = (row for row in corpus if row[1] != "-")
    return list(itertools.islice(labeled, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument(
        "--model",
        action="append",
        choices=[
            name for kind in (1, 2) for name in (OWN[kind], *PRESETS[kind])
        ],
        help="only these",
    )
    options = parser.parse_args()
    train = read(options.corpus, "train", options.rows)
    dev = read(options.corpus, "dev", DEV_ROWS)
    sides = 1 if isinstance(train[0][0], str) else 2
    rows = []
    if sides == 1:
        rows.append(["linear SVM", f"{linear_svm(train, dev):.1%}", "", ""])
    for name in options.model or (OWN[sides], *PRESETS[sides]):
        recipe = zoo.Recipe(name)
        if name == OWN[sides]:
            recipe = zoo.get_recipe(name)
        accuracies, start = [], time.perf_counter()
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                model = training.train(
                    recipe.preset,
                    train,
                    dev,
                    pathlib.Path(folder) / "run",
                    seed=seed,
                    model_overrides=recipe.model,
                    training_overrides=recipe.training,
                    verbose=0,
                )
            accuracies.append(model.training_record["dev_accuracy"])
        minutes = (time.perf_counter() - start) / 60 / options.seeds
        accuracy = mean_and_spread(accuracies)
        print(f"{name}: {accuracy}, {minutes:.1f} minutes", flush=True)
        weights = f"{model.count_params():,}"
        rows.append([name, accuracy, weights, f"{minutes:.1f}"])
    print_table(["model", "dev accuracy %", "weights", "minutes"], rows)


if __name__ == "__main__":
    main()

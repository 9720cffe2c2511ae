"""Structured self-attention on the generated reviews, over several seeds.

    python -m benchmarks.generated

trains the model of `lin2017_yelp`, made small, with and without its penalty,
max pooling in its place, and a bag of words, on the same generated reviews,
and prints a table: dev accuracy, how much of the attention falls on the words
that decide the label, and how much the heads overlap.
"""

import argparse
import pathlib
import tempfile

import numpy as np

from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import evaluation
from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.data.generated import generate_reviews

MODEL = {
    "embedding_dim": 64,
    "units": 64,
    "hidden_units": 256,
}
HEADS = {"attention_dim": 64, "num_heads": 8}
ROWS = {
    "penalty 0.1": ("lin2017_yelp", {**HEADS, "attention_penalty": 0.1}),
    "penalty 0.01": ("lin2017_yelp", {**HEADS, "attention_penalty": 0.01}),
    "no penalty": ("lin2017_yelp", {**HEADS, "attention_penalty": 0.0}),
    "max pooling": ("lin2017_bilstm_max_yelp", {}),
}


def attention_on_deciding_words(model, reviews):
    """Mass of the attention on the words that decide, and what overlaps.

    Returns:
        The mean over the reviews of the overall attention on the deciding
        words, of the heads' mean best share of it, of what evenly spread
        attention would give, and of the heads' overlap.
    """
    overall, best, even, overlap = [], [], [], []
    explanations = visualization.explain(model, [r.text for r in reviews])
    for explanation, review in zip(explanations, reviews, strict=True):
        deciding = list(review.deciding)
        by_head = explanation.scores[:, deciding].sum(axis=1)
        overall.append(explanation.overall[deciding].sum())
        best.append(by_head.max())
        even.append(len(deciding) / len(explanation.tokens))
        overlap.append(explanation.overlap)
    return tuple(map(np.mean, (overall, best, even, overlap)))


def bag_of_words(train, dev):
    """Dev accuracy of logistic regression on tf-idf of 1- and 2-grams."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=2000)
    )
    model.fit([r.text for r in train], [r.label for r in train])
    return model.score([r.text for r in dev], [r.label for r in dev])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-rows", type=int, default=8000)
    parser.add_argument("--dev-rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    results = {name: [] for name in ROWS}
    words = []
    for seed in range(options.seeds):
        reviews = list(
            generate_reviews(options.train_rows + options.dev_rows, seed=seed)
        )
        train = reviews[: options.train_rows]
        dev = reviews[options.train_rows :]
        words.append(bag_of_words(train, dev))
        for name, (preset, changes) in ROWS.items():
            with tempfile.TemporaryDirectory() as folder:
                model = training.train(
                    preset,
                    [(r.text, r.label) for r in train],
                    [(r.text, r.label) for r in dev],
                    pathlib.Path(folder) / "run",
                    seed=seed,
                    model_overrides={**MODEL, **changes},
                    training_overrides={
                        "optimizer": "adam",
                        "learning_rate": 2e-3,
                        "epochs": options.epochs,
                    },
                    verbose=0,
                )
            accuracy = evaluation.evaluate(
                model, [(r.text, r.label) for r in dev]
            ).accuracy
            attention = attention_on_deciding_words(model, dev[:1000])
            results[name].append((accuracy, *attention))
            print(f"seed {seed}, {name}: {accuracy:.2%}", flush=True)
    for name, figures in results.items():
        columns = zip(*figures, strict=True)
        rows.append([name, *(mean_and_spread(c) for c in columns)])
    rows.append(["bag of words", mean_and_spread(words), "", "", "", ""])
    print_table(
        [
            "model",
            "dev accuracy %",
            "attention on deciding words %",
            "of the best head %",
            "spread evenly %",
            "overlap of heads %",
        ],
        rows,
    )


if __name__ == "__main__":
    main()

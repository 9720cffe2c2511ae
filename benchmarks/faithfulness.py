"""What the penalty does to the heads, and how far to trust attention.

    python -m benchmarks.faithfulness

trains the model of `lin2017_yelp`, made small, with its penalty and without,
on generated reviews, over several seeds, and prints figure 3 of Lin et al. in
numbers: how much the heads overlap, how well attention finds the words that
decide, and what is lost without the words that it finds, beside random words,
the gradient, and leaving each word out.
"""

import argparse
import pathlib
import tempfile

import numpy as np

from benchmarks.generated import HEADS
from benchmarks.generated import MODEL
from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import faithfulness
from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews

PENALTIES = (0.0, 0.1)
SHARE = 0.2
METHODS = (*faithfulness.METHODS, "leave one out")


def trained(train, dev, penalty, seed, epochs):
    """The best classifier on dev of one training."""
    with tempfile.TemporaryDirectory() as folder:
        return training.train(
            "lin2017_yelp",
            [(r.text, r.label) for r in train],
            [(r.text, r.label) for r in dev],
            pathlib.Path(folder) / "run",
            seed=seed,
            model_overrides={**MODEL, **HEADS, "attention_penalty": penalty},
            training_overrides={
                "optimizer": "adam",
                "learning_rate": 2e-3,
                "epochs": epochs,
            },
            verbose=0,
        )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-rows", type=int, default=8000)
    parser.add_argument("--dev-rows", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    results = {penalty: [] for penalty in PENALTIES}
    for seed in range(options.seeds):
        rows = options.train_rows + options.dev_rows
        reviews = list(generate_reviews(rows, seed=seed))
        train, dev = (
            reviews[: options.train_rows],
            reviews[options.train_rows :],
        )
        for penalty in PENALTIES:
            model = trained(train, dev, penalty, seed, options.epochs)
            results[penalty].append(
                faithfulness.measure(
                    model, dev, [SHARE], seed=seed, methods=METHODS
                )
            )
            print(
                f"seed {seed}, penalty {penalty}: "
                f"{results[penalty][-1].accuracy:.2%}",
                flush=True,
            )
    print_heads(results)
    print_methods(results)


def print_heads(results):
    """Print accuracy and overlap of each penalty's models."""
    print_table(
        ["penalty", "dev accuracy %", "overlap of heads %", "effective heads"],
        [
            [
                penalty,
                mean_and_spread([one.accuracy for one in all_seeds]),
                mean_and_spread([one.head_overlap for one in all_seeds]),
                effective_heads(all_seeds),
            ]
            for penalty, all_seeds in results.items()
        ],
    )


def effective_heads(all_seeds):
    """The effective number of heads, mean and spread, and of how many."""
    values = [one.effective_heads for one in all_seeds]
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread} of {all_seeds[0].num_heads}"


def print_methods(results):
    """Print how well each method finds the words that count."""
    rows = []
    for penalty, all_seeds in results.items():
        for method in METHODS:
            found = [one.agreement[method] for one in all_seeds]
            lost = [one.losses[method, SHARE] for one in all_seeds]
            rows.append(
                [
                    penalty,
                    method,
                    mean_and_spread([one.first for one in found]),
                    mean_and_spread([one.precision for one in found]),
                    mean_and_spread([one.mass for one in found]),
                    mean_and_spread([one.comprehensiveness for one in lost]),
                    mean_and_spread([one.sufficiency for one in lost]),
                    mean_and_spread([one.accuracy_without for one in lost]),
                    mean_and_spread([one.accuracy_with_only for one in lost]),
                ]
            )
    print_table(
        [
            "penalty",
            "words by",
            "first word decides %",
            "precision at k %",
            "mass on deciding words %",
            "comprehensiveness %",
            "sufficiency %",
            "accuracy lost without %",
            "accuracy lost with only %",
        ],
        rows,
    )


if __name__ == "__main__":
    main()

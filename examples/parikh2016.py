"""Decomposable attention (Parikh et al. 2016) on generated pairs.

    python examples/parikh2016.py

trains a classifier of whether one sentence follows from another, by aligning
their words. It shows the alignments, writes `alignments.png` and `page.html`,
and tells how often a word looks at the one that decides with it.
"""

import argparse
import pathlib

import rich

from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.data.generated_pairs import generate_pairs

PAIR = ("A tall man is running.", "A short man is running.")
# The paper's model, made small enough for a laptop's processor.
MODEL = {
    "embedding_dim": 64,
    # No pretrained vectors: learnt ones.
    "trainable_embeddings": True,
    "projection_dim": 64,
    "attend_units": [64, 64],
    "compare_units": [64, 64],
    "aggregate_units": [64, 64],
    "dropout": 0.0,
}
TRAINING = {"batch_size": 32, "optimizer": "adam", "learning_rate": 0.001}


def share_of_words_aligned(model, pairs):
    """How often a deciding word looks most at the word it decides with."""
    texts = [(pair.premise, pair.hypothesis) for pair in pairs]
    right = total = 0
    for explanation, pair in zip(
        visualization.explain(model, texts), pairs, strict=True
    ):
        # The NULL token comes first in both sentences.
        looks_at = explanation.premise.scores[1:, 1:].argmax(axis=1)
        partners = {}
        for premise, hypothesis in pair.alignments:
            partners.setdefault(hypothesis, set()).add(premise)
        for word, expected in partners.items():
            right += looks_at[word] in expected
            total += 1
    return right / total


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("runs/parikh2016"),
        help="a new folder",
    )
    options = parser.parse_args(arguments)
    pairs = list(generate_pairs(options.rows))
    data = [((p.premise, p.hypothesis), p.label) for p in pairs]
    dev = options.rows // 10
    model = training.train(
        "parikh2016_snli",
        data[dev:],
        data[:dev],
        options.output,
        model_overrides=MODEL,
        training_overrides={**TRAINING, "epochs": options.epochs},
    )
    (explanation,) = visualization.explain(model, [PAIR])
    rich.print(explanation)
    picture = options.output / "alignments.png"
    explanation.figure().savefig(picture, dpi=150, bbox_inches="tight")
    texts, labels = zip(*data[: min(dev, 200)], strict=True)
    page = visualization.write_html(
        visualization.explain(model, texts, labels),
        options.output / "page.html",
    )
    share = share_of_words_aligned(model, pairs[:dev])
    print(
        f"{share:.0%} of the deciding words look at the word they decide with"
    )
    print(picture, page, sep="\n")


if __name__ == "__main__":
    main()

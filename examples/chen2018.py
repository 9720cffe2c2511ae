"""Generalized pooling (Chen et al. 2018) on generated pairs of sentences.

    python examples/chen2018.py

trains a classifier of whether one sentence follows from another, whose heads
weigh each feature of a word by itself, shows what they looked at, and writes
`features.png`, the picture of words × features, and `page.html`.
"""

import argparse
import pathlib

import rich

from keras_selfattn import evaluation
from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.data.generated_pairs import generate_pairs

PAIR = ("A man is not running in the park.", "A man is jogging in the park.")
# The paper's model, made small enough for a laptop's processor. The words of
# the generated sentences are few, so that their characters add nothing.
MODEL = {
    "embedding_dim": 64,
    "trainable_embeddings": True,
    "character_vocabulary_size": None,
    "units": 64,
    "attention_dim": 64,
    "num_heads": 3,
    "hidden_units": 128,
}
TRAINING = {"learning_rate": 2e-3, "batch_size": 32}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("runs/chen2018"),
        help="a new folder",
    )
    options = parser.parse_args(arguments)
    data = [
        ((pair.premise, pair.hypothesis), pair.label)
        for pair in generate_pairs(options.rows)
    ]
    dev = options.rows // 10
    model = training.train(
        "chen2018_snli",
        data[dev:],
        data[:dev],
        options.output,
        model_overrides=MODEL,
        training_overrides={**TRAINING, "epochs": options.epochs},
    )
    for label, figures in (
        evaluation.evaluate(model, data[:dev]).per_class().items()
    ):
        print(f"{label}: F1 {figures['f1']:.0%} of {figures['rows']} pairs")

    (explanation,) = visualization.explain(model, [PAIR])
    rich.print(explanation)
    picture = options.output / "features.png"
    explanation.feature_figure().savefig(picture, dpi=150, bbox_inches="tight")
    pairs, labels = zip(*data[: min(dev, 200)], strict=True)
    page = visualization.write_html(
        visualization.explain(model, pairs, labels),
        options.output / "page.html",
    )
    print(picture, page, sep="\n")


if __name__ == "__main__":
    main()

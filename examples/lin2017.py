"""Structured self-attention (Lin et al. 2017) on generated reviews.

    python examples/lin2017.py

trains a classifier of reviews, shows in the terminal which words each of its
heads looked at, and writes `heat_map.png` and `page.html`. It tells how far
to trust the attention, too: the generated reviews know which words decide.
"""

import argparse
import pathlib

import rich

from keras_selfattn import faithfulness
from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.data.generated import generate_reviews

TEXT = "The food was not bad at all, but the service was really awful."
# The paper's model, made small enough for a laptop's processor.
MODEL = {
    "embedding_dim": 64,
    "units": 64,
    "attention_dim": 64,
    "num_heads": 8,
    "attention_penalty": 0.01,
    "hidden_units": 256,
}
TRAINING = {"optimizer": "adam", "learning_rate": 2e-3}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("runs/lin2017"),
        help="a new folder",
    )
    options = parser.parse_args(arguments)
    reviews = list(generate_reviews(options.rows))
    data = [(review.text, review.label) for review in reviews]
    dev = options.rows // 10
    model = training.train(
        "lin2017_yelp",
        data[dev:],
        data[:dev],
        options.output,
        model_overrides=MODEL,
        training_overrides={**TRAINING, "epochs": options.epochs},
    )

    (explanation,) = visualization.explain(model, [TEXT])
    rich.print(explanation)
    picture = options.output / "heat_map.png"
    explanation.figure().savefig(picture, dpi=150, bbox_inches="tight")
    texts, labels = zip(*data[: min(dev, 200)], strict=True)
    page = visualization.write_html(
        visualization.explain(model, texts, labels),
        options.output / "page.html",
    )

    measured = faithfulness.measure(model, reviews[:dev], shares=[0.2])
    for method, found in measured.agreement.items():
        loss = measured.losses[method, 0.2]
        print(
            f"By {method}, {found.precision:.0%} of the most important "
            "words decide; without a fifth of the words "
            f"{loss.accuracy_without:.0%} of the accuracy are lost"
        )
    print(picture, page, sep="\n")


if __name__ == "__main__":
    main()

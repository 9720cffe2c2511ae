"""Trains a classifier on generated reviews and draws where it looked.

    python examples/heat_map.py

writes the picture of the README, `examples/heat_map.png`.
"""

import argparse
import pathlib
import tempfile

from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.demo import MODEL
from keras_selfattn.demo import TRAINING

TEXT = "The food was not bad at all, but the service was really awful."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path(__file__).with_suffix(".png"),
    )
    options = parser.parse_args()
    reviews = [(r.text, r.label) for r in generate_reviews(options.rows)]
    dev = len(reviews) // 8
    with tempfile.TemporaryDirectory() as folder:
        model = training.train(
            "lin2017_yelp",
            reviews[dev:],
            reviews[:dev],
            pathlib.Path(folder) / "run",
            model_overrides=MODEL,
            training_overrides=TRAINING,
        )
    (explanation,) = visualization.explain(model, [TEXT])
    explanation.figure().savefig(options.output, dpi=150, bbox_inches="tight")
    print(options.output)


if __name__ == "__main__":
    main()

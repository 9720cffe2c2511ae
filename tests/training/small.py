"""Runs that take a second, and what is compared of them."""

import numpy as np

from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

SMALL = {
    # A third quicker than a BiLSTM, which tests/golden trains.
    "encoder": "cnn",
    "embedding_dim": 8,
    "units": 6,
    "attention_dim": 5,
    "num_heads": 2,
    "attention_penalty": 0.01,
    "hidden_units": 8,
}
WITHOUT_WIDTH = {k: v for k, v in SMALL.items() if k != "embedding_dim"}
FIXED = {**WITHOUT_WIDTH, "trainable_embeddings": False}


def reviews(size, seed):
    return [(r.text, r.label) for r in generate_reviews(size, seed=seed)]


def train(folder, **changes):
    arguments = {
        "model_overrides": SMALL,
        "training_overrides": {"epochs": 3, "batch_size": 16},
        "verbose": 0,
        **changes,
    }
    return training.train(
        "lin2017_yelp", reviews(96, 1), reviews(40, 2), folder, **arguments
    )


def final_weights(folder):
    """All that changes in training, after the last epoch."""
    with np.load(folder / "checkpoint" / "variables.npz") as arrays:
        return [arrays[name] for name in arrays.files]


def assert_same_run(one, other):
    for first, second in zip(
        final_weights(one), final_weights(other), strict=True
    ):
        np.testing.assert_array_equal(first, second)
    history = training.HISTORY_FILE
    assert (one / history).read_text() == (other / history).read_text()


def write_vectors(path, words):
    lines = [f"{word} {i}.0 0.5 -1.0" for i, word in enumerate(words)]
    path.write_text("\n".join(lines) + "\n")


def train_pairs(folder, vectors=None, epochs=1, resume=False, **overrides):
    pairs = [
        ((p.premise, p.hypothesis), p.label) for p in generate_pairs(64, seed=0)
    ]
    return training.train(
        "parikh2016_snli",
        pairs[:48],
        pairs[48:],
        folder,
        vectors,
        model_overrides={
            "embedding_dim": 6,
            "projection_dim": 5,
            **overrides,
        },
        training_overrides={"epochs": epochs, "batch_size": 16},
        resume=resume,
        verbose=0,
    )

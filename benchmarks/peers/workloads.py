"""The work of all peers: models, their sizes, and fixed batches.

Sizes are those of the papers. Batches are random ids, right-padded with 0, in
which no word occurs twice more often than by chance.
"""

import dataclasses
import itertools

import numpy as np

CHARACTERS = 16


@dataclasses.dataclass(frozen=True)
class Work:
    """One piece of work.

    Attributes:
        model: Name of the class in `keras_selfattn.models`.
        arguments: Its arguments; the other peers read their sizes from them.
        batch_size: Rows of a batch.
        lengths: For each side `(shortest, mean, longest)` in words. The first
            row is as long as can be; with a mean of `None` the others are
            spread evenly, otherwise normally, by 0.3 of the mean.
        optimizer: `"adam"` or `"adagrad"`.
        learning_rate: Its rate.
        fit_steps: Batches of an epoch of `fit`; with 0 the same batch is
            trained on by compiled steps.
    """

    model: str
    arguments: dict
    batch_size: int
    lengths: tuple
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    fit_steps: int = 0

    @property
    def sides(self):
        return ("",) if len(self.lengths) == 1 else ("premise_", "hypothesis_")

    def changed(self, arguments=None, **changes):
        arguments = {**self.arguments, **(arguments or {})}
        return dataclasses.replace(self, arguments=arguments, **changes)


_SHARED = {"vocabulary_size": 20_000, "activation": None}
_PAIRS = {
    **_SHARED,
    "num_classes": 3,
    "embedding_dim": 300,
    "trainable_embeddings": False,
}
_PAIR_LENGTHS = ((3, 16, 24), (3, 9, 16))
_LIN = Work(
    "SentenceClassifier",
    {
        **_SHARED,
        "num_classes": 5,
        "embedding_dim": 100,
        "units": 300,
        "attention_dim": 350,
        "num_heads": 30,
        "attention_penalty": 1.0,
        "hidden_units": 3000,
        "dropout": 0.5,
        "l2": 0.0,
    },
    32,
    ((150, None, 150),),
)
_CHEN = Work(
    "SentencePairClassifier",
    {
        **_PAIRS,
        "character_vocabulary_size": 98,
        "interaction": "heuristic",
        "units": [600] * 3,
        "pooling": "generalized",
        "attention_dim": 600,
        "num_heads": 5,
        "parameter_penalty": 1e-2,
        "attention_penalty": 0.0,
        "hidden_units": [600, 600],
        "hidden_shortcut": True,
        "dropout": 0.5,
        "encoder_dropout": 0.5,
    },
    128,
    _PAIR_LENGTHS,
)
_PARIKH = Work(
    "DecomposableClassifier",
    {
        **_PAIRS,
        "projection_dim": 200,
        "attend_units": [200, 200],
        "compare_units": [200, 200],
        "aggregate_units": [200, 200],
        "intra_sentence": False,
        "dropout": 0.2,
    },
    32,
    _PAIR_LENGTHS,
    "adagrad",
    0.05,
)
WORKS = {
    "W1": _LIN,
    "W1v": _LIN.changed(lengths=((30, None, 150),)),
    "W2": Work(
        "SentencePairClassifier",
        {
            **_PAIRS,
            "interaction": "gated",
            "interaction_units": 600,
            "units": 300,
            "attention_dim": 150,
            "num_heads": 30,
            "attention_penalty": 0.3,
            "hidden_units": 4000,
            "dropout": 0.5,
        },
        50,
        _PAIR_LENGTHS,
    ),
    "W3": _CHEN,
    "W3s": _CHEN.changed({"units": [300] * 3, "attention_dim": 300}),
    "W4": _PARIKH,
    "W4i": _PARIKH.changed({"intra_sentence": True, "max_distance": 10}),
    "W4b4": _PARIKH.changed(batch_size=4, fit_steps=500),
    "table": _PARIKH.changed(
        {"vocabulary_size": 400_000, "trainable_embeddings": True}
    ),
}


def made_up_words(count):
    """Words of four letters, all different."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = itertools.product(letters, repeat=4)
    return ["".join(word) for word in itertools.islice(words, count)]


def make_rows(work, rows=None):
    """Features by the names of the model's inputs, and labels.

    Args:
        work: A `Work`.
        rows: How many, or `None` for a batch.
    """
    rows = rows or work.batch_size
    rng = np.random.default_rng(0)
    features = {}
    for side, (shortest, mean, longest) in zip(
        work.sides, work.lengths, strict=True
    ):
        if mean is None:
            lengths = rng.integers(shortest, longest + 1, rows)
        else:
            lengths = np.round(rng.normal(mean, 0.3 * mean, rows))
            lengths = np.clip(lengths, shortest, longest)
        lengths[0] = longest
        kept = np.arange(longest) < lengths[:, np.newaxis]
        words = work.arguments["vocabulary_size"]
        ids = rng.integers(1, words, kept.shape, "int32")
        features[f"{side}token_ids"] = ids * kept
        characters = work.arguments.get("character_vocabulary_size")
        if characters:
            shape = (*kept.shape, CHARACTERS)
            ids = rng.integers(1, characters, shape, "int32")
            long = np.arange(CHARACTERS) < rng.integers(2, 11, (*kept.shape, 1))
            features[f"{side}char_ids"] = ids * (long & kept[..., np.newaxis])
    labels = rng.integers(0, work.arguments["num_classes"], rows, "int32")
    return features, labels


def read_corpus(work, path):
    """The rows of a file of arrays, or generated ones.

    Args:
        work: A `Work`.
        path: Path of the file; with `None`, rows for its `fit_steps`.
    """
    if path is None:
        return make_rows(work, work.fit_steps * work.batch_size)
    with np.load(path) as arrays:
        features = dict(arrays)
    return features, features.pop("labels")


def multiply_adds(work, features, training):
    """Multiplications of the matrix products that a batch needs.

    Padding is not counted, nor are gradients in what is fixed, penalties and
    the convolutions over characters.
    """
    of = work.arguments
    masks = [features[f"{side}token_ids"] != 0 for side in work.sides]
    lengths = [mask.sum(axis=1) for mask in masks]
    tokens, rows = sum(map(np.sum, lengths)), len(masks[0])
    count = [0]

    def product(multiplications, gradients=2):
        count[0] += multiplications * (1 + gradients * training)

    def chain(repeats, widths, gradients=2):
        for width, units in zip(widths, widths[1:], strict=False):
            product(repeats * width * units, gradients)
            gradients = 2

    width = of["embedding_dim"]
    to_inputs = 2 if of.get("trainable_embeddings", True) else 1
    if work.model == "DecomposableClassifier":
        chain(tokens, [width, of["projection_dim"]], to_inputs)
        width = of["projection_dim"]
        if of["intra_sentence"]:
            chain(tokens, [width, *of["attend_units"]])
            within = sum(np.sum(n**2) for n in lengths)
            product(within * (of["attend_units"][-1] + width))
            width *= 2
        chain(tokens, [width, *of["attend_units"]])
        between = np.sum(lengths[0] * lengths[1])
        product(between * (of["attend_units"][-1] + 2 * width))
        chain(tokens, [2 * width, *of["compare_units"]])
        compared = 2 * of["compare_units"][-1]
        chain(rows, [compared, *of["aggregate_units"], of["num_classes"]])
        return count[0]

    if of.get("character_vocabulary_size"):
        width, to_inputs = width + 300, 2
    words, heads = width, of["num_heads"]
    for units in np.atleast_1d(of["units"]):
        product(tokens * width * 8 * units, to_inputs)
        product(tokens * units * 8 * units)
        width, to_inputs = words + 2 * units, 2
    states, hidden = 2 * units, of["attention_dim"]
    embedding = heads * states
    if of.get("pooling") == "generalized":
        chain(tokens * heads, [states, hidden, states])
        embedding *= 4
    else:
        chain(tokens, [states, hidden, heads, states])
    if of.get("interaction") == "gated":
        chain(2 * rows * heads, [states, of["interaction_units"]])
        embedding = heads * of["interaction_units"]
    below = embedding
    for units in np.atleast_1d(of["hidden_units"]):
        product(rows * below * units)
        below = units + (embedding if of.get("hidden_shortcut") else 0)
    product(rows * units * of["num_classes"])
    return count[0]

"""One row for each classifier, and for each option that changes its graph."""

import dataclasses
import functools

import keras
import numpy as np

from keras_selfattn import models
from tests.conformance.models import references

VOCABULARY = 13
CHARACTERS = 14
CLASSES = 3
BATCH = 4
STEPS = {"": 5, "premise_": 5, "hypothesis_": 7}
CHARACTERS_OF_A_WORD = 6


@dataclasses.dataclass(eq=False, repr=False)
class ModelRow:
    """A model under test.

    Attributes:
        model: The class.
        variant: What tells the row from others of the class.
        config: All constructor arguments that have an effect.
        reference: The function of `references.py` with the equations.
        repeats: Whether other rows have all parts of its graph, so that it is
            not traced, and left to one backend.
    """

    model: type
    variant: str
    config: dict
    reference: object
    repeats: bool = False

    def __repr__(self):
        return f"{self.model.__name__}-{self.variant}"

    @property
    def sides(self):
        if self.model is models.SentenceClassifier:
            return ("",)
        return ("premise_", "hypothesis_")

    @property
    def holes(self):
        """Whether padding amid words is as if it were not there."""
        return (
            self.config.get("encoder") != "cnn"
            and self.config.get("ngram_buckets") is None
        )

    @property
    def zero_gradients(self):
        """Ends of the names of weights whose true gradient is zero.

        A constant added to all steps changes no softmax over the steps.
        """
        return ("score_bias",)

    def create(self, **overrides):
        """The model with fresh weights."""
        return self.model(**{**self.config, **overrides})

    def make(self, **overrides):
        """The model with weights drawn from a fixed seed."""
        model = self.create(**overrides)
        rng = np.random.default_rng(1)
        for weight in model.weights:
            shape = tuple(weight.shape)
            scale = 0.7
            if len(shape) > 1 and "embeddings" not in weight.path:
                # Large enough to tell texts apart, and nothing saturates.
                scale = 2.0 if "lstm" in weight.path else 1.4
                scale /= np.prod(shape[-2:-1]) ** 0.5
            if weight.path.startswith("character_cnn"):
                # There are 300 of its features.
                scale /= 4
            weight.assign(rng.normal(0, scale, shape))
        return model

    def batch(self, seed=2, batch=BATCH, steps=None):
        """Ids for each input.

        Rows: all words, some padding on all sides and amid them, one word,
        and none. Of a pair, one sentence has none where the other has one.
        """
        rng = np.random.default_rng(seed)
        arrays = {}
        for number, side in enumerate(self.sides):
            n = (steps or STEPS)[side]
            mask = np.zeros((batch, n), bool)
            mask[0] = True
            mask[1, [1, 3]] = True
            mask[2 + number, 2] = True
            mask[4:] = rng.random((batch - 4, n)) < 0.7
            ids = rng.integers(1, VOCABULARY, (batch, n))
            arrays[f"{side}token_ids"] = (ids * mask).astype("int32")
            if self.config["character_vocabulary_size"] is not None:
                ids = rng.integers(
                    1, CHARACTERS, (batch, n, CHARACTERS_OF_A_WORD)
                )
                lengths = rng.integers(
                    1, CHARACTERS_OF_A_WORD + 1, (batch, n, 1)
                )
                kept = np.arange(CHARACTERS_OF_A_WORD) < lengths
                arrays[f"{side}char_ids"] = (
                    ids * kept * mask[:, :, None]
                ).astype("int32")
        return arrays

    def labels(self, batch=BATCH):
        return np.arange(batch) % CLASSES

    def solve(self, weights, batch, drop=references.nothing):
        """The reference's answer, for weights by the name of their layer."""
        return self.reference(self.config, weights, batch, drop)

    def whole_loss(self, weights, batch, drop=references.nothing):
        """The reference's cross-entropy and penalties."""
        answer = self.solve(weights, batch, drop)
        labels = self.labels(len(answer.outputs))
        return answer.penalty + references.cross_entropy(
            self.config, answer.outputs, labels
        )


def arrays_of(model):
    """The weights of a model in float64, by their path."""
    return {
        weight.path: keras.ops.convert_to_numpy(weight).astype("float64")
        for weight in model.weights
    }


def by_layer(arrays):
    """Lists of the same arrays, by the name of their layer."""
    weights = {}
    for path, array in arrays.items():
        weights.setdefault(path.split("/")[0], []).append(array)
    return weights


def weights_of(model):
    """The weights of a model in float64, by the name of their layer."""
    return by_layer(arrays_of(model))


@functools.cache
def built(row):
    """A model of a row, for checks that leave it as it is."""
    return row.make()


SIZES = {
    "vocabulary_size": VOCABULARY,
    "num_classes": CLASSES,
    "embedding_dim": 8,
}
FIXED = {
    "trainable_embeddings": False,
    # In `keras.initializers.serialize`'s form, as presets have it.
    "embeddings_initializer": {
        "class_name": "RandomNormal",
        "config": {"mean": 0.0, "stddev": 2.0},
    },
}
TUNED = {"trainable_embeddings": True, "embeddings_initializer": "uniform"}
NO_NGRAMS = {
    "ngram_buckets": None,
    "ambiguity_penalty": 0.0,
    "character_cnn": True,
}
NGRAMS = {"ngram_buckets": 17}
NGRAMS_OF_CHARACTERS = {
    "ngram_buckets": 17,
    "ambiguity_penalty": 0.7,
    "character_cnn": False,
}
WORDS = {"character_vocabulary_size": None}
WORDS_AND_CHARACTERS = {"character_vocabulary_size": CHARACTERS}

BILSTM = {"encoder": "bilstm", "units": 5, "lstm_implementation": "auto"}
STACKED = {"encoder": "bilstm", "units": [6, 5], "lstm_implementation": "keras"}
CNN = {"encoder": "cnn", "units": 10, "kernel_size": 3}
EVEN_CNN = {"encoder": "cnn", "units": 10, "kernel_size": 2}

STRUCTURED = {
    "pooling": "structured",
    "attention_dim": 9,
    "num_heads": 2,
    "attention_penalty": 0.3,
}
GENERALIZED = {
    "pooling": "generalized",
    "attention_dim": 9,
    "num_heads": 2,
    "parameter_penalty": 0.01,
    "attention_penalty": 0.02,
    "embedding_penalty": 0.03,
    # More than all distances: each penalty counts.
    "margin": 200.0,
}
UNPENALIZED = {
    "pooling": "generalized",
    "attention_dim": 9,
    "num_heads": 2,
    "parameter_penalty": 0.0,
    "attention_penalty": 0.0,
    "embedding_penalty": 0.0,
}

ONE_HIDDEN = {
    "hidden_units": 11,
    "hidden_shortcut": False,
    "row_units": None,
    "column_units": None,
}
TWO_HIDDEN = {**ONE_HIDDEN, "hidden_units": [11, 12]}
SHORTCUT = {**TWO_HIDDEN, "hidden_shortcut": True}
PRUNED = {"row_units": 4, "column_units": 6}
PRUNED_ROWS = {"row_units": 4, "column_units": None}
PRUNED_COLUMNS = {"row_units": None, "column_units": 6}

REGULARIZED = {"dropout": 0.4, "encoder_dropout": 0.2, "l2": 0.05}
PLAIN = {"dropout": 0.0, "encoder_dropout": 0.0, "l2": 0.0}

PROBABILITIES = {"activation": "softmax"}
LOGITS = {"activation": None}

GATED = {"interaction": "gated", "interaction_units": 15}
HEURISTIC = {"interaction": "heuristic"}

DECOMPOSABLE = {
    "exact_match": False,
    "projection_dim": 5,
    "attend_units": [6, 4],
    "compare_units": [9, 10],
    "aggregate_units": [11, 12],
    "intra_sentence": False,
    "dropout": 0.2,
    "initializer_stddev": None,
}
INTRA = {
    **DECOMPOSABLE,
    "intra_sentence": True,
    "max_distance": 2,
    "initializer_stddev": 0.02,
}
SHALLOW = {
    **DECOMPOSABLE,
    "attend_units": [6],
    "compare_units": [9],
    "aggregate_units": [11],
    "dropout": 0.0,
}


REPEATS = {
    "SentenceClassifier": (
        "structured-stacked-characters",
        "structured-pruned",
        "generalized-pruned-columns",
        "mean",
        "max-ngrams",
    ),
    "SentencePairClassifier": (
        "gated-structured",
        "gated-structured-plain",
        "gated-last-pruned-rows",
        "heuristic-generalized-stacked-characters",
        "heuristic-structured-pruned-columns",
    ),
    "DecomposableClassifier": (),
}


def _rows(model, reference, variants, own=()):
    return [
        ModelRow(
            model,
            variant,
            functools.reduce(dict.__or__, parts, SIZES | dict(own)),
            reference,
            variant in REPEATS[model.__name__],
        )
        for variant, parts in variants.items()
    ]


ROWS = [
    *_rows(
        models.SentenceClassifier,
        references.sentence_classifier,
        {
            "structured": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                ONE_HIDDEN | REGULARIZED | PROBABILITIES,
            ),
            "structured-stacked-characters": (
                FIXED | WORDS_AND_CHARACTERS | STACKED | STRUCTURED,
                SHORTCUT | PLAIN | LOGITS,
            ),
            "structured-pruned": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                PRUNED | REGULARIZED | PROBABILITIES,
            ),
            "structured-cnn-pruned-rows": (
                TUNED | WORDS | CNN | STRUCTURED | {"attention_penalty": 0.0},
                PRUNED_ROWS | REGULARIZED | PROBABILITIES,
            ),
            "generalized": (
                TUNED | WORDS | BILSTM | GENERALIZED,
                TWO_HIDDEN | REGULARIZED | PROBABILITIES,
            ),
            "generalized-pruned-columns": (
                TUNED | WORDS | BILSTM | UNPENALIZED,
                PRUNED_COLUMNS | PLAIN | PROBABILITIES,
            ),
            "max-cnn": (
                TUNED | WORDS | EVEN_CNN | {"pooling": "max"},
                ONE_HIDDEN | REGULARIZED | PROBABILITIES,
            ),
            "mean": (
                FIXED | WORDS | BILSTM | {"pooling": "mean"},
                SHORTCUT | REGULARIZED | PROBABILITIES,
            ),
            "last-stacked": (
                TUNED | WORDS | STACKED | {"pooling": "last"},
                ONE_HIDDEN | REGULARIZED | LOGITS,
            ),
            "structured-ngrams": (
                TUNED | WORDS_AND_CHARACTERS | BILSTM | STRUCTURED,
                NGRAMS_OF_CHARACTERS | ONE_HIDDEN | REGULARIZED | PROBABILITIES,
            ),
            "max-ngrams": (
                TUNED | WORDS | CNN | {"pooling": "max"},
                NGRAMS | ONE_HIDDEN | PLAIN | LOGITS,
            ),
        },
        NO_NGRAMS,
    ),
    *_rows(
        models.SentencePairClassifier,
        references.sentence_pair_classifier,
        {
            "gated-structured": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                GATED | ONE_HIDDEN | REGULARIZED | PROBABILITIES,
            ),
            "gated-structured-pruned": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                GATED | PRUNED | REGULARIZED | PROBABILITIES,
            ),
            "gated-generalized-cnn": (
                TUNED
                | WORDS
                | CNN
                | GENERALIZED
                | {"parameter_penalty": 0.0, "embedding_penalty": 0.0},
                GATED | TWO_HIDDEN | PLAIN | LOGITS,
            ),
            "heuristic-generalized-stacked-characters": (
                FIXED | WORDS_AND_CHARACTERS | STACKED | GENERALIZED,
                HEURISTIC | SHORTCUT | REGULARIZED | PROBABILITIES,
            ),
            "heuristic-structured-pruned-columns": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                HEURISTIC | PRUNED_COLUMNS | PLAIN | PROBABILITIES,
            ),
            "heuristic-max": (
                TUNED | WORDS | BILSTM | {"pooling": "max"},
                HEURISTIC | ONE_HIDDEN | REGULARIZED | LOGITS,
            ),
            "heuristic-mean-cnn": (
                TUNED | WORDS | EVEN_CNN | {"pooling": "mean"},
                HEURISTIC | SHORTCUT | REGULARIZED | PROBABILITIES,
            ),
            "gated-last-pruned-rows": (
                TUNED | WORDS | BILSTM | {"pooling": "last"},
                GATED | PRUNED_ROWS | PLAIN | PROBABILITIES,
            ),
            "gated-structured-plain": (
                TUNED | WORDS | BILSTM | STRUCTURED,
                {"attention_penalty": 0.0},
                GATED | ONE_HIDDEN | PLAIN | PROBABILITIES,
            ),
        },
    ),
    *_rows(
        models.DecomposableClassifier,
        references.decomposable_classifier,
        {
            "vanilla": (FIXED | WORDS | DECOMPOSABLE | PROBABILITIES,),
            "intra-sentence": (TUNED | WORDS | INTRA | LOGITS,),
            "characters-exact-match": (
                TUNED | WORDS_AND_CHARACTERS | SHALLOW | PROBABILITIES,
                {"exact_match": True},
            ),
            "ngrams": (
                FIXED | WORDS | DECOMPOSABLE | LOGITS,
                {"exact_match": True, **NGRAMS},
            ),
            "ngrams-intra-sentence": (
                TUNED | WORDS | INTRA | PROBABILITIES,
                {**NGRAMS, "ambiguity_penalty": 0.7},
            ),
        },
        {"ngram_buckets": None, "ambiguity_penalty": 0.0},
    ),
]

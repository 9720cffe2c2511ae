"""The rows of the papers' tables, as plain data."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Preset:
    """One row of a paper's table.

    Attributes:
        paper: The paper.
        table: The table and row that it reproduces.
        class_name: The class of `keras_selfattn.models`.
        model: The arguments of that class, but for the two sizes that the
            data decide.
        training: The optimizer (`optimizer`, `learning_rate` and further
            arguments of its), `batch_size`, `epochs`, and what the text is
            made into (`lowercase`, `min_count`, `prepend_null`,
            `num_oov_indices`).
        published: Published accuracies in percent, by the name of the test
            set.
    """

    paper: str
    table: str
    class_name: str
    model: dict
    training: dict
    published: dict

    @property
    def num_classes(self):
        """The number of classes of the paper's corpus."""
        return 5 if self.class_name == "SentenceClassifier" else 3


LIN = "Lin et al. 2017"
CHEN = "Chen et al. 2018"
PARIKH = "Parikh et al. 2016"

# Of words without a pretrained vector.
_GAUSSIAN = {
    "class_name": "RandomNormal",
    "config": {"mean": 0.0, "stddev": 1.0},
}


def _lin_sentence(corpus, table, published, **changes):
    model = {
        "embedding_dim": 100,
        "units": 300,
        "pooling": "structured",
        "attention_dim": 350,
        "num_heads": 30,
        "attention_penalty": 1.0,
        "hidden_units": {"age": 2000, "yelp": 3000}[corpus],
        "dropout": 0.5,
        "l2": 1e-4,
    }
    training = {
        "optimizer": "sgd",
        "learning_rate": 0.06,
        "global_clipnorm": 0.5,
        "batch_size": {"age": 16, "yelp": 32}[corpus],
        "epochs": 10,
        "lowercase": True,
    }
    return Preset(
        LIN,
        table,
        "SentenceClassifier",
        {**model, **changes},
        training,
        {corpus: published},
    )


def _lin_baselines(corpus, bilstm, cnn):
    shared = {"pooling": "max", "attention_penalty": 0.0, "hidden_units": 3000}
    return {
        f"lin2017_bilstm_max_{corpus}": _lin_sentence(
            corpus, "Table 1, BiLSTM + Max Pooling + MLP", bilstm, **shared
        ),
        f"lin2017_cnn_max_{corpus}": _lin_sentence(
            corpus,
            "Table 1, CNN + Max Pooling + MLP",
            cnn,
            **shared,
            encoder="cnn",
            units=600,
        ),
    }


def _lin_snli(table, published, **changes):
    model = {
        "embedding_dim": 300,
        "units": 300,
        "pooling": "structured",
        "attention_dim": 150,
        "num_heads": 30,
        "attention_penalty": 0.3,
        "interaction": "gated",
        "interaction_units": 600,
        "hidden_units": 4000,
        "dropout": 0.0,
        "l2": 0.0,
    }
    training = {
        "optimizer": "adagrad",
        "learning_rate": 0.01,
        "batch_size": 50,
        "epochs": 4,
        "lowercase": True,
    }
    return Preset(
        LIN,
        table,
        "SentencePairClassifier",
        {**model, **changes},
        training,
        {"snli": published},
    )


def _chen(corpus, figures):
    """A row of generalized pooling and its three baselines.

    `figures` holds the published accuracies of generalized, max, mean and
    last pooling.
    """
    pairs = corpus in ("snli", "multinli")
    width = 600 if corpus == "snli" else 300
    model = {
        "embedding_dim": 300,
        "embeddings_initializer": _GAUSSIAN,
        "trainable_embeddings": not pairs,
        "character_vocabulary_size": 100,
        "units": [width] * 3 if pairs else [width],
        "pooling": "generalized",
        "attention_dim": width,
        "num_heads": 5,
        "parameter_penalty": 0.0,
        "attention_penalty": 0.0,
        "embedding_penalty": 0.0,
        "margin": 1.0,
        "hidden_units": [width, width],
        "hidden_shortcut": True,
        "dropout": 0.0,
        "l2": 0.0,
    }
    if pairs:
        model["interaction"] = "heuristic"
    training = {
        "optimizer": "adam",
        "learning_rate": {"age": 2e-3, "yelp": 1e-3}.get(corpus, 4e-4),
        "global_clipnorm": 10.0 if pairs else 0.5,
        "batch_size": 128 if corpus == "snli" else 32,
        "epochs": 10,
        "lowercase": False,
    }
    if pairs:
        # Each word without a vector has a Gaussian one of its own.
        training["min_count"] = 1
    table = {"snli": "Table 1", "multinli": "Table 2"}.get(corpus, "Table 3")
    presets = {}
    for pooling, published in zip(
        ("generalized", "max", "mean", "last"), figures, strict=True
    ):
        generalized = pooling == "generalized"
        name = f"chen2018_{corpus}" + ("" if generalized else f"_{pooling}")
        # Of Table 4 the best on the corpus, which Table 3 repeats.
        penalty = "attention" if corpus == "age" else "parameter"
        changes = {f"{penalty}_penalty": 1e-2} if generalized else {}
        presets[name] = Preset(
            CHEN,
            f"{table}, BiLSTM with {pooling} pooling",
            "SentencePairClassifier" if pairs else "SentenceClassifier",
            {**model, "pooling": pooling, **changes},
            training,
            published if isinstance(published, dict) else {corpus: published},
        )
    return presets


def _parikh(table, published, learning_rate, **changes):
    model = {
        "embedding_dim": 300,
        "embeddings_initializer": _GAUSSIAN,
        "trainable_embeddings": False,
        "projection_dim": 200,
        "attend_units": [200, 200],
        "compare_units": [200, 200],
        "aggregate_units": [200, 200],
        "intra_sentence": False,
        "max_distance": 10,
        "dropout": 0.2,
    }
    training = {
        "optimizer": "adagrad",
        "learning_rate": learning_rate,
        "initial_accumulator_value": 0.1,
        "batch_size": 4,
        "epochs": 50,
        "lowercase": True,
        "prepend_null": True,
        "min_count": None,
        "num_oov_indices": 100,
        "normalize_vectors": True,
    }
    return Preset(
        PARIKH,
        table,
        "DecomposableClassifier",
        {**model, **changes},
        training,
        {"snli": published},
    )


PRESETS = {
    "lin2017_age": _lin_sentence("age", "Table 1, our model", 80.45),
    "lin2017_yelp": _lin_sentence("yelp", "Table 1, our model", 64.21),
    "lin2017_snli": _lin_snli("Table 2, our model", 84.4),
    "lin2017_age_pruned": _lin_sentence(
        "age", "Table 4, pruned", 77.32, row_units=25, column_units=20
    ),
    "lin2017_yelp_pruned": _lin_sentence(
        "yelp", "Table 4, pruned", 63.86, row_units=150, column_units=10
    ),
    "lin2017_snli_pruned": _lin_snli(
        "Table 4, pruned", 83.16, row_units=300, column_units=10
    ),
    **_lin_baselines("age", 77.40, 78.15),
    **_lin_baselines("yelp", 61.99, 62.05),
    **_chen("snli", (86.6, 85.3, 85.0, 84.9)),
    **_chen(
        "multinli",
        tuple(
            {"matched": matched, "mismatched": mismatched}
            for matched, mismatched in (
                (73.8, 74.0),
                (73.6, 73.0),
                (71.5, 71.6),
                (71.6, 71.9),
            )
        ),
    ),
    **_chen("age", (82.63, 82.30, 81.78, 81.10)),
    **_chen("yelp", (66.55, 65.00, 65.30, 64.95)),
    "parikh2016_snli": _parikh("Table 1, vanilla", 86.3, 0.05),
    "parikh2016_snli_intra": _parikh(
        "Table 1, with intra-sentence attention",
        86.8,
        0.025,
        intra_sentence=True,
    ),
}

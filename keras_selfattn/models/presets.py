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
        training: The training values that aren't at their defaults; see
            `keras_selfattn.training.values`.
        published: Published accuracies in percent, by the name of the test
            set.
        parameters: Integer, how many weights the model has for `num_classes`
            classes, without those of the word vectors; `None` where nobody
            has counted.
    """

    paper: str
    table: str
    class_name: str
    model: dict
    training: dict
    published: dict
    parameters: int | None = None

    @property
    def num_classes(self):
        """The number of classes of the paper's corpus."""
        return 5 if self.class_name == "SentenceClassifier" else 3


LIN = "Lin et al. 2017"
CHEN = "Chen et al. 2018"
PARIKH = "Parikh et al. 2016"

_SENTENCES = "SentenceClassifier"
_PAIRS = "SentencePairClassifier"
_ALIGNMENT = "DecomposableClassifier"

# === Lin et al. 2017 ===

_LIN_STRUCTURED = {
    "embedding_dim": 100,
    "units": 300,
    "pooling": "structured",
    "attention_dim": 350,
    "num_heads": 30,
    "attention_penalty": 1.0,
    "hidden_units": 3000,
    "dropout": 0.5,
    "l2": 1e-4,
}
_LIN_AGE = {**_LIN_STRUCTURED, "hidden_units": 2000}
_LIN_BILSTM_MAX = {
    **_LIN_STRUCTURED,
    "pooling": "max",
    "attention_penalty": 0.0,
}
_LIN_CNN_MAX = {**_LIN_BILSTM_MAX, "encoder": "cnn", "units": 600}
_LIN_SNLI = {
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
_LIN_YELP_TRAINING = {
    "optimizer": "sgd",
    "learning_rate": 0.06,
    "global_clipnorm": 0.5,
    "batch_size": 32,
    "epochs": 10,
    "lowercase": True,
}
_LIN_AGE_TRAINING = {**_LIN_YELP_TRAINING, "batch_size": 16}
_LIN_SNLI_TRAINING = {
    "optimizer": "adagrad",
    "learning_rate": 0.01,
    "batch_size": 50,
    "epochs": 4,
    "lowercase": True,
}

_LIN_PRESETS = {
    "lin2017_age": Preset(
        LIN,
        "Table 1, our model",
        _SENTENCES,
        _LIN_AGE,
        _LIN_AGE_TRAINING,
        {"age": 80.45},
        37_194_905,
    ),
    "lin2017_yelp": Preset(
        LIN,
        "Table 1, our model",
        _SENTENCES,
        _LIN_STRUCTURED,
        _LIN_YELP_TRAINING,
        {"yelp": 64.21},
        55_200_905,
    ),
    "lin2017_snli": Preset(
        LIN,
        "Table 2, our model",
        _PAIRS,
        _LIN_SNLI,
        _LIN_SNLI_TRAINING,
        {"snli": 84.4},
        95_152_903,
    ),
    "lin2017_age_pruned": Preset(
        LIN,
        "Table 4, pruned",
        _SENTENCES,
        {**_LIN_AGE, "row_units": 25, "column_units": 20},
        _LIN_AGE_TRAINING,
        {"age": 77.32},
        2_069_405,
    ),
    "lin2017_yelp_pruned": Preset(
        LIN,
        "Table 4, pruned",
        _SENTENCES,
        {**_LIN_STRUCTURED, "row_units": 150, "column_units": 10},
        _LIN_YELP_TRAINING,
        {"yelp": 63.86},
        4_125_905,
    ),
    "lin2017_snli_pruned": Preset(
        LIN,
        "Table 4, pruned",
        _PAIRS,
        {**_LIN_SNLI, "row_units": 300, "column_units": 10},
        _LIN_SNLI_TRAINING,
        {"snli": 83.16},
        28_776_903,
    ),
    "lin2017_bilstm_max_age": Preset(
        LIN,
        "Table 1, BiLSTM + Max Pooling + MLP",
        _SENTENCES,
        _LIN_BILSTM_MAX,
        _LIN_AGE_TRAINING,
        {"age": 77.40},
        2_780_405,
    ),
    "lin2017_cnn_max_age": Preset(
        LIN,
        "Table 1, CNN + Max Pooling + MLP",
        _SENTENCES,
        _LIN_CNN_MAX,
        _LIN_AGE_TRAINING,
        {"age": 78.15},
        1_998_605,
    ),
    "lin2017_bilstm_max_yelp": Preset(
        LIN,
        "Table 1, BiLSTM + Max Pooling + MLP",
        _SENTENCES,
        _LIN_BILSTM_MAX,
        _LIN_YELP_TRAINING,
        {"yelp": 61.99},
        2_780_405,
    ),
    "lin2017_cnn_max_yelp": Preset(
        LIN,
        "Table 1, CNN + Max Pooling + MLP",
        _SENTENCES,
        _LIN_CNN_MAX,
        _LIN_YELP_TRAINING,
        {"yelp": 62.05},
        1_998_605,
    ),
}

# === Chen et al. 2018 ===

# Of words without a pretrained vector.
_GAUSSIAN = {
    "class_name": "RandomNormal",
    "config": {"mean": 0.0, "stddev": 1.0},
}
_CHEN_SENTENCE = {
    "embedding_dim": 300,
    "embeddings_initializer": _GAUSSIAN,
    "trainable_embeddings": True,
    "character_vocabulary_size": 100,
    "units": [300],
    "pooling": "generalized",
    "attention_dim": 300,
    "num_heads": 5,
    "parameter_penalty": 0.0,
    "attention_penalty": 0.0,
    "embedding_penalty": 0.0,
    "margin": 1.0,
    "hidden_units": [300, 300],
    "hidden_shortcut": True,
    "dropout": 0.0,
    "l2": 0.0,
}
_CHEN_MULTINLI = {
    **_CHEN_SENTENCE,
    "trainable_embeddings": False,
    "units": [300, 300, 300],
    "interaction": "heuristic",
}
_CHEN_SNLI = {
    **_CHEN_MULTINLI,
    "units": [600, 600, 600],
    "attention_dim": 600,
    "hidden_units": [600, 600],
}
# Of Table 4 the best on the corpus, which Table 3 repeats.
_ON_PARAMETERS = {"parameter_penalty": 1e-2}
_ON_ATTENTION = {"attention_penalty": 1e-2}

_CHEN_YELP_TRAINING = {
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "global_clipnorm": 0.5,
    "batch_size": 32,
    "epochs": 10,
    "lowercase": False,
}
_CHEN_AGE_TRAINING = {**_CHEN_YELP_TRAINING, "learning_rate": 2e-3}
_CHEN_MULTINLI_TRAINING = {
    **_CHEN_YELP_TRAINING,
    "learning_rate": 4e-4,
    "global_clipnorm": 10.0,
    # Each word without a vector has a Gaussian one of its own.
    "min_count": 1,
}
_CHEN_SNLI_TRAINING = {**_CHEN_MULTINLI_TRAINING, "batch_size": 128}

# By corpus: the table, the class, the model, the penalty of generalized
# pooling, the training, and by pooling the published accuracies and the number
# of weights.
_CHEN_CORPORA = {
    "snli": (
        "Table 1",
        _PAIRS,
        _CHEN_SNLI,
        _ON_PARAMETERS,
        _CHEN_SNLI_TRAINING,
        {
            "generalized": ({"snli": 86.6}, 65_201_703),
            "max": ({"snli": 85.3}, 34_952_703),
            "mean": ({"snli": 85.0}, 34_952_703),
            "last": ({"snli": 84.9}, 34_952_703),
        },
    ),
    "multinli": (
        "Table 2",
        _PAIRS,
        _CHEN_MULTINLI,
        _ON_PARAMETERS,
        _CHEN_MULTINLI_TRAINING,
        {
            "generalized": ({"matched": 73.8, "mismatched": 74.0}, 18_478_503),
            "max": ({"matched": 73.6, "mismatched": 73.0}, 10_914_003),
            "mean": ({"matched": 71.5, "mismatched": 71.6}, 10_914_003),
            "last": ({"matched": 71.6, "mismatched": 71.9}, 10_914_003),
        },
    ),
    "age": (
        "Table 3",
        _SENTENCES,
        _CHEN_SENTENCE,
        _ON_ATTENTION,
        _CHEN_AGE_TRAINING,
        {
            "generalized": ({"age": 82.63}, 5_874_305),
            "max": ({"age": 82.30}, 2_629_805),
            "mean": ({"age": 81.78}, 2_629_805),
            "last": ({"age": 81.10}, 2_629_805),
        },
    ),
    "yelp": (
        "Table 3",
        _SENTENCES,
        _CHEN_SENTENCE,
        _ON_PARAMETERS,
        _CHEN_YELP_TRAINING,
        {
            "generalized": ({"yelp": 66.55}, 5_874_305),
            "max": ({"yelp": 65.00}, 2_629_805),
            "mean": ({"yelp": 65.30}, 2_629_805),
            "last": ({"yelp": 64.95}, 2_629_805),
        },
    ),
}
_CHEN_PRESETS = {
    f"chen2018_{corpus}"
    + ("" if pooling == "generalized" else f"_{pooling}"): (
        Preset(
            CHEN,
            f"{table}, BiLSTM with {pooling} pooling",
            class_name,
            {
                **model,
                "pooling": pooling,
                **(penalty if pooling == "generalized" else {}),
            },
            training,
            published,
            parameters,
        )
    )
    for corpus, (
        table,
        class_name,
        model,
        penalty,
        training,
        accuracies,
    ) in _CHEN_CORPORA.items()
    for pooling, (published, parameters) in accuracies.items()
}

# === Parikh et al. 2016 ===

_PARIKH = {
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
_PARIKH_TRAINING = {
    "optimizer": "adagrad",
    "learning_rate": 0.05,
    "initial_accumulator_value": 0.1,
    "batch_size": 4,
    "epochs": 50,
    "lowercase": True,
    "prepend_null": True,
    "min_count": None,
    "num_oov_indices": 100,
    "normalize_vectors": True,
}
_PARIKH_PRESETS = {
    "parikh2016_snli": Preset(
        PARIKH,
        "Table 1, vanilla",
        _ALIGNMENT,
        _PARIKH,
        _PARIKH_TRAINING,
        {"snli": 86.3},
        381_803,
    ),
    "parikh2016_snli_intra": Preset(
        PARIKH,
        "Table 1, with intra-sentence attention",
        _ALIGNMENT,
        {**_PARIKH, "intra_sentence": True},
        {**_PARIKH_TRAINING, "learning_rate": 0.025},
        {"snli": 86.8},
        582_225,
    ),
}

PRESETS = {**_LIN_PRESETS, **_CHEN_PRESETS, **_PARIKH_PRESETS}


def list_presets():
    """The names of the presets, one a row of a paper's table."""
    return list(PRESETS)


def get_preset(name):
    """The preset of a name, or `ValueError` where there is none."""
    if name not in PRESETS:
        raise ValueError(
            "There is neither a preset nor a folder of that name. Presets: "
            f"{', '.join(PRESETS)}. Received: {name!r}"
        )
    return PRESETS[name]

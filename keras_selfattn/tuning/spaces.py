"""Search spaces: which values of which arguments a search may take."""

import typing


class Values(typing.NamedTuple):
    """The values that a search tries for an argument.

    Attributes:
        argument: The name of an argument of the model or of the training.
        values: List of values, the papers' own first; or, with `parent`, a
            dictionary of such lists by the value of the parent that they
            belong to.
        parent: The name of the argument that decides which list counts, or
            `None`. Without a list for its value the argument has no effect.
    """

    argument: str
    values: typing.Any
    parent: str | None = None


def recipe_space(recipe, preset):
    """What a recipe has searched, as a list of `Values`.

    Args:
        recipe: A `keras_selfattn.zoo.Recipe`.
        preset: The `keras_selfattn.models.Preset` with the recipe's values.
    """
    parents = {v.argument: v.parent for v in SPACES[preset.class_name]}
    own = {**preset.model, **preset.training}
    space = []
    for name, values in recipe.search.items():
        parent = parents.get(name)
        # They are for the recipe's own optimizer and pooling.
        lists = values if parent is None else {own[parent]: values}
        space.append(Values(name, lists, parent))
    return space


_FACTORS = [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]

# The grid varies the last ones first, so they come in rising importance.
_TRAINING = (
    Values("optimizer", ["adam", "adagrad", "sgd"]),
    Values(
        "learning_rate",
        {
            "sgd": [0.06, 0.02, 0.2],
            "adagrad": [0.05, 0.01, 0.025],
            "adam": [1e-3, 4e-4, 2e-3],
        },
        "optimizer",
    ),
)
_ENCODER = (
    Values("row_units", [None, 25, 150, 300]),
    Values("column_units", [None, 10, 20]),
    Values("dropout", [0.5, 0.0, 0.2]),
    Values("batch_size", [32, 16, 50, 128]),
    Values("pooling", ["structured", "generalized", "max", "mean", "last"]),
    Values(
        "attention_dim",
        {"structured": [350, 150], "generalized": [300, 600]},
        "pooling",
    ),
    Values("margin", {"generalized": [1.0, 0.5, 2.0]}, "pooling"),
    Values("parameter_penalty", {"generalized": [1e-2, *_FACTORS]}, "pooling"),
    Values("embedding_penalty", {"generalized": _FACTORS}, "pooling"),
    Values(
        "attention_penalty",
        {
            "structured": [1.0, 0.0, 0.01, 0.1, 0.3],
            "generalized": _FACTORS,
        },
        "pooling",
    ),
    Values(
        "num_heads",
        {"structured": [30, 1, 5, 10, 20], "generalized": [5, 1, 3, 7, 9]},
        "pooling",
    ),
)
SPACES = {
    "SentenceClassifier": (*_ENCODER, *_TRAINING),
    "SentencePairClassifier": (
        Values("interaction", ["gated", "heuristic"]),
        *_ENCODER,
        *_TRAINING,
    ),
    "DecomposableClassifier": (
        Values("projection_dim", [200, 100, 300]),
        Values("intra_sentence", [False, True]),
        Values("max_distance", {True: [10, 5, 20]}, "intra_sentence"),
        Values("dropout", [0.2, 0.0, 0.1, 0.5]),
        Values("batch_size", [4, 16, 32]),
        *_TRAINING,
    ),
}

"""What each argument of a classifier may be, by itself."""

from keras_selfattn import validation
from keras_selfattn.regularizers import validate_factor

# What must be an integer of 1 or more, that or None, a finite number of 0 or
# more, a share, or True or False.
_SIZES = (
    "vocabulary_size",
    "num_classes",
    "embedding_dim",
    "projection_dim",
    "interaction_units",
)
_SIZES_OR_NONE = ("character_vocabulary_size",)
_FACTORS = (
    "parameter_penalty",
    "attention_penalty",
    "embedding_penalty",
    "ambiguity_penalty",
    "margin",
    "l2",
    "initializer_stddev",
)
_SHARES = ("dropout", "encoder_dropout")
_SWITCHES = (
    "trainable_embeddings",
    "character_cnn",
    "hidden_shortcut",
    "exact_match",
    "intra_sentence",
)


def of_scope(scope):
    """A constructor's own arguments, checked as far as no layer checks them.

    Args:
        scope: Its `locals()` at the start.

    Returns:
        A dictionary of all arguments by their names.
    """
    hidden = ("self", "kwargs", "__class__")
    values = {k: v for k, v in scope.items() if k not in hidden}
    for names, check in (
        (_SIZES, validation.integer),
        (_SIZES_OR_NONE, _size_or_none),
        (_FACTORS, _factor_or_none),
        (_SHARES, validation.fraction),
        (_SWITCHES, validation.boolean),
    ):
        for name in names:
            if name in values:
                check(values[name], name)
    if not values.get("character_cnn", True) and (
        values["character_vocabulary_size"] is None
    ):
        raise ValueError(
            "`character_cnn` must be True without `character_vocabulary_size`, "
            "where nothing reads characters. Received: character_cnn=False"
        )
    return values


def _size_or_none(value, name):
    if value is not None:
        validation.integer(value, name)


def _factor_or_none(value, name):
    if value is not None or name != "initializer_stddev":
        validate_factor(value, name)

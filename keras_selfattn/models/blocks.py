"""The parts of which the functional models are put together."""

import keras
from keras import ops

from keras_selfattn import layers
from keras_selfattn.layers import validation
from keras_selfattn.regularizers import HeadDiversity
from keras_selfattn.regularizers import Orthogonality
from keras_selfattn.regularizers import validate_factor

POOLINGS = ("structured", "generalized", "max", "mean", "last")
ENCODERS = ("bilstm", "cnn")


def _glorot():
    return keras.initializers.GlorotUniform()


# What must be an integer of 1 or more, a finite number of 0 or more, a share,
# or one of two.
_SIZES = ("vocabulary_size", "num_classes", "embedding_dim", "projection_dim")
_FACTORS = (
    "parameter_penalty",
    "attention_penalty",
    "embedding_penalty",
    "margin",
    "l2",
    "initializer_stddev",
)
_SHARES = ("dropout", "encoder_dropout")
_SWITCHES = ("trainable_embeddings", "hidden_shortcut", "intra_sentence")


def check_arguments(values):
    """`ValueError` where an argument that no layer checks is not as expected.

    Args:
        values: Dictionary of all arguments.
    """
    for names, check in (
        (_SIZES, validation.positive_integer),
        (_FACTORS, _factor_or_none),
        (_SHARES, validation.fraction),
        (_SWITCHES, _switch),
    ):
        for name in names:
            if name in values:
                check(values[name], name)


def _factor_or_none(value, name):
    if value is not None or name != "initializer_stddev":
        validate_factor(value, name)


def _switch(value, name):
    one_of(value, (True, False), name)


def arguments(scope):
    """A constructor's own arguments, from its `locals()` at the start."""
    hidden = ("self", "kwargs", "__class__")
    return {k: v for k, v in scope.items() if k not in hidden}


def one_of(value, choices, name):
    """The value, or `ValueError` unless it is one of the choices."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {', '.join(map(repr, choices))}. "
            f"Received: {name}={value!r}"
        )
    return value


def token_inputs(prefix, has_characters):
    """The inputs of one sentence: token ids and, if asked, character ids."""
    inputs = {
        f"{prefix}token_ids": keras.Input(
            (None,), dtype="int32", name=f"{prefix}token_ids"
        )
    }
    if has_characters:
        inputs[f"{prefix}char_ids"] = keras.Input(
            (None, None), dtype="int32", name=f"{prefix}char_ids"
        )
    return inputs


class WordRepresentation:
    """The word vectors, joined by the character CNN's where there is one."""

    def __init__(
        self,
        vocabulary_size,
        embedding_dim,
        embeddings_initializer,
        trainable,
        character_vocabulary_size,
    ):
        self.vectors = layers.WordEmbedding(
            vocabulary_size,
            embedding_dim,
            embeddings_initializer=embeddings_initializer,
            trainable=trainable,
            name="word_vectors",
        )
        self.has_characters = character_vocabulary_size is not None
        self.character_layers = []
        if self.has_characters:
            self.character_layers.append(
                layers.CharacterCNN(
                    character_vocabulary_size, name="character_cnn"
                )
            )

    def __call__(self, inputs, prefix):
        words = self.vectors(inputs[f"{prefix}token_ids"])
        if not self.has_characters:
            return words
        (character_cnn,) = self.character_layers
        characters = character_cnn(inputs[f"{prefix}char_ids"])
        return keras.layers.Concatenate(name=f"{prefix}words")(
            [words, characters]
        )


def widths(units, name):
    """A tuple of layer widths from an integer or a sequence of them."""
    units = [units] if isinstance(units, int) else units
    return validation.positive_integers(units, name)


def padding_mask(token_ids):
    """True where a step holds a word, computed from the ids once."""
    return ops.not_equal(token_ids, 0)


def make_encoder(encoder, units, dropout, implementation, kernel_size):
    """The layer between word vectors and pooling."""
    if one_of(encoder, ENCODERS, "encoder") == "bilstm":
        return layers.StackedBiLSTM(
            units,
            dropout=dropout,
            implementation=implementation,
            name="bilstm",
        )
    if not isinstance(units, int):
        raise ValueError(
            "`units` must be an integer with encoder='cnn', the number of "
            f"filters. Received: units={units!r}"
        )
    return layers.MaskedConv1D(
        units,
        validation.positive_integer(kernel_size, "kernel_size"),
        activation="relu",
        dropout=dropout,
        name="convolution",
    )


def make_pooling(
    pooling,
    attention_dim,
    num_heads,
    parameter_penalty,
    attention_penalty,
    embedding_penalty,
    margin,
):
    """The layer that turns the states of a sentence into its embedding."""
    one_of(pooling, POOLINGS, "pooling")
    if pooling in ("max", "mean", "last"):
        baseline = {
            "max": layers.MaskedMaxPooling,
            "mean": layers.MaskedMeanPooling,
            "last": layers.LastPooling,
        }[pooling]
        return baseline(name=f"{pooling}_pooling")
    if pooling == "structured":
        return layers.StructuredSelfAttention(
            attention_dim,
            num_heads,
            attention_regularizer=(
                Orthogonality(attention_penalty) if attention_penalty else None
            ),
            name="structured_self_attention",
        )
    diversity = {
        f"{target}_regularizer": HeadDiversity(factor, margin)
        for target, factor in (
            ("parameter", parameter_penalty),
            ("attention", attention_penalty),
            ("embedding", embedding_penalty),
        )
        if factor
    }
    return layers.GeneralizedPooling(
        attention_dim, num_heads, name="generalized_pooling", **diversity
    )


def as_matrix(embedding):
    """An embedding `(B, heads, D)`, also where a pooling gives `(B, D)`."""
    if len(embedding.shape) == 2:
        return ops.expand_dims(embedding, 1)
    return embedding


def hidden_layers(
    features, units, shortcut, dropout, l2, made, initializer=_glorot
):
    """The ReLU layers between an embedding `(B, D)` and the softmax.

    With `shortcut`, each layer after the first reads `features` as well as
    the layer below. The layers made are appended to `made`.
    """
    regularizer = keras.regularizers.L2(l2) if l2 else None
    below = features
    for number, width in enumerate(units, start=1):
        if number > 1 and shortcut:
            below = keras.layers.Concatenate(name=f"shortcut_{number}")(
                [features, below]
            )
        if dropout:
            below = keras.layers.Dropout(
                dropout, name=f"hidden_{number}_dropout"
            )(below)
        dense = keras.layers.Dense(
            width,
            activation="relu",
            kernel_initializer=initializer(),
            kernel_regularizer=regularizer,
            name=f"hidden_{number}",
        )
        made.append(dense)
        below = dense(below)
    return below


def pruned_hidden(matrix, row_units, column_units, l2, made):
    """The hidden layer of pruned weights on an embedding `(B, r, D)`."""
    pruned = layers.PrunedDense(
        row_units,
        column_units,
        kernel_regularizer=keras.regularizers.L2(l2) if l2 else None,
        name="pruned_hidden",
    )
    made.append(pruned)
    parts = pruned(matrix)
    parts = parts if isinstance(parts, (list, tuple)) else [parts]
    flat = [
        keras.layers.Flatten(name=f"pruned_hidden_flat_{number}")(part)
        for number, part in enumerate(parts, start=1)
    ]
    if len(flat) == 1:
        return flat[0]
    return keras.layers.Concatenate(name="pruned_hidden_units")(flat)


def class_scores(
    hidden,
    num_classes,
    activation,
    dropout,
    l2,
    made,
    initializer=_glorot,
):
    """The last layer, in float32: probabilities, or logits."""
    # Whoever reads the outputs takes them for one of the two.
    one_of(activation, ("softmax", None), "activation")
    if dropout:
        hidden = keras.layers.Dropout(dropout, name="classifier_dropout")(
            hidden
        )
    dense = keras.layers.Dense(
        num_classes,
        activation=activation,
        kernel_initializer=initializer(),
        kernel_regularizer=keras.regularizers.L2(l2) if l2 else None,
        dtype="float32",
        name="probabilities" if activation == "softmax" else "logits",
    )
    made.append(dense)
    return dense(hidden)

"""From the words of a sentence to its embedding: encoder and pooling."""

from keras import ops

from keras_selfattn import layers
from keras_selfattn import validation
from keras_selfattn.layers.stacked_bilstm import IMPLEMENTATIONS
from keras_selfattn.regularizers import HeadDiversity
from keras_selfattn.regularizers import Orthogonality

ENCODERS = ("bilstm", "cnn")
POOLINGS = ("structured", "generalized", "max", "mean", "last")
_BASELINES = {
    "max": layers.MaskedMaxPooling,
    "mean": layers.MaskedMeanPooling,
    "last": layers.LastPooling,
}


def make_encoder(arguments):
    """The layer between word vectors and pooling."""
    units = arguments["units"]
    if validation.one_of(arguments["encoder"], ENCODERS, "encoder") == "bilstm":
        return layers.StackedBiLSTM(
            units,
            dropout=arguments["encoder_dropout"],
            implementation=validation.one_of(
                arguments["lstm_implementation"],
                IMPLEMENTATIONS,
                "lstm_implementation",
            ),
            name="bilstm",
        )
    if not isinstance(units, int):
        raise ValueError(
            "`units` must be an integer with encoder='cnn', the number of "
            f"filters. Received: units={units!r}"
        )
    return layers.MaskedConv1D(
        units,
        validation.integer(arguments["kernel_size"], "kernel_size"),
        activation="relu",
        dropout=arguments["encoder_dropout"],
        name="convolution",
    )


def make_pooling(arguments):
    """The layer that turns the states of a sentence into its embedding."""
    pooling = validation.one_of(arguments["pooling"], POOLINGS, "pooling")
    if pooling in _BASELINES:
        return _BASELINES[pooling](name=f"{pooling}_pooling")
    if pooling == "structured":
        penalty = arguments["attention_penalty"]
        return layers.StructuredSelfAttention(
            arguments["attention_dim"],
            arguments["num_heads"],
            attention_regularizer=Orthogonality(penalty) if penalty else None,
            name="structured_self_attention",
        )
    factors = {
        target: arguments[f"{target}_penalty"]
        for target in ("parameter", "attention", "embedding")
    }
    return layers.GeneralizedPooling(
        arguments["attention_dim"],
        arguments["num_heads"],
        name="generalized_pooling",
        **{
            f"{target}_regularizer": HeadDiversity(factor, arguments["margin"])
            for target, factor in factors.items()
            if factor
        },
    )


def as_matrix(embedding):
    """An embedding `(B, heads, D)`, also where a pooling gives `(B, D)`."""
    if len(embedding.shape) == 2:
        return ops.expand_dims(embedding, 1)
    return embedding

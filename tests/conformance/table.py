"""One row a layer: all that the families of checks need to know of it."""

import dataclasses

import keras
import numpy as np

from keras_selfattn import layers
from keras_selfattn.regularizers import Ambiguity
from keras_selfattn.regularizers import HeadDiversity
from keras_selfattn.regularizers import Orthogonality
from tests.conformance import references


@dataclasses.dataclass(frozen=True, repr=False)
class Row:
    """A layer under test. All sizes of a row differ, batch size included.

    Attributes:
        layer: The class.
        config: Constructor arguments, none of them at its default; a
            wrapper's are those of the layer that it wraps.
        variant: Name of another row for the same layer, to tell them apart.
        wraps: The class of the layer inside, for a wrapper.
        input_shapes: A shape for each input, batch first.
        reference: The function of `references.py` with the equation.
        weights: Shape of each weight by name, in the order of
            `layer.weights`.
        penalties: The arguments that hold a penalty.
        steps: For each tensor returned, scores included, the axes of steps:
            `{axis: number of the input}`.
        ids: Largest id plus 1, for a layer that takes ids, of words or, at
            rank 3, of their characters.
        takes_mask: Whether `call` takes a mask.
        holes: Whether a masked step amid others is as if it were not there.
        wrong_arguments: Pairs of constructor arguments and a part of the
            message.
        wrong_shapes: Pairs of input shapes and a part of the message.
        zero_gradients: Names of weights whose true gradient is zero.
        needed_in_graph: Of `"rows"` and `"steps"` what TensorFlow's ops must
            have at least one of, where a graph is for any number of them.
    """

    layer: type
    config: dict
    input_shapes: tuple
    reference: object
    weights: dict
    wraps: type = None
    variant: str = ""
    penalties: tuple = ()
    steps: tuple = ({},)
    ids: int = 0
    takes_mask: bool = True
    holes: bool = True
    wrong_arguments: tuple = ()
    wrong_shapes: tuple = ()
    zero_gradients: tuple = ()
    needed_in_graph: tuple = ()

    def __repr__(self):
        return "-".join(filter(None, (self.layer.__name__, self.variant)))

    @property
    def gives_scores(self):
        return self.takes("return_attention_scores")

    @property
    def fixes_features(self):
        """Whether a built layer takes one size of the last axis alone."""
        pools = layers.MaskedMaxPooling, layers.MaskedMeanPooling
        return not self.ids and self.layer not in pools

    def takes(self, argument):
        return argument in self.layer.call.__code__.co_varnames

    def create(self, **overrides):
        """The layer, not yet built."""
        config = {**self.config, **overrides}
        if self.wraps is None:
            return self.layer(**config)
        return self.layer(self.wraps(**config))

    def make(self, **overrides):
        """The layer, built, with weights drawn from a fixed seed."""
        layer = self.create(**overrides)
        shapes = self.input_shapes
        layer.build(shapes[0] if len(shapes) == 1 else shapes)
        rng = np.random.default_rng(1)
        for weight in layer.trainable_weights:
            weight.assign(rng.normal(0, 0.7, weight.shape))
        return layer

    def batch(self, seed=2):
        """Inputs and a mask for each; the last row of each is masked."""
        rng = np.random.default_rng(seed)
        inputs, masks = [], []
        for shape in self.input_shapes:
            mask = rng.random(shape[:2]) < 0.7
            mask[0] = True
            mask[-1] = not self.takes_mask and not self.ids
            if self.ids:
                values = rng.integers(1, self.ids, shape).astype("int32")
                values[~mask] = 0
                if len(shape) == 3:
                    lengths = rng.integers(1, shape[2] + 1, (*shape[:2], 1))
                    values *= np.arange(shape[2]) < lengths
            else:
                values = rng.normal(size=shape).astype("float32")
            inputs.append(values)
            masks.append(mask)
        return inputs, masks

    def without_penalties(self):
        return dict.fromkeys(self.penalties)

    def solve(self, weights, inputs, masks):
        """The reference's result in float64."""
        if not self.ids:
            inputs = [np.asarray(x, dtype="float64") for x in inputs]
        weights = [np.asarray(w, dtype="float64") for w in weights]
        return self.reference(self.config, weights, inputs, masks)


def run(layer, inputs, masks, scores=False, **kwargs):
    """Call a layer; gives a flat list of its outputs and scores."""
    row = ROWS_BY_LAYER[type(layer)]
    if row.takes_mask:
        kwargs["mask"] = masks[0] if len(masks) == 1 else tuple(masks)
    if scores and row.gives_scores:
        kwargs["return_attention_scores"] = True
    inputs = inputs[0] if len(inputs) == 1 else tuple(inputs)
    return keras.tree.flatten(layer(inputs, **kwargs))


def symbols(arrays):
    """Tensors without values of the shapes and types of arrays."""
    return [keras.KerasTensor(x.shape, dtype=str(x.dtype)) for x in arrays]


def penalty_of(layer):
    """The sum of a layer's losses, as a float."""
    return float(keras.ops.convert_to_numpy(sum(layer.losses)))


NGRAMS = {
    "num_classes": 3,
    "num_buckets": 7,
    "word_ngrams": [1, 3],
    "character_ngrams": [2, 4],
}

GENERALIZED = {
    "attention_dim": 7,
    "num_heads": 2,
    "activation": "tanh",
    "parameter_regularizer": HeadDiversity(0.3, margin=60.0),
    "attention_regularizer": HeadDiversity(0.2, margin=9.0),
    "embedding_regularizer": HeadDiversity(0.1, margin=20.0),
    "kernel_initializer": "he_normal",
}
GENERALIZED_PENALTIES = (
    "parameter_regularizer",
    "attention_regularizer",
    "embedding_regularizer",
)

ROWS = [
    Row(
        layers.StructuredSelfAttention,
        {
            "attention_dim": 7,
            "num_heads": 2,
            "use_bias": True,
            "attention_regularizer": Orthogonality(0.3),
            "kernel_initializer": "he_normal",
        },
        ((3, 5, 4),),
        references.structured_self_attention,
        {
            "hidden_kernel": (4, 7),
            "score_kernel": (7, 2),
            "hidden_bias": (7,),
            "score_bias": (2,),
        },
        penalties=("attention_regularizer",),
        steps=({}, {2: 0}),
        wrong_arguments=(
            ({"attention_dim": 0}, "attention_dim=0"),
            ({"num_heads": 1.5}, "num_heads=1.5"),
            ({"use_bias": "no"}, "True or False.*use_bias='no'"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
        # Adding a constant to all steps changes no softmax over the steps.
        zero_gradients=("score_bias",),
    ),
    *(
        Row(
            layer,
            {"name": "pooled"},
            ((3, 5, 4),),
            reference,
            {},
            steps=({}, {2: 0}),
            wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"), *more),
        )
        for layer, reference, more in (
            (layers.MaskedMaxPooling, references.max_pooling, ()),
            (layers.MaskedMeanPooling, references.mean_pooling, ()),
            (
                layers.LastPooling,
                references.last_pooling,
                ((((2, 4, 3),), r"even number.*\(2, 4, 3\)"),),
            ),
        )
    ),
    *(
        Row(
            layers.StackedBiLSTM,
            {"units": [2, 3], "dropout": 0.25, "seed": 3, **code},
            ((4, 6, 5),),
            references.stacked_bilstm,
            {
                "bilstm_1/forward_lstm/lstm_cell/kernel": (5, 8),
                "bilstm_1/forward_lstm/lstm_cell/recurrent_kernel": (2, 8),
                "bilstm_1/forward_lstm/lstm_cell/bias": (8,),
                "bilstm_1/backward_lstm/lstm_cell/kernel": (5, 8),
                "bilstm_1/backward_lstm/lstm_cell/recurrent_kernel": (2, 8),
                "bilstm_1/backward_lstm/lstm_cell/bias": (8,),
                "bilstm_2/forward_lstm/lstm_cell/kernel": (below, 12),
                "bilstm_2/forward_lstm/lstm_cell/recurrent_kernel": (3, 12),
                "bilstm_2/forward_lstm/lstm_cell/bias": (12,),
                "bilstm_2/backward_lstm/lstm_cell/kernel": (below, 12),
                "bilstm_2/backward_lstm/lstm_cell/recurrent_kernel": (3, 12),
                "bilstm_2/backward_lstm/lstm_cell/bias": (12,),
            },
            variant=variant,
            steps=({1: 0},),
            wrong_arguments=(
                ({"units": 0}, "units=0"),
                ({"units": []}, "at least one"),
                ({"units": "ab"}, "units='ab'"),
                ({"dropout": 1.0}, "dropout=1.0"),
                ({"shortcut": "no"}, "True or False.*shortcut='no'"),
                ({"seed": "x"}, "integer or None.*seed='x'"),
                (
                    {"use_cudnn": 1.0, "implementation": None},
                    "'auto', True or False.*use_cudnn=1.0",
                ),
                ({"implementation": "xla"}, "'keras'.*implementation='xla'"),
            ),
            wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
            needed_in_graph=() if variant else ("steps",),
        )
        # "auto" packs the steps on TensorFlow. The second layer reads the 4
        # states of the first and, by a shortcut, the 5 inputs.
        for variant, below, code in (
            ("", 4, {"use_cudnn": False, "shortcut": False}),
            ("auto", 9, {"implementation": "auto"}),
        )
    ),
    Row(
        layers.MaskedConv1D,
        {
            "filters": 2,
            # Keras keeps a sequence.
            "kernel_size": [3],
            "activation": "tanh",
            "dropout": 0.25,
        },
        ((4, 6, 5),),
        references.masked_conv1d,
        {"kernel": (3, 5, 2), "bias": (2,)},
        steps=({1: 0},),
        holes=False,
        wrong_arguments=(
            ({"dropout": 1.0}, "dropout=1.0"),
            ({"padding": "valid"}, "each input step.*padding='valid'"),
            ({"strides": 2}, "each input step.*strides=2"),
        ),
    ),
    Row(
        layers.Dropout,
        {"rate": 0.25, "noise_shape": [None, 1, None], "seed": 3},
        ((3, 5, 4),),
        references.dropout,
        {},
        takes_mask=False,
        wrong_arguments=(
            ({"rate": 1.5}, "rate=1.5"),
            ({"rate": -0.1}, "rate=-0.1"),
            ({"rate": 0.0, "seed": "x"}, "integer or None.*seed='x'"),
        ),
    ),
    Row(
        layers.WordEmbedding,
        {"input_dim": 7, "output_dim": 3},
        ((4, 5),),
        references.word_embedding,
        {"embeddings": (7, 3)},
        steps=({1: 0},),
        ids=7,
        takes_mask=False,
    ),
    Row(
        layers.GeneralizedPooling,
        GENERALIZED,
        ((3, 5, 4),),
        references.generalized_pooling,
        {
            "hidden_kernel": (2, 4, 7),
            "hidden_bias": (2, 7),
            "score_kernel": (2, 7, 4),
            "score_bias": (2, 4),
        },
        penalties=GENERALIZED_PENALTIES,
        steps=({}, {2: 0}),
        wrong_arguments=(
            ({"attention_dim": 0}, "attention_dim=0"),
            ({"num_heads": 1.5}, "num_heads=1.5"),
            ({"use_bias": "no"}, "True or False.*use_bias='no'"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
        # Adding a constant to all steps changes no softmax over the steps.
        zero_gradients=("score_bias",),
    ),
    Row(
        layers.GeneralizedPooling,
        {**GENERALIZED, "use_bias": False},
        ((3, 5, 4),),
        references.generalized_pooling,
        {"hidden_kernel": (2, 4, 7), "score_kernel": (2, 7, 4)},
        variant="unbiased",
        penalties=GENERALIZED_PENALTIES,
        steps=({}, {2: 0}),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.DecomposableAttention,
        {
            "attend_units": [6, 2],
            "compare_units": [8, 9],
            "dropout": 0.25,
            "seed": 3,
            "kernel_initializer": "he_normal",
        },
        ((4, 7, 3), (4, 5, 3)),
        references.decomposable_attention,
        {
            "attend_kernel_0": (3, 6),
            "attend_bias_0": (6,),
            "attend_kernel_1": (6, 2),
            "attend_bias_1": (2,),
            "compare_kernel_0": (6, 8),
            "compare_bias_0": (8,),
            "compare_kernel_1": (8, 9),
            "compare_bias_1": (9,),
        },
        steps=({}, {1: 0, 2: 1}, {1: 1, 2: 0}),
        wrong_arguments=(
            ({"attend_units": 3}, "attend_units=3"),
            ({"compare_units": ()}, r"at least one.*compare_units=\(\)"),
            ({"dropout": 1.0}, "dropout=1.0"),
            ({"dropout": 0.0, "seed": "x"}, "integer or None.*seed='x'"),
        ),
        wrong_shapes=(
            (((2, 3, 4),), r"pair.*premise, hypothesis.*\(2, 3, 4\)"),
            (((2, 3, 4), (2, 3)), r"rank 3.*\(2, 3\)"),
            (((), ()), r"rank 3.*\(\)"),
            (
                ((2, 3, 4), (2, 3, 5)),
                r"features.*\(2, 3, 4\) \(premise\).*\(2, 3, 5\) \(hypothesis",
            ),
        ),
    ),
    Row(
        layers.IntraSentenceAttention,
        {
            "attention_units": [6, 3],
            "max_distance": 2,
            "dropout": 0.25,
            "seed": 3,
            "kernel_initializer": "he_normal",
        },
        ((4, 7, 5),),
        references.intra_sentence_attention,
        {
            "attention_kernel_0": (5, 6),
            "attention_bias_0": (6,),
            "attention_kernel_1": (6, 3),
            "attention_bias_1": (3,),
            "distance_bias": (6,),
        },
        steps=({1: 0}, {1: 0, 2: 0}),
        wrong_arguments=(
            ({"attention_units": []}, r"at least one.*attention_units=\(\)"),
            ({"max_distance": 0}, "max_distance=0"),
            ({"dropout": -0.1}, "dropout=-0.1"),
            ({"dropout": 0.0, "seed": 2.0}, "integer or None.*seed=2.0"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.PrunedDense,
        {
            "row_units": 5,
            "column_units": 6,
            "activation": "tanh",
            "bias_initializer": "ones",
        },
        ((3, 2, 4),),
        references.pruned_dense,
        {
            "row_kernel": (2, 4, 5),
            "row_bias": (2, 5),
            "column_kernel": (4, 2, 6),
            "column_bias": (4, 6),
        },
        steps=({}, {}),
        takes_mask=False,
        wrong_arguments=(
            ({"row_units": None, "column_units": None}, "None.*None"),
            ({"row_units": 0}, "row_units=0"),
            ({"column_units": 2.0}, "column_units=2.0"),
            ({"use_bias": 1}, "True or False.*use_bias=1"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.PrunedDense,
        {
            "row_units": 5,
            "column_units": 6,
            "activation": "tanh",
            "use_bias": False,
        },
        ((3, 2, 4),),
        references.pruned_dense,
        {"row_kernel": (2, 4, 5), "column_kernel": (4, 2, 6)},
        variant="unbiased",
        steps=({}, {}),
        takes_mask=False,
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.GatedEncoder,
        {"units": 5, "kernel_initializer": "he_normal"},
        ((3, 2, 4), (3, 2, 4)),
        references.gated_encoder,
        {"left_kernel": (2, 4, 5), "right_kernel": (2, 4, 5)},
        takes_mask=False,
        wrong_arguments=(({"units": 0}, "units=0"),),
        wrong_shapes=(
            (((2, 3, 4),), r"pair.*left, right.*\(2, 3, 4\)"),
            (((), ()), r"rank 3.*\(\)"),
            (
                ((2, 3, 4), (2, 5, 4)),
                r"\(2, 3, 4\) \(left\).*\(2, 5, 4\) \(right\)",
            ),
        ),
    ),
    Row(
        layers.CharacterCNN,
        {
            "vocabulary_size": 9,
            "embedding_dim": 3,
            "filters": 7,
            "kernel_sizes": [2, 5],
            "bias_initializer": "ones",
        },
        ((2, 4, 6),),
        references.character_cnn,
        {
            "embeddings": (9, 3),
            "kernel_2": (2, 3, 7),
            "bias_2": (7,),
            "kernel_5": (5, 3, 7),
            "bias_5": (7,),
        },
        steps=({1: 0},),
        ids=9,
        takes_mask=False,
        wrong_arguments=(
            ({"vocabulary_size": 0}, "vocabulary_size=0"),
            ({"filters": "7"}, "filters='7'"),
            ({"kernel_sizes": 3}, "kernel_sizes=3"),
            ({"kernel_sizes": ()}, r"at least one.*kernel_sizes=\(\)"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.NGramLogits,
        NGRAMS,
        ((2, 5),),
        references.ngram_logits,
        {"table": (7, 3)},
        steps=({},),
        ids=9,
        takes_mask=False,
        # What stands between two words parts them.
        holes=False,
        wrong_arguments=(
            ({"num_classes": 0}, "num_classes=0"),
            ({"num_buckets": 2.0}, "num_buckets=2.0"),
            ({"num_buckets": 2**20 + 1}, "1,048,576 or less"),
            ({"word_ngrams": ()}, r"at least one.*word_ngrams=\(\)"),
            ({"character_ngrams": 3}, "character_ngrams=3"),
        ),
        wrong_shapes=((((3, 5, 4),), r"word ids.*\(3, 5, 4\)"),),
    ),
    Row(
        layers.NGramLogits,
        NGRAMS,
        ((2, 5), (2, 5, 6)),
        references.ngram_logits,
        {"table": (7, 3)},
        variant="characters",
        steps=({},),
        ids=9,
        takes_mask=False,
        holes=False,
        wrong_shapes=((((3, 5), (3, 5)), r"character ids.*\(3, 5\)"),),
    ),
    Row(
        layers.PairNGramLogits,
        {
            "num_classes": 3,
            "num_buckets": 7,
            "word_ngrams": [1, 3],
            "match_ngrams": [2, 4],
        },
        ((2, 5), (2, 7)),
        references.pair_ngram_logits,
        {"table": (7, 3)},
        steps=({},),
        ids=5,
        takes_mask=False,
        # What stands between two words parts them.
        holes=False,
        wrong_arguments=(
            ({"num_classes": 0}, "num_classes=0"),
            ({"num_buckets": 2**20 + 1}, "1,048,576 or less"),
            ({"word_ngrams": ()}, r"at least one.*word_ngrams=\(\)"),
            ({"match_ngrams": 3}, "match_ngrams=3"),
        ),
        wrong_shapes=(
            (((3, 5),), r"pair.*premise, hypothesis.*\(3, 5\)"),
            (((3, 5), (3, 7, 4)), r"rank 2.*\(3, 7, 4\)"),
            (((), ()), r"rank 2.*\(\)"),
            (((3, 5), (2, 7)), r"batch.*\(3, 5\).*\(2, 7\)"),
        ),
    ),
    Row(
        layers.ExactMatch,
        {},
        ((2, 5), (2, 7)),
        references.exact_match,
        {},
        steps=({1: 0}, {1: 1}),
        ids=4,
        takes_mask=False,
        wrong_shapes=(
            (((3, 5),), r"pair.*premise, hypothesis.*\(3, 5\)"),
            (((3, 5), (3, 7, 4)), r"rank 2.*\(3, 7, 4\)"),
            (((), ()), r"rank 2.*\(\)"),
            (((3, 5), (2, 7)), r"batch.*\(3, 5\).*\(2, 7\)"),
        ),
    ),
    Row(
        layers.SummedLogits,
        {"ambiguity_regularizer": Ambiguity(0.7)},
        ((3, 4), (3, 4)),
        references.summed_logits,
        {},
        penalties=("ambiguity_regularizer",),
        takes_mask=False,
        wrong_shapes=(
            (((3, 4),), r"pair.*deep, wide.*\(3, 4\)"),
            (((3, 4), (3, 5)), r"classes.*\(3, 4\) \(deep\).*\(wide\)"),
        ),
    ),
    Row(
        layers.BothSides,
        {
            "name": "shared",
            "attention_dim": 7,
            "num_heads": 2,
            "use_bias": True,
            "attention_regularizer": Orthogonality(0.3),
        },
        ((3, 5, 4), (3, 6, 4)),
        references.both_sides,
        {
            "shared/hidden_kernel": (4, 7),
            "shared/score_kernel": (7, 2),
            "shared/hidden_bias": (7,),
            "shared/score_bias": (2,),
        },
        wraps=layers.StructuredSelfAttention,
        penalties=("attention_regularizer",),
        steps=({}, {2: 0}, {}, {2: 1}),
        wrong_shapes=(
            (((3, 5, 4),), r"pair of inputs.*\(3, 5, 4\)"),
            (((3, 5), (3, 6)), r"rank 3.*\(3, 5\)"),
        ),
        zero_gradients=("shared/score_bias",),
    ),
]

ROWS_BY_LAYER = {row.layer: row for row in ROWS}

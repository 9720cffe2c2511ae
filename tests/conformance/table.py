"""One row a layer: all that the families of checks need to know of it."""

import dataclasses

import keras
import numpy as np

from keras_selfattn import layers
from keras_selfattn.regularizers import Orthogonality
from tests.conformance import references


@dataclasses.dataclass(frozen=True, repr=False)
class Row:
    """A layer under test. All sizes of a row differ, batch size included.

    Attributes:
        layer: The class.
        config: Constructor arguments, none of them at its default.
        input_shapes: A shape for each input, batch first.
        reference: The function of `references.py` with the equation.
        weights: Shape of each weight by name, in the order of
            `layer.weights`.
        penalties: The arguments that hold a penalty.
        steps: For each output, and then for each of the scores, the axes of
            steps: `{axis: number of the input}`.
        ids: Largest id plus 1, for a layer that takes ids.
        takes_mask: Whether `call` takes a mask.
        holes: Whether a masked step amid others is as if it were not there.
        wrong_arguments: Pairs of constructor arguments and a part of the
            message.
        wrong_shapes: Pairs of input shapes and a part of the message.
        zero_gradients: Names of weights whose true gradient is zero.
    """

    layer: type
    config: dict
    input_shapes: tuple
    reference: object
    weights: dict
    penalties: tuple = ()
    steps: tuple = ({},)
    ids: int = 0
    takes_mask: bool = True
    holes: bool = True
    wrong_arguments: tuple = ()
    wrong_shapes: tuple = ()
    zero_gradients: tuple = ()

    def __repr__(self):
        return self.layer.__name__

    @property
    def gives_scores(self):
        return "return_attention_scores" in self.layer.call.__code__.co_varnames

    def make(self, **overrides):
        """The layer, built, with weights drawn from a fixed seed."""
        layer = self.layer(**{**self.config, **overrides})
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
    row = ROWS_BY_NAME[type(layer).__name__]
    if row.takes_mask:
        kwargs["mask"] = masks[0] if len(masks) == 1 else tuple(masks)
    if scores and row.gives_scores:
        kwargs["return_attention_scores"] = True
    inputs = inputs[0] if len(inputs) == 1 else tuple(inputs)
    return keras.tree.flatten(layer(inputs, **kwargs))


def penalty_of(layer):
    """The sum of a layer's losses, as a float."""
    return float(keras.ops.convert_to_numpy(sum(layer.losses)))


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
    Row(
        layers.StackedBiLSTM,
        {"units": [2, 3], "dropout": 0.25, "use_cudnn": False, "seed": 3},
        ((4, 6, 5),),
        references.stacked_bilstm,
        {
            "bilstm_1/forward_lstm/lstm_cell/kernel": (5, 8),
            "bilstm_1/forward_lstm/lstm_cell/recurrent_kernel": (2, 8),
            "bilstm_1/forward_lstm/lstm_cell/bias": (8,),
            "bilstm_1/backward_lstm/lstm_cell/kernel": (5, 8),
            "bilstm_1/backward_lstm/lstm_cell/recurrent_kernel": (2, 8),
            "bilstm_1/backward_lstm/lstm_cell/bias": (8,),
            "bilstm_2/forward_lstm/lstm_cell/kernel": (9, 12),
            "bilstm_2/forward_lstm/lstm_cell/recurrent_kernel": (3, 12),
            "bilstm_2/forward_lstm/lstm_cell/bias": (12,),
            "bilstm_2/backward_lstm/lstm_cell/kernel": (9, 12),
            "bilstm_2/backward_lstm/lstm_cell/recurrent_kernel": (3, 12),
            "bilstm_2/backward_lstm/lstm_cell/bias": (12,),
        },
        steps=({1: 0},),
        wrong_arguments=(
            ({"units": 0}, "units=0"),
            ({"units": []}, "at least one"),
            ({"units": "ab"}, "units='ab'"),
            ({"dropout": 1.0}, "dropout=1.0"),
        ),
        wrong_shapes=((((3, 5),), r"rank 3.*\(3, 5\)"),),
    ),
    Row(
        layers.MaskedConv1D,
        {"filters": 2, "kernel_size": 3, "activation": "tanh"},
        ((4, 6, 5),),
        references.masked_conv1d,
        {"kernel": (3, 5, 2), "bias": (2,)},
        steps=({1: 0},),
        holes=False,
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
]

ROWS_BY_NAME = {str(row): row for row in ROWS}

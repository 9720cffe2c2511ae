"""Names, order, defaults and shapes that users and saved files rely on."""

import inspect

import pytest

from keras_selfattn import layers
from keras_selfattn import regularizers

REQUIRED = inspect.Parameter.empty

CONSTRUCTORS = {
    layers.StructuredSelfAttention: {
        "attention_dim": REQUIRED,
        "num_heads": REQUIRED,
        "use_bias": False,
        "attention_regularizer": None,
    },
    layers.GeneralizedPooling: {
        "attention_dim": REQUIRED,
        "num_heads": REQUIRED,
        "activation": "relu",
        "use_bias": True,
        "parameter_regularizer": None,
        "attention_regularizer": None,
        "embedding_regularizer": None,
    },
    layers.DecomposableAttention: {
        "attend_units": (200, 200),
        "compare_units": (200, 200),
        "dropout": 0.0,
        "seed": None,
    },
    layers.IntraSentenceAttention: {
        "attention_units": (200, 200),
        "max_distance": 10,
        "dropout": 0.0,
        "seed": None,
    },
    layers.PrunedDense: {
        "row_units": None,
        "column_units": None,
        "activation": "relu",
        "use_bias": True,
    },
    layers.GatedEncoder: {"units": REQUIRED},
    layers.MaskedMaxPooling: {},
    layers.MaskedMeanPooling: {},
    layers.LastPooling: {},
    layers.CharacterCNN: {
        "vocabulary_size": REQUIRED,
        "embedding_dim": 15,
        "filters": 100,
        "kernel_sizes": (1, 3, 5),
    },
    layers.StackedBiLSTM: {
        "units": REQUIRED,
        "shortcut": True,
        "dropout": 0.0,
        "use_cudnn": "auto",
        # Later ones stand behind, so that places keep their meaning.
        "seed": None,
        "implementation": None,
    },
    regularizers.Orthogonality: {"factor": 1.0},
    regularizers.HeadDiversity: {"factor": 1e-2, "margin": 1.0},
}

SCORED = ["inputs", "mask", "training", "return_attention_scores"]
CALLS = {
    layers.StructuredSelfAttention: SCORED,
    layers.GeneralizedPooling: SCORED,
    layers.DecomposableAttention: SCORED,
    layers.IntraSentenceAttention: SCORED,
    layers.PrunedDense: ["inputs"],
    layers.GatedEncoder: ["inputs"],
    layers.MaskedMaxPooling: ["inputs", "mask", "return_attention_scores"],
    layers.MaskedMeanPooling: ["inputs", "mask", "return_attention_scores"],
    layers.LastPooling: ["inputs", "mask", "return_attention_scores"],
    layers.CharacterCNN: ["inputs"],
    layers.StackedBiLSTM: ["inputs", "mask", "training"],
}

STATES = (None, None, 4)
ROWS = (None, 2, 4)
SHAPES = [
    (layers.StructuredSelfAttention, (7, 2), STATES, (None, 2, 4)),
    (layers.GeneralizedPooling, (7, 2), STATES, (None, 2, 4)),
    (layers.DecomposableAttention, ([6], [8, 9]), [STATES] * 2, (None, 18)),
    (layers.IntraSentenceAttention, ([6],), STATES, (None, None, 8)),
    (layers.PrunedDense, (5, 6), ROWS, ((None, 2, 5), (None, 4, 6))),
    (layers.PrunedDense, (None, 6), ROWS, (None, 4, 6)),
    (layers.GatedEncoder, (5,), [ROWS] * 2, (None, 2, 5)),
    (layers.MaskedMaxPooling, (), STATES, (None, 4)),
    (layers.MaskedMeanPooling, (), STATES, (None, 4)),
    (layers.LastPooling, (), STATES, (None, 4)),
    (
        layers.CharacterCNN,
        (9, 3, 7, [2, 5]),
        (None, None, None),
        (None, None, 14),
    ),
    (layers.StackedBiLSTM, ([3, 5],), STATES, (None, None, 10)),
    (layers.MaskedConv1D, (5, 3), STATES, (None, None, 5)),
]


def named(function):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }


@pytest.mark.parametrize("made", CONSTRUCTORS)
def test_arguments_of_constructors(made):
    # In a list, as dictionaries of another order are equal.
    assert list(named(made).items()) == list(CONSTRUCTORS[made].items())


@pytest.mark.parametrize("layer", CALLS)
def test_arguments_of_calls(layer):
    expected = dict.fromkeys(CALLS[layer])
    expected["inputs"] = REQUIRED
    if "return_attention_scores" in expected:
        expected["return_attention_scores"] = False
    received = named(layer.call)
    del received["self"]
    assert list(received.items()) == list(expected.items())


@pytest.mark.parametrize(("layer", "sizes", "input_shape", "expected"), SHAPES)
def test_shapes_of_any_batch_and_steps(layer, sizes, input_shape, expected):
    assert layer(*sizes).compute_output_shape(input_shape) == expected

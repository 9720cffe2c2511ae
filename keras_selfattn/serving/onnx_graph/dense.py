"""Rules of layers that see each row by itself, and of plain operations."""

import keras
import numpy as np

from keras_selfattn import layers
from keras_selfattn.serving import word_tables
from keras_selfattn.serving.onnx_graph.graph import ByWord
from keras_selfattn.serving.onnx_graph.graph import Match
from keras_selfattn.serving.onnx_graph.graph import MatchedWords
from keras_selfattn.serving.onnx_graph.graph import NoRule
from keras_selfattn.serving.onnx_graph.graph import Tensor
from keras_selfattn.serving.onnx_graph.graph import numbers


def affine(graph, inputs, kernel, bias=None, rows=slice(None)):
    """`inputs kernel[rows] + bias`, by a table where inputs are by word."""

    def has_table(words):
        if graph.is_stored(kernel):
            return False
        return word_tables.is_worth_it(words, kernel.shape[-1])

    if isinstance(inputs, MatchedWords) and has_table(inputs.count):
        inputs = graph.by_word_and_match(inputs)
    if isinstance(inputs, ByWord) and has_table(len(inputs.table)):
        table = inputs.table @ numbers(kernel)[rows]
        if bias is not None:
            table += numbers(bias)
        return graph.by_word(inputs.ids, table)

    def part(kernel):
        # The scales of whole numbers are those of all rows.
        return kernel if len(kernel) == 1 else kernel[rows]

    outputs = graph.op("MatMul", inputs, graph.weight(part, kernel))
    if bias is None:
        return outputs
    return graph.op("Add", outputs, graph.weight(_same, bias))


def activated(graph, inputs, activation):
    """The activation of a layer, a function of Keras."""
    name = getattr(activation, "__name__", None)
    if activation is None or name == "linear":
        return inputs
    if name == "relu":
        if isinstance(inputs, ByWord):
            return graph.by_word(inputs.ids, np.maximum(inputs.table, 0))
        return graph.op("Relu", inputs)
    if name == "softmax":
        return graph.op("Softmax", inputs, axis=-1)
    raise NoRule(f"the activation {name} has no rule")


def network(graph, inputs, kernels, biases):
    """ReLU layers on top of each other."""
    for kernel, bias in zip(kernels, biases, strict=True):
        inputs = affine(graph, inputs, kernel, bias)
        inputs = activated(graph, inputs, keras.activations.relu)
    return inputs


def by_group(graph, inputs, axis, kernel):
    """A product of each row, or each column, with a matrix of its own.

    Args:
        inputs: Tensor `(B, r, D)`.
        axis: 1 for rows, 2 for columns.
        kernel: Variable of as many matrices.
    """
    first = (axis, 0, 3 - axis)
    products = graph.op(
        "MatMul",
        graph.op("Transpose", inputs, perm=first),
        graph.weight(_same, kernel),
    )
    return graph.op("Transpose", products, perm=(1, 0, 2))


def _dense(graph, layer, inputs):
    outputs = affine(graph, inputs, layer.kernel, layer.bias)
    return activated(graph, outputs, layer.activation)


def _pruned(graph, layer, inputs):
    outputs = []
    for name, axis in (("row", 1), ("column", 2)):
        if getattr(layer, f"{name}_units") is None:
            continue
        products = by_group(
            graph, inputs, axis, getattr(layer, f"{name}_kernel")
        )
        bias = getattr(layer, f"{name}_bias")
        if bias is not None:
            products = graph.op("Add", products, graph.weight(_same, bias))
        outputs.append(activated(graph, products, layer.activation))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _gated(graph, layer, inputs):
    left, right = inputs
    return graph.op(
        "Mul",
        by_group(graph, left, 1, layer.left_kernel),
        by_group(graph, right, 1, layer.right_kernel),
    )


def _summed(graph, layer, inputs):
    return graph.op("Add", *inputs)


def _concatenate(graph, operation, inputs):
    joined = graph.op("Concat", *inputs, axis=operation.axis)
    if [type(each) for each in inputs] != [ByWord, Match]:
        return joined
    matched = MatchedWords(joined)
    matched.words, matched.match = inputs
    return matched


def _nothing(graph, layer, inputs):
    return inputs


def _same(array):
    return array


def _softmax(graph, layer, inputs, **options):
    if any(value is not None for value in options.values()):
        raise NoRule("Softmax with a mask has no rule")
    return graph.op("Softmax", inputs, axis=layer.axis)


def _plain(kind):
    def rule(graph, operation, *inputs):
        if not all(isinstance(each, Tensor) for each in inputs):
            raise NoRule(f"{kind} of a constant has no rule")
        return graph.op(kind, *inputs)

    return rule


RULES: dict = {
    "Absolute": _plain("Abs"),
    "Abs": _plain("Abs"),
    "Concatenate": _concatenate,
    "ExpandDims": lambda graph, operation, inputs: graph.op(
        "Unsqueeze", inputs, [operation.axis]
    ),
    "Multiply": _plain("Mul"),
    "Subtract": _plain("Sub"),
    keras.layers.Concatenate: _concatenate,
    keras.layers.Dense: _dense,
    keras.layers.Dropout: _nothing,
    keras.layers.Flatten: _plain("Flatten"),
    keras.layers.Softmax: _softmax,
    layers.Dropout: _nothing,
    layers.GatedEncoder: _gated,
    layers.PrunedDense: _pruned,
    layers.SummedLogits: _summed,
}

"""Rules of self-attention, and the softmax over steps."""

import operator

import numpy as np

from keras_selfattn import layers
from keras_selfattn.layers.masking import LOWEST
from keras_selfattn.serving.onnx_graph.dense import activated
from keras_selfattn.serving.onnx_graph.dense import affine
from keras_selfattn.serving.onnx_graph.graph import FLOAT
from keras_selfattn.serving.onnx_graph.steps import as_numbers

_LOWEST = np.float32(LOWEST)


def masked_softmax(graph, logits, mask):
    """Softmax over the last axis, exactly 0 where masked."""
    logits = graph.op("Where", mask, logits, _LOWEST)
    scores = graph.op("Softmax", logits, axis=-1)
    # Where nothing is kept, all would have the same score.
    return graph.op("Mul", scores, graph.cast(mask, FLOAT))


def _structured(graph, layer, inputs, mask, **_):
    hidden = affine(graph, inputs, layer.hidden_kernel, layer.hidden_bias)
    logits = affine(
        graph,
        graph.op("Tanh", hidden),
        layer.score_kernel,
        layer.score_bias,
    )
    scores = masked_softmax(
        graph,
        graph.op("Transpose", logits, perm=(0, 2, 1)),
        graph.op("Unsqueeze", mask, [1]),
    )
    return graph.op("MatMul", scores, inputs)


def _generalized(graph, layer, inputs, mask, **_):
    kept = graph.op("Unsqueeze", mask, [2])
    ones = as_numbers(graph, mask)
    heads = []
    for head in range(layer.num_heads):
        part = operator.itemgetter(head)
        hidden = graph.op(
            "MatMul", inputs, graph.weight(part, layer.hidden_kernel)
        )
        if layer.hidden_bias is not None:
            bias = graph.weight(part, layer.hidden_bias)
            hidden = graph.op("Add", hidden, bias)
        # The softmax cancels the bias of the scores.
        logits = graph.op(
            "MatMul",
            activated(graph, hidden, layer.activation),
            graph.weight(part, layer.score_kernel),
        )
        logits = graph.op("Where", kept, logits, _LOWEST)
        highest = graph.op("ReduceMax", logits, axes=[1], keepdims=1)
        weights = graph.op("Exp", graph.op("Sub", logits, highest))
        weights = graph.op("Mul", weights, ones)
        total = graph.op("ReduceSum", weights, [1], keepdims=1)
        weighted = graph.op("Mul", weights, inputs)
        heads.append(
            graph.op(
                "Div",
                graph.op("ReduceSum", weighted, [1], keepdims=1),
                # It is 0, and so is the sum, or at least 1.
                graph.op("Max", total, np.float32(1)),
            )
        )
    return graph.op("Concat", *heads, axis=1)


RULES: dict = {
    layers.GeneralizedPooling: _generalized,
    layers.StructuredSelfAttention: _structured,
}

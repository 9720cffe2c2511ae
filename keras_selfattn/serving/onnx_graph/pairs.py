"""Rules of layers that look at two sentences, or at one from each word."""

import numpy as np

from keras_selfattn import layers
from keras_selfattn.serving.onnx_graph import attention
from keras_selfattn.serving.onnx_graph import poolings
from keras_selfattn.serving.onnx_graph.attention import masked_softmax
from keras_selfattn.serving.onnx_graph.dense import affine
from keras_selfattn.serving.onnx_graph.dense import network
from keras_selfattn.serving.onnx_graph.graph import INTEGER
from keras_selfattn.serving.onnx_graph.graph import Match
from keras_selfattn.serving.onnx_graph.matching import matches
from keras_selfattn.serving.onnx_graph.steps import as_numbers

_POOLINGS: dict = {**attention.RULES, **poolings.RULES}


def _both_sides(graph, layer, inputs, mask, return_attention_scores=False):
    rule = _POOLINGS[type(layer.layer)]
    pooled = [
        rule(graph, layer.layer, side, side_mask)
        for side, side_mask in zip(inputs, mask, strict=True)
    ]
    if return_attention_scores:
        # Of each side the pooled states and the scores, which are not asked.
        return [(each, None) for each in pooled]
    return pooled


def _decomposable(graph, layer, inputs, mask, **_):
    attended = [network(graph, words, *layer.attend) for words in inputs]
    logits = graph.op(
        "MatMul",
        attended[0],
        graph.op("Transpose", attended[1], perm=(0, 2, 1)),
    )
    outputs = []
    for side, words in enumerate(inputs):
        other = 1 - side
        if side:
            logits = graph.op("Transpose", logits, perm=(0, 2, 1))
        # What masked words look at is left out of the sum.
        scores = masked_softmax(
            graph, logits, graph.op("Unsqueeze", mask[other], [1])
        )
        compared = _compared(
            graph, *layer.compare, words, scores, inputs[other]
        )
        kept = as_numbers(graph, mask[side], axis=1)
        outputs.append(graph.op("MatMul", kept, compared))
    return graph.op("Squeeze", graph.op("Concat", *outputs, axis=-1), [1])


def _compared(graph, kernels, biases, words, scores, others):
    """Words and their counterparts, which are sums of others, compared.

    The product of a sum is the sum of products, and those with words may be
    known for the whole vocabulary.
    """
    half = kernels[0].shape[0] // 2
    hidden = graph.op(
        "Add",
        affine(graph, words, kernels[0], biases[0], slice(half)),
        graph.op(
            "MatMul",
            scores,
            affine(graph, others, kernels[0], rows=slice(half, None)),
        ),
    )
    return network(graph, graph.op("Relu", hidden), kernels[1:], biases[1:])


def _exact_match(graph, layer, inputs):
    sides = []
    for found in matches(graph, *inputs):
        match = Match(graph.op("Unsqueeze", found, [2]))
        match.flags = graph.cast(found, INTEGER)
        sides.append(match)
    return tuple(sides)


def _intra(graph, layer, inputs, mask, **_):
    hidden = network(graph, inputs, *layer.attention)
    logits = graph.op(
        "MatMul", hidden, graph.op("Transpose", hidden, perm=(0, 2, 1))
    )
    logits = graph.op("Add", logits, _distance_biases(graph, layer, mask))
    scores = masked_softmax(graph, logits, graph.op("Unsqueeze", mask, [1]))
    aligned = graph.op("MatMul", scores, inputs)
    return graph.op("Concat", inputs, aligned, axis=-1)


def _distance_biases(graph, layer, mask):
    places = graph.op("CumSum", graph.cast(mask, INTEGER), np.int64(1))
    beyond = layer.max_distance + 1
    distances = graph.op(
        "Sub",
        graph.op("Unsqueeze", places, [2]),
        graph.op("Unsqueeze", places, [1]),
    )
    distances = graph.op(
        "Min", graph.op("Max", distances, np.int32(-beyond)), np.int32(beyond)
    )
    # The bias that all longer distances share is at both ends.
    table = graph.weight(
        lambda bias: np.concatenate([bias[-1:], bias]), layer.distance_bias
    )
    return graph.op(
        "Gather", table, graph.op("Add", distances, np.int32(beyond))
    )


RULES: dict = {
    layers.BothSides: _both_sides,
    layers.DecomposableAttention: _decomposable,
    layers.ExactMatch: _exact_match,
    layers.IntraSentenceAttention: _intra,
}

"""Rules of what makes vectors of words."""

import numpy as np

from keras_selfattn import layers
from keras_selfattn.serving.onnx_graph.graph import FLOAT
from keras_selfattn.serving.onnx_graph.graph import numbers
from keras_selfattn.serving.onnx_graph.steps import convolved


def _word_vectors(graph, layer, ids):
    if layer.quantization_mode is None:
        return graph.by_word(ids, _without_padding(numbers(layer.embeddings)))
    table, scale = layer.get_weights()
    vectors = graph.op("Gather", graph.constant(_without_padding(table)), ids)
    factors = graph.op("Gather", (1 / scale[:, None]).astype("float32"), ids)
    return graph.op("Mul", graph.cast(vectors, FLOAT), factors)


def _characters(graph, layer, ids):
    table = graph.weight(_without_padding, layer.embeddings)
    embedded = graph.op("Gather", table, ids)
    is_character = graph.op(
        "Unsqueeze",
        graph.op("Not", graph.op("Equal", ids, np.int32(0))),
        [3],
    )
    parts = []
    for kernel, bias in zip(layer.kernels, layer.biases, strict=True):
        windows = graph.op(
            "Add",
            convolved(graph, embedded, kernel, 4),
            graph.weight(lambda bias: bias, bias),
        )
        windows = graph.op("Where", is_character, windows, np.float32(0))
        highest = graph.op("ReduceMax", windows, axes=[2], keepdims=0)
        parts.append(graph.op("Relu", highest))
    return graph.op("Concat", *parts, axis=-1)


def _without_padding(table):
    """A table whose row of padding is zero."""
    table = table.copy()
    table[0] = 0
    return table


RULES = {
    layers.CharacterCNN: _characters,
    layers.WordEmbedding: _word_vectors,
}

"""Rules of what makes vectors of words."""

import numpy as np
from onnx import TensorProto

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
    shape = graph.op("Shape", ids)
    steps = graph.op("Slice", shape, [0], [2])
    words = graph.op("Cast", ids, to=TensorProto.INT64)
    words = graph.op(
        "Reshape",
        words,
        graph.op("Concat", [-1], graph.op("Slice", shape, [2], [3]), axis=0),
    )
    # Words that repeat are encoded once, and so is padding.
    words, _, places, _ = graph.op("Unique", words, axis=0, outputs=4)
    features = graph.op("Gather", _encoded(graph, layer, words), places)
    width = layer.filters * len(layer.kernel_sizes)
    return graph.op(
        "Reshape", features, graph.op("Concat", steps, [width], axis=0)
    )


def _encoded(graph, layer, words):
    """The features `(words, D)` of words of ids `(words, characters)`."""
    table = graph.weight(_without_padding, layer.embeddings)
    embedded = graph.op("Gather", table, words)
    is_character = graph.op("Not", graph.op("Equal", words, np.int64(0)))
    is_character = graph.op("Unsqueeze", is_character, [2])
    parts = []
    for kernel, bias in zip(layer.kernels, layer.biases, strict=True):
        windows = graph.op(
            "Add",
            convolved(graph, embedded, kernel),
            graph.weight(lambda bias: bias, bias),
        )
        windows = graph.op("Where", is_character, windows, np.float32(0))
        highest = graph.op("ReduceMax", windows, axes=[1], keepdims=0)
        parts.append(graph.op("Relu", highest))
    return graph.op("Concat", *parts, axis=-1)


def _without_padding(table):
    """A table whose row of padding is zero."""
    table = table.copy()
    table[0] = 0
    return table


RULES: dict = {
    layers.CharacterCNN: _characters,
    layers.WordEmbedding: _word_vectors,
}

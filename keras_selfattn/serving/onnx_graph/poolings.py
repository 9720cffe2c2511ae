"""Rules of poolings without weights."""

import numpy as np

from keras_selfattn import layers
from keras_selfattn.serving.onnx_graph.graph import FLOAT
from keras_selfattn.serving.onnx_graph.steps import as_numbers


def _max(graph, layer, inputs, mask, **_):
    kept = graph.op("Unsqueeze", mask, [2])
    candidates = graph.op("Where", kept, inputs, np.float32(-np.inf))
    highest = graph.op("ReduceMax", candidates, axes=[1], keepdims=0)
    # Of a row without candidates it is minus infinity.
    count = _count(graph, mask)
    some = graph.op("Greater", count, np.float32(0))
    return graph.op("Where", some, highest, np.float32(0))


def _mean(graph, layer, inputs, mask, **_):
    kept = graph.op("Mul", inputs, as_numbers(graph, mask))
    total = graph.op("ReduceSum", kept, [1], keepdims=0)
    count = graph.op("Max", _count(graph, mask), np.float32(1))
    return graph.op("Div", total, count)


def _last(graph, layer, inputs, mask, **_):
    ones = graph.cast(mask, FLOAT)
    place = graph.op("CumSum", ones, np.int64(1))
    first = graph.op("Equal", place, np.float32(1))
    last = graph.op("Equal", place, _count(graph, mask))
    halves = graph.op("Split", inputs, axis=2, outputs=2)
    ends = []
    for half, end in zip(halves, (last, first), strict=True):
        kept = graph.op("Mul", graph.cast(end, FLOAT), ones)
        state = graph.op("Mul", half, graph.op("Unsqueeze", kept, [2]))
        ends.append(graph.op("ReduceSum", state, [1], keepdims=0))
    return graph.op("Concat", *ends, axis=1)


def _count(graph, mask):
    """The kept steps of each row, `(B, 1)`."""
    return graph.op("ReduceSum", graph.cast(mask, FLOAT), [1], keepdims=1)


RULES: dict = {
    layers.LastPooling: _last,
    layers.MaskedMaxPooling: _max,
    layers.MaskedMeanPooling: _mean,
}

"""Which words of two texts are the same."""

import numpy as np

from keras_selfattn.layers.exact_match import UNKNOWN
from keras_selfattn.serving.onnx_graph.graph import FLOAT


def matches(graph, premise, hypothesis):
    """For each word of either text 1.0 where the other has it, else 0.0."""
    premise = graph.op("Unsqueeze", premise, [2])
    same = graph.op(
        "And",
        graph.op("Equal", premise, graph.op("Unsqueeze", hypothesis, [1])),
        graph.op("Greater", premise, np.int32(UNKNOWN)),
    )
    # Of integers OpenVINO adds the highest to others wrongly.
    same = graph.cast(same, FLOAT)
    return [
        graph.op("ReduceMax", same, axes=[axis], keepdims=0) for axis in (2, 1)
    ]

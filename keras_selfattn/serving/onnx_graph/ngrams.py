"""The rule of the logits of n-grams."""

import numpy as np

from keras_selfattn import layers
from keras_selfattn.layers.ngram_layer import MULTIPLIER
from keras_selfattn.serving.onnx_graph.graph import FLOAT
from keras_selfattn.serving.onnx_graph.graph import INTEGER
from keras_selfattn.serving.onnx_graph.graph import Tensor
from keras_selfattn.serving.onnx_graph.matching import matches

_END = 2**31 - 1


def _of_text(graph, layer, inputs, return_shares=False):
    is_single = isinstance(inputs, Tensor)
    words, *characters = _as_given(graph, [inputs] if is_single else inputs)
    kinds = [(size, words, 1) for size in layer.word_ngrams]
    for ids in characters:
        spelled = _with_ends(graph, words, ids)
        kinds += [(size, spelled, 2) for size in layer.character_ngrams]
    return _logits(graph, layer, kinds, return_shares)


def _of_pair(graph, layer, inputs, return_shares=False):
    premise, hypothesis = _as_given(graph, inputs)
    _, match = matches(graph, premise, hypothesis)
    match = graph.cast(match, INTEGER)
    words = graph.op("Add", graph.op("Mul", hypothesis, np.int32(2)), match)
    zero = np.int32(0)
    pattern = graph.op(
        "Where",
        graph.op("Equal", hypothesis, zero),
        zero,
        graph.op("Add", match, np.int32(1)),
    )
    kinds = [
        *((size, words, 1) for size in layer.word_ngrams),
        *((size, pattern, 1) for size in layer.match_ngrams),
    ]
    return _logits(graph, layer, kinds, return_shares)


def _as_given(graph, inputs):
    # What stands between two words parts them, so their places matter.
    return [graph.as_given.get(ids, ids) for ids in inputs]


def _logits(graph, layer, kinds, return_shares):
    """The logits of n-grams of kinds: a length, ids, and their axis."""
    rows, there = zip(
        *(
            _hash(graph, layer.num_buckets, kind, *what)
            for kind, what in enumerate(kinds, start=1)
        ),
        strict=True,
    )
    rows = graph.op("Concat", *rows, axis=1)
    there = graph.op("Concat", *there, axis=1)
    shares = graph.op(
        "Where",
        graph.op("Unsqueeze", there, [2]),
        graph.rows(layer.table, rows),
        np.float32(0),
    )
    count = graph.op("ReduceSum", graph.cast(there, FLOAT), [1], keepdims=1)
    root = graph.op("Sqrt", graph.op("Max", count, np.float32(1)))
    total = graph.op("ReduceSum", shares, [1], keepdims=0)
    logits = graph.op("Div", total, root)
    # No answer needs the shares.
    return (logits, None) if return_shares else logits


def _hash(graph, num_buckets, kind, size, ids, axis):
    """The rows of the runs of `size` ids, and where there are such."""
    pads = [0] * (2 * (axis + 1))
    pads[-1] = size - 1
    padded = graph.op("Pad", ids, pads) if size > 1 else ids
    rows, shortest = np.int32(kind), np.int32(1)
    for first in range(size):
        end = first - size + 1 or _END
        taken = graph.op("Slice", padded, [first], [end], [axis])
        times = (
            rows * np.int32(MULTIPLIER)
            if not first
            else graph.op("Mul", rows, np.int32(MULTIPLIER))
        )
        rows = graph.op(
            "Mod", graph.op("Add", times, taken), np.int32(num_buckets)
        )
        shortest = graph.op("Min", shortest, taken)
    there = graph.op("Not", graph.op("Equal", shortest, np.int32(0)))
    return graph.op("Flatten", rows), graph.op("Flatten", there)


def _with_ends(graph, words, ids):
    """Character ids from 2 up, with 1 before and after each word."""
    zero = np.int32(0)
    is_word = graph.op("Not", graph.op("Equal", words, zero))
    has = graph.op(
        "And",
        graph.op("Unsqueeze", is_word, [2]),
        graph.op("Not", graph.op("Equal", ids, zero)),
    )
    more = graph.op("Add", ids, np.int32(1))
    ids = graph.op("Where", has, more, zero)
    ids = graph.op("Pad", ids, [0, 0, 1, 0, 0, 1])
    has = graph.op("Pad", graph.cast(has, INTEGER), [0, 0, 2, 0, 0, 2])
    beside = graph.op(
        "Max",
        graph.op("Slice", has, [2], [_END], [2]),
        graph.op("Slice", has, [0], [-2], [2]),
    )
    return graph.op("Where", graph.op("Equal", ids, zero), beside, ids)


RULES: dict = {
    layers.NGramLogits: _of_text,
    layers.PairNGramLogits: _of_pair,
}

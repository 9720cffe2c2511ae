"""Rules of layers along the steps of a sentence, and of masks."""

import numpy as np

from keras_selfattn import layers
from keras_selfattn.serving.onnx_graph.dense import activated
from keras_selfattn.serving.onnx_graph.graph import FLOAT
from keras_selfattn.serving.onnx_graph.graph import INTEGER
from keras_selfattn.serving.onnx_graph.graph import ByWord
from keras_selfattn.serving.onnx_graph.graph import NoRule

# What closes a gate: its sigmoid is 0.
_CLOSED = -1e4


def as_numbers(graph, mask, axis=2):
    """A mask `(B, n)` as zeros and ones, with a further axis of 1."""
    return graph.op("Unsqueeze", graph.cast(mask, FLOAT), [axis])


def zero_masked(graph, inputs, mask):
    """Inputs `(B, n, D)` with zeros at masked steps, whatever these hold."""
    kept = graph.op("Unsqueeze", mask, [2])
    return graph.op("Where", kept, inputs, np.float32(0))


def padding_last(graph, ids, words):
    """The ids of a sentence with all padding moved behind its words.

    ONNX's `LSTM` takes it there. Keras passes over padding wherever it is:
    its states, at the words, are the same.

    Args:
        graph: A `Graph`.
        ids: Dictionary of tensors `(B, n)` or `(B, n, characters)`.
        words: The name of those that are 0 where there is padding.

    Returns:
        A dictionary of tensors of the same shapes.
    """
    zero, one = np.int64(0), np.int64(1)
    shape = graph.op("Shape", ids[words])
    steps = graph.op("Gather", shape, one)
    places = graph.op("Range", zero, steps, one)
    padding = graph.op("Equal", ids[words], np.int32(0))
    keys = graph.op("Add", places, graph.op("Where", padding, steps, zero))
    order = graph.op(
        "TopK",
        keys,
        graph.op("Unsqueeze", steps, [0]),
        axis=1,
        largest=0,
        outputs=2,
    )[1]
    moved = {}
    for name, tensor in ids.items():
        places = order
        if name != words:
            places = graph.op(
                "Expand",
                graph.op("Unsqueeze", order, [2]),
                graph.op("Shape", tensor),
            )
        moved[name] = graph.op("GatherElements", tensor, places, axis=1)
    return moved


def _not_equal(graph, operation, left, right):
    if right != 0:
        raise NoRule(f"NotEqual of {right} has no rule")
    return graph.op("Not", graph.op("Equal", left, np.int32(0)))


def _bilstm(graph, layer, inputs, mask):
    # ONNX's `LSTM` has the steps before the rows.
    if isinstance(inputs, ByWord):
        ids = graph.op("Transpose", inputs.ids, perm=(1, 0))
        words = graph.by_word(ids, inputs.table)
    else:
        words = graph.op("Transpose", inputs, perm=(1, 0, 2))
    lengths = padding = None
    if graph.gives_lengths:
        lengths = graph.cast(mask, INTEGER)
        lengths = graph.op("ReduceSum", lengths, [1], keepdims=0)
    else:
        padding = graph.cast(graph.op("Not", mask), FLOAT)
        padding = graph.op("Transpose", padding, perm=(1, 0))
        padding = graph.op("Unsqueeze", padding, [2])
    states, last = None, len(layer.directions) - 1
    for number, (direction, units) in enumerate(
        zip(layer.directions, layer.units, strict=True)
    ):
        below = [words] if states is None or layer.shortcut else []
        below += [x for x in (states, padding) if x is not None]
        made = graph.op(
            "LSTM",
            graph.op("Concat", *below, axis=2) if below[1:] else below[0],
            *_lstm_weights(graph, direction, units),
            lengths,
            hidden_size=units,
            direction="bidirectional",
        )
        # From (n, 2, B, units); the last layer puts rows first again.
        order = (2, 0, 1, 3) if number == last else (0, 2, 1, 3)
        states = graph.op(
            "Reshape",
            graph.op("Transpose", made, perm=order),
            [0, 0, 2 * units],
        )
    return states


def _lstm_weights(graph, direction, units):
    both = [
        layer.weights
        for layer in (direction.forward_layer, direction.backward_layer)
    ]
    kernels, recurrent_kernels, biases = zip(*both, strict=True)
    kernels = graph.weight(_of_gates, *kernels)
    if not graph.gives_lengths:
        # Padding, a last feature of 1, closes the gates of input and output.
        column = np.zeros((2, 4 * units, 1), "float32")
        column[:, : 2 * units] = _CLOSED
        kernels = graph.op("Concat", kernels, column, axis=2)
    return (
        kernels,
        graph.weight(_of_gates, *recurrent_kernels),
        graph.weight(_two_biases, *biases),
    )


def _of_gates(*kernels):
    return np.stack([_in_order(kernel).T for kernel in kernels])


def _two_biases(*biases):
    # ONNX has one for each of the two products.
    biases = np.stack([_in_order(bias) for bias in biases])
    return np.concatenate([biases, np.zeros_like(biases)], axis=-1)


def _in_order(weights):
    """The gates in ONNX's order: input, output, forget, candidate."""
    inputs, forget, candidate, output = np.split(weights, 4, axis=-1)
    return np.concatenate([inputs, output, forget, candidate], axis=-1)


def convolved(graph, inputs, kernel):
    """A convolution over the steps, of the same length.

    The windows are put side by side, for one product.

    Args:
        graph: A `Graph`.
        inputs: Tensor `(B, n, D)`.
        kernel: Variable `(size, D, filters)`.
    """
    size, features, filters = kernel.shape
    before = (size - 1) // 2
    pads = [0, before, 0, 0, size - 1 - before, 0]
    padded = graph.op("Pad", inputs, pads) if size > 1 else inputs
    windows = [
        graph.op(
            "Slice",
            padded,
            [place],
            [place + 1 - size if place + 1 < size else 2**31 - 1],
            [1],
        )
        for place in range(size)
    ]
    if size > 1:
        windows = [graph.op("Concat", *windows, axis=-1)]

    def stacked(kernel):
        # The scales of whole numbers have a single row for all features.
        shape = (size, features, filters)
        return np.broadcast_to(kernel, shape).reshape(-1, filters)

    weights = graph.weight(stacked, kernel)
    return graph.op("MatMul", windows[0], weights)


def _convolution(graph, layer, inputs, mask):
    inputs = zero_masked(graph, inputs, mask)
    outputs = convolved(graph, inputs, layer.kernel)
    bias = graph.weight(lambda bias: bias, layer.bias)
    outputs = activated(graph, graph.op("Add", outputs, bias), layer.activation)
    return zero_masked(graph, outputs, mask)


RULES: dict = {
    layers.MaskedConv1D: _convolution,
    "NotEqual": _not_equal,
    layers.StackedBiLSTM: _bilstm,
}

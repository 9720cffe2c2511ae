"""An ONNX graph while it is being made."""

import keras
import numpy as np
import onnx
from onnx import TensorProto
from onnx import helper
from onnx import numpy_helper

# What all ops here are in, and old runtimes know.
_OPSET = 17
_IR_VERSION = 8

BOOLEAN, FLOAT, INTEGER = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT32


class NoRule(ValueError):
    """There is no rule for a part of a model."""


class Tensor(str):
    """The name of a tensor in a graph."""


class ByWord(Tensor):
    """A tensor `(B, n, D)` whose steps depend on the id of a word alone.

    Attributes:
        ids: The `Tensor` of the ids `(B, n)`.
        table: The float32 array of a row for each id.
    """


class Match(Tensor):
    """A tensor `(B, n, 1)` of zeros and ones.

    Attributes:
        flags: The `Tensor` of the same as int32 `(B, n)`.
    """


class MatchedWords(Tensor):
    """A tensor `(B, n, D)` of words whose last feature is a match.

    Attributes:
        words: The `ByWord` tensor of the other features.
        match: The `Match`.
    """

    @property
    def count(self):
        """How many words there are, matched and not."""
        return 2 * len(self.words.table)


class Graph:
    """Nodes and constants, each of them once.

    Args:
        stored: List of pairs of a `keras.Variable` and the
            `StoredWeight` of whole numbers and scales that is written for it.
        gives_lengths: Boolean, whether `LSTM` is told the length of each row.

    Attributes:
        as_given: Dictionary from ids whose padding has been moved to the ids
            as they came.
    """

    def __init__(self, stored=(), gives_lengths=True):
        self.gives_lengths = gives_lengths
        self.as_given = {}
        self._stored = {id(weight): kept for weight, kept in stored}
        self._nodes = []
        self._constants = {}
        self._made = {}
        self.inputs = []

    def input(self, name, axes):
        """An int32 input, with the name or the size of each axis."""
        self.inputs.append(
            helper.make_tensor_value_info(name, TensorProto.INT32, axes)
        )
        return Tensor(name)

    def op(self, kind, *inputs, **attributes):
        """The first output of a node.

        Args:
            kind: The name of the ONNX op.
            *inputs: Tensors, arrays, `None` where an optional one is left
                out, or lists of integers, which become int64.
            **attributes: Those of the op, and as `outputs` their number.
        """
        outputs = attributes.pop("outputs", 1)
        names = [self._name(value) for value in inputs]
        key = repr((kind, names, sorted(attributes.items()), outputs))
        if key not in self._made:
            made = [
                Tensor(f"{kind}_{len(self._nodes)}_{i}") for i in range(outputs)
            ]
            self._nodes.append(
                helper.make_node(kind, names, made, **attributes)
            )
            self._made[key] = made
        made = self._made[key]
        return made[0] if outputs == 1 else made

    def cast(self, tensor, to):
        return self.op("Cast", tensor, to=to)

    def weight(self, arrange, *variables):
        """Variables as one constant.

        Args:
            arrange: Function of their arrays that only moves numbers about,
                along axes that the scales of whole numbers have too.
            *variables: Keras variables.
        """
        kept = [self._stored.get(id(variable)) for variable in variables]
        if None in kept:
            return self.constant(arrange(*map(numbers, variables)))
        values, scales = zip(*[each.variables for each in kept], strict=True)
        values = arrange(*[np.asarray(each) for each in values])
        scales = arrange(*[np.asarray(each) for each in scales])
        return self.op("Mul", self.cast(self.constant(values), FLOAT), scales)

    def rows(self, variable, places):
        """Rows of a matrix, whose scales are those of its columns."""
        kept = self._stored.get(id(variable))
        if kept is None:
            return self.op("Gather", numbers(variable), places)
        values, scales = map(np.asarray, kept.variables)
        found = self.op("Gather", values, places)
        return self.op("Mul", self.cast(found, FLOAT), scales)

    def is_stored(self, variable):
        return id(variable) in self._stored

    def constant(self, array):
        array = np.asarray(array, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = f"constant_{len(self._constants)}"
        return Tensor(self._constants[key])

    def by_word(self, ids, table):
        """The `ByWord` tensor of ids and a table."""
        tensor = ByWord(self.op("Gather", self.constant(table), ids))
        tensor.ids, tensor.table = ids, table
        return tensor

    def by_word_and_match(self, matched):
        """The `ByWord` tensor of matched words, whose table has each twice."""
        table = matched.words.table
        further = self.op("Mul", matched.match.flags, np.int32(len(table)))
        flags = np.repeat([[0], [1]], len(table), axis=0).astype("float32")
        return self.by_word(
            self.op("Add", matched.words.ids, further),
            np.concatenate([np.concatenate([table, table]), flags], axis=1),
        )

    def model(self, name, output, axes):
        """The `onnx.ModelProto` of what an output needs.

        Args:
            name: The name of the graph.
            output: The `Tensor` that becomes the output `probabilities`.
            axes: The names or sizes of its axes.
        """
        last = helper.make_node("Identity", [output], ["probabilities"])
        needed, nodes = set(last.input), [last]
        for node in reversed(self._nodes):
            if needed & set(node.output):
                needed |= set(node.input)
                nodes.append(node)
        arrays = [
            numpy_helper.from_array(
                np.frombuffer(data, dtype).reshape(shape), constant
            )
            for (dtype, shape, data), constant in self._constants.items()
            if constant in needed
        ]
        graph = helper.make_graph(
            nodes[::-1],
            name,
            self.inputs,
            [
                helper.make_tensor_value_info(
                    "probabilities", TensorProto.FLOAT, axes
                )
            ],
            arrays,
        )
        made = helper.make_model(
            graph,
            producer_name="keras_selfattn",
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
        )
        onnx.checker.check_model(made)
        return made

    def _name(self, value):
        if value is None:
            return ""
        if isinstance(value, Tensor):
            return str(value)
        if isinstance(value, list):
            value = np.array(value, "int64")
        return str(self.constant(value))


def numbers(variable):
    """The float32 array of a variable."""
    return np.asarray(keras.ops.convert_to_numpy(variable), "float32")

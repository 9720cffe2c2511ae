"""From a classifier to the ONNX graph of its answers."""

import inspect

import keras
import onnx

from keras_selfattn.layers import StackedBiLSTM
from keras_selfattn.private_names import run_graph
from keras_selfattn.serving.checks import compute_types
from keras_selfattn.serving.onnx_graph import attention
from keras_selfattn.serving.onnx_graph import dense
from keras_selfattn.serving.onnx_graph import ngrams
from keras_selfattn.serving.onnx_graph import pairs
from keras_selfattn.serving.onnx_graph import poolings
from keras_selfattn.serving.onnx_graph import steps
from keras_selfattn.serving.onnx_graph import words
from keras_selfattn.serving.onnx_graph.graph import Graph
from keras_selfattn.serving.onnx_graph.graph import NoRule
from keras_selfattn.serving.reduced_classifier import ReducedClassifier

_RULES: dict = {
    kind: rule
    for module in (attention, dense, ngrams, pairs, poolings, steps, words)
    for kind, rule in module.RULES.items()
}


def translate(
    model: keras.Model, gives_lengths: bool = True
) -> onnx.ModelProto:
    """The `onnx.ModelProto` of a classifier, which computes in float32.

    Args:
        model: A classifier.
        gives_lengths: Boolean, whether `LSTM` is told the length of each row.
            Otherwise its inputs have a feature that is 1 at padding.

    Raises:
        NoRule: if it has a layer, or computes in a type, that has none.
    """
    # For float64, runtimes lack ops.
    if not compute_types(model) <= {"float32", "float64"}:
        raise NoRule(f"{model.name} computes in {compute_types(model)}")
    stored = ()
    if isinstance(model, ReducedClassifier):
        stored = model.stored_weights()
    graph = Graph(stored, gives_lengths)
    inputs = {}
    for side in model.sides:
        mine = {
            name: graph.input(name, _axes(side, ids))
            for name, ids in model.input.items()
            if name.removeprefix(side) in ("token_ids", "char_ids")
        }
        if StackedBiLSTM in map(type, model.layers):
            moved = steps.padding_last(graph, mine, f"{side}token_ids")
            graph.as_given |= {moved[name]: mine[name] for name in mine}
            mine = moved
        inputs |= mine
    if inputs.keys() != model.input.keys():
        raise NoRule(f"{model.name} has the inputs {sorted(model.input)}")

    def by_rule(operation):
        kind = type(operation)
        # The classes of what is no layer have no public names.
        is_layer = isinstance(operation, keras.layers.Layer)
        rule = _RULES.get(kind if is_layer else kind.__name__)
        if rule is None:
            raise NoRule(f"{kind.__name__} has no rule")

        def run(*args, training=None, **kwargs):
            if "mask" in inspect.signature(rule).parameters:
                masks = keras.tree.flatten(kwargs.get("mask"))
                if any(mask is None for mask in masks):
                    raise NoRule(f"{kind.__name__} without a mask has no rule")
            return rule(graph, operation, *args, **kwargs)

        return run

    # A classifier itself would make the graph of a clone.
    function = keras.Function(model.input, model.output)
    output = run_graph(function, inputs, by_rule)
    if model.gives_logits:
        output = graph.op("Softmax", output, axis=-1)
    return graph.model(model.name, output, ("batch", len(model.labels)))


def _axes(side, ids):
    axes = ["batch", f"{side}words"]
    if len(ids.shape) == 3:
        axes.append(f"{side}characters")
    return axes

"""Models that only answer, compiled in the way that suits each backend.

TensorFlow has one graph for batches of all sizes and lengths, from the second
batch on: making it takes longer than answering the first without. JAX compiles
anew for each shape, so texts are padded to one of a few lengths. torch runs
the layers as they are.
"""

import functools
import itertools
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_selfattn.data.plan import padded_lengths


def probabilities(model: keras.Model) -> Callable:
    """A function that gives class probabilities, also of a model of logits.

    It is kept with the model for later calls.

    Returns:
        A function of a dictionary of the model's inputs, which returns a
        float32 array of shape `(B, num_classes)`.
    """

    def answer(inputs):
        return as_probabilities(model, model(inputs, training=False))

    return kept(model, "probabilities", lambda: answer)


def explanations(model: keras.Model) -> Callable:
    """A function that gives class probabilities and attention scores.

    It is kept with the model for later calls.

    Returns:
        A function of a dictionary of the model's inputs, which returns what
        `explanation_model` does as float32 arrays, with probabilities in the
        place of logits. The scores may be of more padding than the inputs.
    """

    def make():
        view = model.explanation_model()

        def explain(inputs):
            views = view(inputs, training=False)
            views["outputs"] = as_probabilities(model, views["outputs"])
            return keras.tree.map_structure(_to_float32, views)

        return explain

    return kept(model, "explanations", make)


def embeddings(model: keras.Model) -> Callable:
    """A function that gives sentence embeddings.

    It is kept with the model for later calls.

    Args:
        model: A classifier, or one of reduced precision.

    Returns:
        A function of a dictionary of the model's inputs, which returns what
        `embedding_model` does as float32 arrays.
    """

    def make():
        view = model.embedding_model()

        def embed(inputs):
            outputs = view(inputs, training=False)
            return keras.tree.map_structure(_to_float32, outputs)

        return embed

    return kept(model, "embeddings", make)


def ngram_shares(model: keras.Model) -> Callable:
    """A function that gives each n-gram's share of each logit.

    It is kept with the model for later calls.

    Returns:
        A function of a dictionary of the model's inputs, which returns what
        `ngram_model` does as a float32 array. On JAX `n` may be larger in it
        than in the inputs.
    """

    def make():
        view = model.ngram_model()

        def share(inputs):
            return _to_float32(view(inputs, training=False))

        return share

    return kept(model, "ngram_shares", make)


def views(
    model: keras.Model,
    answers: bool = False,
    embeddings: bool = False,
    attention: bool = False,
) -> Callable:
    """A function that gives some views of a model from one pass.

    It is kept with the model for later calls.

    Args:
        model: A classifier.
        answers: Boolean, whether the class probabilities are wanted.
        embeddings: Boolean, whether the sentence embeddings are.
        attention: Boolean, whether the attention scores are.

    Returns:
        A function of a dictionary of the model's inputs, which returns a
        dictionary of float32 arrays: what `explanations` gives and, as
        `"sentence_embedding"`, what `embeddings` does, as far as wanted.
    """

    def make():
        wanted = {}
        if attention:
            wanted = dict(model.explanation_model().output)
            wanted.pop("outputs")
        if answers:
            wanted["outputs"] = model.output
        if embeddings:
            wanted["sentence_embedding"] = model.embedding_model().output
        view = keras.Model(model.input, wanted, name="views")

        def look(inputs):
            found = view(inputs, training=False)
            if answers:
                found["outputs"] = as_probabilities(model, found["outputs"])
            return keras.tree.map_structure(_to_float32, found)

        return look

    return kept(model, ("views", answers, embeddings, attention), make)


def as_probabilities(model: keras.Model, outputs: Any) -> Any:
    """What a classifier gives, as float32 probabilities."""
    outputs = _to_float32(outputs)
    return ops.softmax(outputs) if model.gives_logits else outputs


def _to_float32(tensor):
    return ops.cast(tensor, "float32")


def kept(
    model: keras.Model, name: Any, make: Callable[[], Callable]
) -> Callable:
    """A `function` of the model's inputs, kept with the model.

    Args:
        model: A `keras.Model` of a dictionary of ids.
        name: What the function is kept as, a key of a dictionary.
        make: Function that returns the function to compile.
    """
    # A model that was quantized since has other weights.
    weights = list(model.weights)
    known = vars(model).get("_inference", {})
    before, run = known.get(name, ((), None))
    if run is None or list(map(id, before)) != list(map(id, weights)):
        run = function(make(), model.input, weights)
        # Keras tracks what is set as an attribute, and would export it.
        vars(model)["_inference"] = {**known, name: (weights, run)}
    return run


def function(call: Callable, inputs: Mapping, variables: Sequence) -> Callable:
    """A function of ids, compiled.

    Args:
        call: Function of a dictionary of tensors, which returns tensors in
            any structure.
        inputs: Dictionary of the `keras.KerasTensor`s that stand for them:
            ids of shape `(B, n)` or `(B, n, characters)`, padded with 0.
        variables: List of all Keras variables that `call` reads.

    Returns:
        A function of a dictionary of arrays or tensors, which returns NumPy
        arrays in the same structure. On JAX `n` may be larger in them than
        in the arguments.
    """
    make = {"tensorflow": _graph, "jax": _jitted, "torch": _without_gradients}
    run = make[keras.backend.backend()](call, inputs, variables)

    def to_numpy(inputs):
        outputs = run(inputs)
        return keras.tree.map_structure(ops.convert_to_numpy, outputs)

    return to_numpy


def _graph(call, inputs, variables):
    import tensorflow as tf

    # One graph for all lengths.
    signature = {
        name: tf.TensorSpec([None, None, *ids.shape[2:]], ids.dtype)
        for name, ids in inputs.items()
    }
    graph = tf.function(call, input_signature=[signature], autograph=False)
    # TensorFlow would warn of retracing if many models called `graph` itself.
    made = functools.cache(graph.get_concrete_function)
    calls = itertools.count()

    def run(inputs):
        tensors = {k: ops.convert_to_tensor(ids) for k, ids in inputs.items()}
        return made()(tensors) if next(calls) else call(tensors)

    return run


def _jitted(call, inputs, variables):
    import jax

    @jax.jit
    def run(values, inputs):
        with keras.StatelessScope(list(zip(variables, values, strict=True))):
            return call(inputs)

    return lambda inputs: run([v.value for v in variables], padded(inputs))


def _without_gradients(call, inputs, variables):
    import torch

    def run(inputs):
        with torch.no_grad():
            return call(
                {k: ops.convert_to_tensor(ids) for k, ids in inputs.items()}
            )

    return run


def padded(features: dict) -> dict:
    """Ids padded to one of a few lengths where each costs a compilation.

    Args:
        features: Dictionary of integer arrays `(B, n)` or `(B, n, c)`.

    Returns:
        The same on other backends than JAX.
    """
    return features if keras.backend.backend() != "jax" else wider(features)


def wider(features: Mapping) -> dict:
    """Ids padded to one of the few lengths that batches of texts have.

    Args:
        features: Dictionary of integer arrays or tensors `(B, n)` or
            `(B, n, c)`.

    Returns:
        A dictionary of NumPy arrays.
    """
    longer = {}
    for name, ids in features.items():
        ids = np.asarray(ids)
        more = int(padded_lengths(ids.shape[1])) - ids.shape[1]
        widths = [
            (0, more) if axis == 1 else (0, 0) for axis in range(ids.ndim)
        ]
        longer[name] = np.pad(ids, widths)
    return longer


def padded_rows(count: int) -> int:
    """A number of rows, `count` or more, of few where each is compiled."""
    if keras.backend.backend() != "jax":
        return count
    return int(padded_lengths(count))

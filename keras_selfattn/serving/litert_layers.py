"""Layers for LiteRT: LSTMs as one lean loop, and characters of words alone.

The loop of Keras keeps states in lists, which LiteRT's converter takes only
where the number of rows is known, and multiplies the inputs step by step.
"""

import functools

import numpy as np
import tensorflow as tf
from keras import ops

from keras_selfattn.layers import CharacterCNN
from keras_selfattn.layers import StackedBiLSTM
from keras_selfattn.layers import WordEmbedding
from keras_selfattn.layers.ngram_layer import NGramLayer
from keras_selfattn.private_names import run_graph
from keras_selfattn.serving import word_tables

# What closes a gate: its sigmoid is 0.
_CLOSED = -1e4
# The steps of one turn of the loop, because each turn copies all states.
_BLOCK = 4


def answer(model, sides, ids):
    """The outputs of a model of ids, with the layers of this module.

    Args:
        model: A `keras.Model`, not a classifier.
        sides: Tuple of what the names of each sentence's ids begin with.
        ids: Dictionary of its inputs.
    """
    moved = ids
    if any(type(layer) is StackedBiLSTM for layer in model.layers):
        moved = {}
        for side in sides:
            mine = {n: x for n, x in ids.items() if n.startswith(side)}
            moved |= padding_last(mine, f"{side}token_ids")
    as_given = {moved[name].ref(): ids[name] for name in ids}
    return run_graph(model, moved, _Layers(as_given))


def padding_last(ids, words):
    """The ids of a sentence with all padding moved behind its words.

    Keras passes over padding wherever it is: the states at the words are the
    same.

    Args:
        ids: Dictionary of tensors `(B, n)` or `(B, n, characters)`.
        words: The name of those that are 0 where there is padding.

    Returns:
        A dictionary of tensors of the same shapes.
    """
    steps = tf.shape(ids[words])[1]
    padding = tf.cast(tf.equal(ids[words], 0), tf.int32)
    order = tf.math.top_k(-(tf.range(steps) + steps * padding), steps).indices
    return {
        name: tf.gather(each, order, axis=1, batch_dims=1)
        for name, each in ids.items()
    }


class _Layers:
    """What takes the places of a model's operations.

    It is the `operation_fn` of `keras_selfattn.private_names.run_graph`, for
    tensors of ids whose padding is on the right.

    Args:
        as_given: Dictionary from references to these to the ids as they came.
    """

    def __init__(self, as_given):
        self._words = {}
        self._as_given = as_given

    def __call__(self, operation):
        if type(operation) is WordEmbedding:
            return lambda ids: self._look_up(operation, ids)
        if type(operation) is CharacterCNN:
            return functools.partial(_features, operation)
        if type(operation) is StackedBiLSTM:
            return functools.partial(self._stack, operation)
        if isinstance(operation, NGramLayer):
            return functools.partial(self._count, operation)
        return operation

    def _count(self, layer, inputs, **options):
        # What stands between two words parts them, so their places matter.
        inputs = tf.nest.map_structure(
            lambda ids: self._as_given[ids.ref()], inputs
        )
        return layer(inputs, **options)

    def _look_up(self, layer, ids):
        vectors = layer(ids)
        if layer.quantization_mode is None:
            self._words[vectors.ref()] = layer, ids
        return vectors

    def _stack(self, layer, inputs, mask=None, training=None):
        if mask is None:
            # No model of this package leaves it out.
            return layer(inputs)
        words = self._words.get(inputs.ref())
        # The loop takes one step of all rows after the other.
        inputs = tf.transpose(inputs, (1, 0, 2))
        mask = tf.expand_dims(tf.transpose(mask), -1)
        states = None
        for direction, units in zip(layer.directions, layer.units, strict=True):
            both = (direction.forward_layer, direction.backward_layer)
            if states is None and words is not None:
                gates = _looked_up(both, *words)
            else:
                gates = None
            if gates is None:
                below = inputs
                if states is not None:
                    below = states
                    if layer.shortcut:
                        below = tf.concat([inputs, states], -1)
                gates = _computed(both, below, mask)
            states = _states(both, gates, units)
        return tf.transpose(states, (1, 0, 2))


def _features(layer, ids):
    """The features of words, and zeros for padding, which is not encoded."""
    batch, steps, characters = tf.unstack(tf.shape(ids))
    places = tf.where(tf.reduce_any(tf.not_equal(ids, 0), axis=-1))
    # LiteRT's convolutions fail without any word, so there is one more.
    words = tf.concat(
        [tf.gather_nd(ids, places), tf.zeros([1, characters], ids.dtype)], 0
    )
    features = layer.encode(words)[:-1]
    shape = [batch, steps, features.shape[-1]]
    spread = tf.scatter_nd(places, features, tf.cast(shape, places.dtype))
    # For the converter, which does not see its width.
    return tf.reshape(spread, shape)


def _looked_up(both, embedding, ids):
    """The gates `(n, 2, B, 4 units)` of words, or `None` of too many."""
    kernels = [layer.weights[0] for layer in both]
    width = sum(kernel.shape[-1] for kernel in kernels)
    if not word_tables.is_worth_it(embedding.input_dim, width):
        return None
    ids = tf.transpose(ids)
    gates = []
    for layer, steps in zip(both, (ids, _reverse(ids)), strict=True):
        # Computed now, and not in the graph.
        with tf.init_scope():
            kernel, _, bias = map(ops.convert_to_numpy, layer.weights)
            words = ops.convert_to_numpy(embedding.embeddings)
        table = words @ _in_order(kernel) + _in_order(bias)
        table[0] = _CLOSED
        gates.append(tf.gather(tf.constant(table), steps))
    return tf.stack(gates, axis=1)


def _computed(both, below, mask):
    """The gates `(n, 2, B, 4 units)` of the inputs of a layer."""
    gates = []
    for layer, turn in zip(both, (tf.identity, _reverse), strict=True):
        kernel, _, bias = map(ops.convert_to_tensor, layer.weights)
        products = turn(below) @ _in_order(kernel) + _in_order(bias)
        gates.append(tf.where(turn(mask), products, _CLOSED))
    return tf.stack(gates, axis=1)


def _states(both, gates, units):
    """The states `(n, B, 2 units)` of both directions."""
    kernels = tf.stack(
        [_in_order(ops.convert_to_tensor(layer.weights[1])) for layer in both]
    )
    steps = tf.shape(gates)[0]
    gates = tf.pad(
        gates,
        [[0, -steps % _BLOCK], [0, 0], [0, 0], [0, 0]],
        constant_values=_CLOSED,
    )
    zeros = tf.zeros([1, 2, tf.shape(gates)[2], units], gates.dtype)

    def block(number, hidden, memory, states):
        made = []
        for place in range(_BLOCK):
            products = gates[number + place] + hidden @ kernels
            opening = tf.sigmoid(products[..., : 3 * units])
            candidate = tf.tanh(products[..., 3 * units :])
            reads, keeps, shows = tf.split(opening, 3, axis=-1)
            memory = keeps * memory + reads * candidate
            hidden = shows * tf.tanh(memory)
            made.append(hidden)
        states = tf.concat([states, tf.stack(made)], axis=0)
        return number + _BLOCK, hidden, memory, states

    shape = tf.TensorShape([2, None, units])
    *_, states = tf.while_loop(
        lambda number, *_: number < steps,
        block,
        # The first of the states is none.
        (0, zeros[0], zeros[0], zeros),
        shape_invariants=(
            tf.TensorShape([]),
            shape,
            shape,
            tf.TensorShape([None, *shape]),
        ),
    )
    states = states[1 : 1 + steps]
    return tf.concat([states[:, 0], _reverse(states[:, 1])], axis=-1)


def _in_order(weights):
    """The candidate behind the three gates, whose sigmoid is one op."""
    reads, keeps, candidate, shows = (
        ops.split(weights, 4, axis=-1)
        if tf.is_tensor(weights)
        else np.split(weights, 4, axis=-1)
    )
    join = tf.concat if tf.is_tensor(weights) else np.concatenate
    return join([reads, keeps, shows, candidate], -1)


def _reverse(steps):
    return tf.reverse(steps, [0])

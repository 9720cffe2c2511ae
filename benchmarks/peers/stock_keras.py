"""The same models as a careful user writes them in Keras alone.

Layers of Keras where there are some, `keras.ops` for the rest, the optimizers
of Keras, and `fit` on batches padded to their longest row.
"""

import itertools

import keras
import tensorflow as tf
from keras import layers
from keras import ops

from benchmarks.peers import running_keras
from benchmarks.peers.workloads import CHARACTERS
from benchmarks.peers.workloads import made_up_words
from benchmarks.peers.workloads import make_rows
from benchmarks.peers.workloads import read_corpus

_MASKED = -1e9


class Attention(layers.Layer):
    """What ends the mask that the LSTMs hand on."""

    def compute_mask(self, states, mask=None):
        return None


class StructuredAttention(Attention):
    def __init__(self, units, heads, penalty):
        super().__init__()
        self.hidden = layers.Dense(units, activation="tanh", use_bias=False)
        self.scores = layers.Dense(heads, use_bias=False)
        self.penalty = penalty
        self.supports_masking = True

    def build(self, states_shape, kept_shape):
        self.hidden.build(states_shape)
        self.scores.build((*states_shape[:-1], self.hidden.units))

    def call(self, states, kept):
        scores = self.scores(self.hidden(states))
        scores = ops.where(kept[:, :, None], scores, _MASKED)
        scores = ops.transpose(ops.softmax(scores, axis=1), (0, 2, 1))
        overlap = ops.matmul(scores, ops.transpose(scores, (0, 2, 1)))
        excess = ops.square(overlap - ops.eye(self.scores.units))
        self.add_loss(self.penalty * ops.mean(ops.sum(excess, axis=(1, 2))))
        return ops.matmul(scores, states)


class GeneralizedAttention(Attention):
    def __init__(self, units, heads, penalty):
        super().__init__()
        self.units, self.heads, self.penalty = units, heads, penalty
        self.supports_masking = True

    def build(self, states_shape, kept_shape):
        heads, units, width = self.heads, self.units, states_shape[-1]
        self.hidden = self.add_weight((width, heads, units))
        self.hidden_bias = self.add_weight((heads, units), "zeros")
        self.scores = self.add_weight((heads, units, width))
        self.scores_bias = self.add_weight((heads, width), "zeros")

    def call(self, states, kept):
        hidden = ops.einsum("bnd,dhu->bnhu", states, self.hidden)
        hidden = ops.relu(hidden + self.hidden_bias)
        scores = ops.einsum("bnhu,hud->bnhd", hidden, self.scores)
        scores = ops.where(
            kept[:, :, None, None], scores + self.scores_bias, _MASKED
        )
        for i, j in itertools.combinations(range(self.heads), 2):
            difference = self.hidden[:, i] - self.hidden[:, j]
            close = ops.relu(1 - ops.sum(ops.square(difference)))
            # Added for each of the two sentences.
            self.add_loss(self.penalty / 2 * close)
        weights = ops.softmax(scores, axis=1)
        return ops.sum(weights * states[:, :, None], axis=1)


class GatedInteraction(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, left_shape, right_shape):
        shape = (*left_shape[1:], self.units)
        self.kernels = [self.add_weight(shape) for _ in range(2)]

    def call(self, left, right):
        sides = zip((left, right), self.kernels, strict=True)
        left, right = (ops.einsum("brd,rdu->bru", *side) for side in sides)
        return left * right


class CharacterNetwork(layers.Layer):
    def __init__(self, characters):
        super().__init__()
        self.vectors = layers.Embedding(characters, 15)
        self.convolutions = [
            layers.Conv1D(100, size, padding="same", activation="relu")
            for size in (1, 3, 5)
        ]

    def build(self, shape):
        self.vectors.build()
        for convolution in self.convolutions:
            convolution.build((None, CHARACTERS, 15))

    def call(self, ids):
        embedded = self.vectors(ops.reshape(ids, (-1, CHARACTERS)))
        found = [ops.max(layer(embedded), 1) for layer in self.convolutions]
        found = ops.concatenate(found, axis=-1)
        return ops.reshape(found, (*ops.shape(ids)[:2], found.shape[-1]))


class DistanceBias(layers.Layer):
    def __init__(self, longest):
        super().__init__()
        self.longest = longest

    def build(self, shape):
        self.bias = self.add_weight((2 * self.longest + 2,), "zeros")

    def call(self, scores):
        steps = ops.arange(ops.shape(scores)[1])
        distance = steps[:, None] - steps[None]
        beyond = ops.abs(distance) > self.longest
        place = ops.where(beyond, -1, distance + self.longest)
        # The last one is that of all longer distances.
        place = ops.where(place < 0, 2 * self.longest + 1, place)
        return scores + ops.take(self.bias, place)


def build_model(work):
    """The compiled model of a `Work`."""
    of = work.arguments
    inputs = {}
    for side in work.sides:
        shapes = {f"{side}token_ids": (None,)}
        if of.get("character_vocabulary_size"):
            shapes[f"{side}char_ids"] = (None, CHARACTERS)
        for name, shape in shapes.items():
            inputs[name] = keras.Input(shape, dtype="int32", name=name)
    build = _decomposable if "projection_dim" in of else _recurrent
    model = keras.Model(inputs, build(work, inputs))
    optimizer = keras.optimizers.get(work.optimizer)
    optimizer.learning_rate = work.learning_rate
    model.compile(
        optimizer,
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def _recurrent(work, inputs):
    of = work.arguments
    vectors = layers.Embedding(
        of["vocabulary_size"],
        of["embedding_dim"],
        trainable=of.get("trainable_embeddings", True),
    )
    characters = of.get("character_vocabulary_size")
    characters = CharacterNetwork(characters) if characters else None
    units = of["units"]
    encoder = [
        layers.Bidirectional(layers.LSTM(width, return_sequences=True))
        for width in (units if isinstance(units, list) else [units])
    ]
    generalized = of.get("pooling") == "generalized"
    attention = (GeneralizedAttention if generalized else StructuredAttention)(
        of["attention_dim"],
        of["num_heads"],
        of["parameter_penalty" if generalized else "attention_penalty"],
    )

    def embed(side):
        ids = inputs[f"{side}token_ids"]
        kept = ops.not_equal(ids, 0)
        words = vectors(ids)
        if characters is not None:
            more = characters(inputs[f"{side}char_ids"])
            words = ops.concatenate([words, more], axis=-1)
        states = below = words
        for number, lstm in enumerate(encoder):
            if number:
                below = ops.concatenate([words, states], axis=-1)
            below = layers.Dropout(of.get("encoder_dropout", 0.0))(below)
            states = lstm(below, mask=kept)
        return attention(states, kept)

    sides = [embed(side) for side in work.sides]
    if len(sides) == 1:
        (features,) = sides
    elif of["interaction"] == "gated":
        features = GatedInteraction(of["interaction_units"])(*sides)
    else:
        left, right = sides
        features = ops.concatenate(
            [left, right, ops.abs(left - right), left * right], axis=-1
        )
    features = hidden = layers.Flatten()(features)
    widths = of["hidden_units"]
    for number, width in enumerate(
        widths if isinstance(widths, list) else [widths]
    ):
        if number:
            hidden = ops.concatenate([features, hidden], axis=-1)
        hidden = layers.Dropout(of["dropout"])(hidden)
        hidden = layers.Dense(width, activation="relu")(hidden)
    hidden = layers.Dropout(of["dropout"])(hidden)
    return layers.Dense(of["num_classes"])(hidden)


def _decomposable(work, inputs):
    of = work.arguments

    def network(units):
        steps = [
            step
            for width in units
            for step in (
                layers.Dropout(of["dropout"]),
                layers.Dense(width, activation="relu"),
            )
        ]
        return keras.Sequential(steps)

    vectors = layers.Embedding(
        of["vocabulary_size"],
        of["embedding_dim"],
        trainable=of["trainable_embeddings"],
    )
    project = layers.Dense(of["projection_dim"], use_bias=False)
    ids = [inputs[f"{side}token_ids"] for side in work.sides]
    kept_left, kept_right = (ops.not_equal(side, 0) for side in ids)
    left, right = (project(vectors(side)) for side in ids)
    if of["intra_sentence"]:
        within, bias = network(of["attend_units"]), DistanceBias(10)
        left = _with_own_sentence(left, kept_left, within, bias)
        right = _with_own_sentence(right, kept_right, within, bias)
    attend = network(of["attend_units"])
    compare = network(of["compare_units"])
    scores = ops.matmul(attend(left), ops.transpose(attend(right), (0, 2, 1)))
    sides = []
    for words, others, kept, others_kept, logits in (
        (left, right, kept_left, kept_right, scores),
        (right, left, kept_right, kept_left, ops.transpose(scores, (0, 2, 1))),
    ):
        logits = ops.where(others_kept[:, None], logits, _MASKED)
        aligned = ops.matmul(ops.softmax(logits, axis=-1), others)
        compared = compare(ops.concatenate([words, aligned], axis=-1))
        sides.append(
            ops.sum(ops.where(kept[:, :, None], compared, 0.0), axis=1)
        )
    hidden = network(of["aggregate_units"])(ops.concatenate(sides, axis=-1))
    return layers.Dense(of["num_classes"])(hidden)


def _with_own_sentence(words, kept, network, bias):
    hidden = network(words)
    scores = bias(ops.matmul(hidden, ops.transpose(hidden, (0, 2, 1))))
    scores = ops.softmax(ops.where(kept[:, None], scores, _MASKED), axis=-1)
    return ops.concatenate([words, ops.matmul(scores, words)], axis=-1)


class Steps(running_keras.Steps):
    def __init__(self, work, precision):
        super().__init__(build_model(work), *make_rows(work))


class Epochs(running_keras.Epochs):
    def __init__(self, work, precision, corpus=None):
        features, labels = read_corpus(work, corpus)
        # With `tf.data.AUTOTUNE` the end of an epoch sometimes waits for the
        # thread that tunes, which sleeps for up to a minute.
        fixed = tf.data.Options()
        fixed.autotune.enabled = False
        dataset = (
            tf.data.Dataset.from_tensor_slices((features, labels))
            .shuffle(len(labels))
            .batch(work.batch_size)
            .map(_cut, num_parallel_calls=2)
            .prefetch(2)
            .with_options(fixed)
        )
        super().__init__(build_model(work), work, dataset)


class Served:
    """The model of a work behind a `TextVectorization`, asked about a text."""

    def __init__(self, work, text):
        model = build_model(work)
        vectorize = layers.TextVectorization(
            vocabulary=made_up_words(work.arguments["vocabulary_size"] - 2)
        )
        inputs = keras.Input((), dtype="string")
        logits = model({"token_ids": vectorize(inputs)})
        self._model = keras.Model(inputs, ops.softmax(logits))
        self._compiled = tf.function(
            lambda texts: self._model(texts, training=False)
        )
        self._text = text
        self.facts = {"version": running_keras.VERSION}

    def infer(self, times):
        """Asks the model as a `tf.function`."""
        for _ in range(times):
            self._compiled(tf.constant([self._text])).numpy()

    def predict(self, times):
        for _ in range(times):
            self._model.predict(tf.constant([self._text]), verbose=0)


def _cut(features, labels):
    """A batch padded to its longest row."""
    cut = {}
    for name, ids in features.items():
        side = name.removesuffix("token_ids").removesuffix("char_ids")
        kept = tf.not_equal(features[f"{side}token_ids"], 0)
        cut[name] = ids[
            :, : tf.reduce_max(tf.reduce_sum(tf.cast(kept, "int32"), 1))
        ]
    return cut, labels

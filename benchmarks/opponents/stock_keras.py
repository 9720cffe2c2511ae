"""What a Keras user writes first, with Keras's own layers alone."""

import keras
import numpy as np
import tensorflow as tf

from benchmarks.corpora.texts import VECTORS
from benchmarks.corpora.texts import data_path
from benchmarks.opponents.opponent import Opponent
from keras_selfattn.data.word_vectors import load_word_vectors

LONGEST = 400
# So few rows take more epochs to as many steps; 3,000 gained nothing by more.
FEW = 1000
EPOCHS = 12
PATIENCE = 3
EPOCHS_OF_FEW = 60
PATIENCE_OF_FEW = 10
BATCH = 32
MOST_WORDS = 30_000


class StockKeras(Opponent):
    """Word vectors, tuned, an encoder, dropout and a softmax.

    The two sides of a pair share the encoder; u, v, |u - v| and u * v go
    through a hidden layer. The best epoch is that of the dev accuracy.
    """

    width = 100

    @property
    def grid(self):
        return [
            {"vectors": vectors, "learning_rate": rate}
            for vectors in ((True,) if self.large else (False, True))
            for rate in (5e-4, 2e-3)
        ]

    def prepare(self, texts):
        self.words = keras.layers.TextVectorization(
            MOST_WORDS, separated, ragged=True
        )
        sentences = texts
        if self.sides == 2:
            sentences = [sentence for pair in texts for sentence in pair]
        self.words.adapt(
            tf.data.Dataset.from_tensor_slices(list(sentences)).batch(256)
        )
        return self.read(texts)

    def read(self, texts):
        """The ids of each side: a list of arrays, one a text."""
        sides = [texts] if self.sides == 1 else zip(*texts, strict=True)
        return [
            # An empty text is one unknown word.
            [row[:LONGEST] if len(row) else np.ones(1) for row in rows.numpy()]
            for rows in (self.words(tf.constant(list(side))) for side in sides)
        ]

    def fit(self, features, labels, dev, seed, vectors, learning_rate):
        keras.backend.clear_session()
        keras.utils.set_random_seed(seed)
        model = self._model(int(labels.max()) + 1, vectors)
        model.compile(
            keras.optimizers.Adam(learning_rate),
            "sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )
        dev_features, dev_labels = dev
        # A label that no training row has is wrong in each epoch.
        known = np.flatnonzero(dev_labels >= 0)
        dev_features = [[side[row] for row in known] for side in dev_features]
        few = len(labels) <= FEW
        model.fit(
            self._dataset(features, labels, np.random.default_rng(seed)),
            validation_data=self._dataset(dev_features, dev_labels[known]),
            epochs=EPOCHS_OF_FEW if few else EPOCHS,
            # The dataset does.
            shuffle=False,
            callbacks=[
                keras.callbacks.EarlyStopping(
                    monitor="val_accuracy",
                    mode="max",
                    patience=PATIENCE_OF_FEW if few else PATIENCE,
                    restore_best_weights=True,
                )
            ],
            verbose=0,
        )
        return _Answers(model)

    def _dataset(self, features, labels, generator=None):
        ids = tuple(
            tf.TensorSpec((None, None), "int32") for _ in range(self.sides)
        )
        dataset = tf.data.Dataset.from_generator(
            lambda: batches(features, labels, generator),
            output_signature=(ids, tf.TensorSpec((None,), "int32")),
        )
        # Keras would warn at the end of a generator of unknown length.
        steps = tf.data.experimental.assert_cardinality(
            -(-len(labels) // BATCH)
        )
        return dataset.apply(steps).prefetch(4)

    def write(self, model, folder):
        words = "\n".join(self.words.get_vocabulary())
        (folder / "words.txt").write_text(words, encoding="utf-8")
        # The optimizer's state is not needed to answer.
        model.keras_model.save_weights(folder / "model.weights.h5")

    def encode(self, words):
        """Layers from word vectors to a vector of the text."""
        raise NotImplementedError

    def _model(self, classes, vectors):
        inputs = tuple(
            keras.Input((None,), dtype="int32") for _ in range(self.sides)
        )
        encoder = self._encoder(vectors)
        x, *other = map(encoder, inputs)
        if other:
            (y,) = other
            x = keras.layers.Concatenate()([x, y, keras.ops.abs(x - y), x * y])
            x = keras.layers.Dense(200, activation="relu")(x)
        x = keras.layers.Dropout(0.5)(x)
        outputs = keras.layers.Dense(classes, activation="softmax")(x)
        return keras.Model(inputs, outputs)

    def _encoder(self, vectors):
        names = self.words.get_vocabulary()
        initializer, width = "uniform", self.width
        if vectors:
            table, found = load_word_vectors(data_path(VECTORS), names)
            # Words that have none are drawn as long as those that have one.
            drawn = np.random.default_rng(0).normal(
                scale=table[found].std(), size=table.shape
            )
            initializer = keras.initializers.Constant(
                np.where(found[:, None], table, drawn)
            )
            width = table.shape[1]
        ids = keras.Input((None,), dtype="int32")
        embedding = keras.layers.Embedding(
            len(names), width, initializer, mask_zero=self.masks
        )
        return keras.Model(ids, self.encode(embedding(ids)))


class EmbeddingAverage(StockKeras):
    """The mean of the word vectors, padding left out."""

    label = "Keras, averaged embeddings"
    masks = True

    def encode(self, words):
        return keras.layers.GlobalAveragePooling1D()(words)


class KimCnn(StockKeras):
    """The CNN of Kim, 2014: three widths of 100 filters, max over time."""

    label = "Keras, CNN of Kim"
    masks = False

    def encode(self, words):
        return keras.layers.Concatenate()(
            [
                keras.layers.GlobalMaxPooling1D()(
                    keras.layers.Conv1D(
                        100, size, padding="same", activation="relu"
                    )(words)
                )
                for size in (3, 4, 5)
            ]
        )


class StockBiLstm(StockKeras):
    """The last states of a BiLSTM of 100 units a direction."""

    label = "Keras, BiLSTM"
    masks = True

    def encode(self, words):
        return keras.layers.Bidirectional(keras.layers.LSTM(100))(words)


class _Answers:
    """Labels from a compiled function: `predict` takes 40 ms a call."""

    def __init__(self, keras_model):
        self.keras_model = keras_model
        self._answer = tf.function(keras_model, reduce_retracing=True)

    def predict(self, features):
        nothing = np.zeros(len(features[0]))
        return np.concatenate(
            [
                self._answer(tuple(map(tf.constant, ids)))
                .numpy()
                .argmax(axis=1)
                for ids, _ in batches(features, nothing)
            ]
        )


@keras.saving.register_keras_serializable(package="benchmarks")
def separated(texts):
    """Lower case, and each sign a word of its own."""
    return tf.strings.regex_replace(
        tf.strings.lower(texts), r"([^\pL\pN_\s])", r" \1 "
    )


def batches(features, labels, generator=None):
    """Batches that are padded to their longest, in random order if asked.

    Yields:
        A tuple of arrays of ids, one a side, and an array of labels.
    """
    order = np.arange(len(labels))
    if generator is not None:
        generator.shuffle(order)
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield (
            tuple(_padded([side[row] for row in rows]) for side in features),
            labels[rows],
        )


def _padded(rows):
    ids = np.zeros((len(rows), max(map(len, rows))), "int32")
    for row, padded in zip(rows, ids, strict=True):
        padded[: len(row)] = row
    return ids

"""Steps of the package's optimizers beside Keras's, on tables of word vectors.

    python -m benchmarks.optimizers

times a step of each optimizer, on the sparse gradient of a table of word
vectors for a batch of 32 sentences of 40 tokens, and on a dense gradient, and
prints a table with the medians of alternating steps and how many times as
long Keras's takes. "With Embedding" is the step of a `keras.layers.Embedding`
around it: forward, gradient and update.
"""

import argparse
import statistics
import time

import keras
import numpy as np
import tensorflow as tf

from benchmarks.tables import print_table
from keras_selfattn import optimizers

TABLES = [(36_000, 300), (400_000, 300)]
BATCH = (32, 40)
OPTIMIZERS = {
    "SGD": (optimizers.SGD, keras.optimizers.SGD, {}),
    "SGD, momentum": (
        optimizers.SGD,
        keras.optimizers.SGD,
        {"momentum": 0.9},
    ),
    "Adagrad": (optimizers.Adagrad, keras.optimizers.Adagrad, {}),
    "Adam": (optimizers.Adam, keras.optimizers.Adam, {}),
    "Adam, global_clipnorm": (
        optimizers.Adam,
        keras.optimizers.Adam,
        {"global_clipnorm": 0.5},
    ),
}


def word_ids(rows):
    """Token ids as frequent as the words of a text, by Zipf's law."""
    weights = 1 / np.arange(1, rows + 1)
    rng = np.random.default_rng(0)
    return rng.choice(rows, size=BATCH, p=weights / weights.sum())


def sparse_step(optimizer, shape):
    table = keras.Variable(np.zeros(shape, "float32"))
    optimizer.build([table])
    ids = tf.constant(word_ids(shape[0]).ravel())
    values = tf.random.normal((ids.shape[0], shape[1]))

    @tf.function
    def step():
        gradient = tf.IndexedSlices(values, ids, tf.constant(shape, tf.int64))
        optimizer.apply([gradient], [table])

    return step


def embedding_step(optimizer, shape):
    layer = keras.layers.Embedding(*shape)
    layer.build()
    optimizer.build(layer.trainable_variables)
    ids = tf.constant(word_ids(shape[0]))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layer(ids) ** 2)
        gradients = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply(gradients, layer.trainable_variables)

    return step


def dense_step(optimizer, shape):
    kernel = keras.Variable(np.zeros(shape, "float32"))
    optimizer.build([kernel])
    gradient = tf.random.normal(shape)
    return tf.function(lambda: optimizer.apply([gradient], [kernel]))


STEPS = {
    "sparse": sparse_step,
    "with Embedding": embedding_step,
    "dense": dense_step,
}


def measure(make_step, ours, theirs, arguments, shape, repeats):
    """Medians of the milliseconds of alternating steps, ours and Keras's."""
    steps = [make_step(make(**arguments), shape) for make in (ours, theirs)]
    times = [], []
    for repeat in range(repeats + 2):
        for step, taken in zip(steps, times, strict=True):
            started = time.perf_counter()
            step()
            # The first ones trace and allocate.
            if repeat >= 2:
                taken.append(1e3 * (time.perf_counter() - started))
    return [statistics.median(taken) for taken in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    rows = []
    for shape in TABLES:
        for kind, make_step in STEPS.items():
            # A dense weight of 120 million numbers is not of this size.
            if kind == "dense" and shape != TABLES[0]:
                continue
            for name, (ours, theirs, arguments) in OPTIMIZERS.items():
                medians = measure(
                    make_step, ours, theirs, arguments, shape, options.repeats
                )
                rows.append(
                    [
                        f"{shape[0]:,} × {shape[1]}",
                        kind,
                        name,
                        *(f"{median:.2f}" for median in medians),
                        f"{medians[1] / medians[0]:.1f}",
                    ]
                )
                print(*rows[-1], sep=", ", flush=True)
    print_table(
        ["table", "gradient", "optimizer", "ours ms", "Keras ms", "times"], rows
    )


if __name__ == "__main__":
    main()

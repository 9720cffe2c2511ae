"""`HeadDiversity` beside the sum of the differences of all pairs of heads.

    python -m benchmarks.penalties

times a penalty on attention scores with its gradient, in the form that the
package uses, the differences of heads as far apart at a time, and in the naive
one, whose differences have the shape (batch, heads, heads, steps, features).
Prints a table with times, peak memory beyond the inputs, and how many times as
much the naive form takes.
"""

import multiprocessing
import resource
import statistics
import time

import numpy as np
import tensorflow as tf

from benchmarks.tables import print_table
from keras_selfattn.regularizers import HeadDiversity

# Batch, heads, steps and features.
SIZES = [(32, 5, 24, 600), (32, 5, 24, 1200), (32, 30, 24, 600)]
FACTOR, MARGIN = 1e-2, 1e4


def naive(heads):
    differences = heads[:, :, None] - heads[:, None, :]
    distances = tf.reduce_sum(tf.square(differences), axis=(3, 4))
    closeness = tf.nn.relu(MARGIN - distances)
    # Without the diagonal, and each pair once.
    total = tf.reduce_sum(closeness, axis=(1, 2)) - MARGIN * heads.shape[1]
    return FACTOR * tf.reduce_mean(total) / 2


def with_gradient(penalty, shape):
    @tf.function(input_signature=[tf.TensorSpec((None, *shape[1:]))])
    def run(heads):
        with tf.GradientTape() as tape:
            tape.watch(heads)
            value = penalty(heads)
        return value, tape.gradient(value, heads)

    # Traced here, so that tracing counts neither as time nor as memory.
    run(tf.zeros((1, *shape[1:])))
    return run


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(shape, repeats=5):
    """Seconds and growth of the peak memory, of the package and naively.

    To be called in a process of its own: a peak never falls.
    """
    ours = with_gradient(HeadDiversity(FACTOR, MARGIN), shape)
    other = with_gradient(naive, shape)
    rng = np.random.default_rng(0)
    heads = tf.constant(rng.random(shape, dtype="float32"))
    start = peak()
    value, _ = ours(heads)
    memory = [peak() - start]
    expected, _ = other(heads)
    memory.append(peak() - start)
    np.testing.assert_allclose(value, expected, rtol=1e-3)
    seconds = [], []
    for _ in range(repeats):
        for run, times in zip((ours, other), seconds, strict=True):
            started = time.perf_counter()
            run(heads)[0].numpy()
            times.append(time.perf_counter() - started)
    return [statistics.median(times) for times in seconds], memory


def main():
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        results = pool.map(measure, SIZES, chunksize=1)
    rows = []
    for shape, (seconds, memory) in zip(SIZES, results, strict=True):
        rows.append(
            [
                *shape,
                *(f"{1e3 * x:.1f}" for x in seconds),
                f"{seconds[1] / seconds[0]:.1f}",
                *(f"{x / 1024:.0f}" for x in memory),
                f"{memory[1] / memory[0]:.1f}",
            ]
        )
    print_table(
        [
            *("batch", "heads", "steps", "features"),
            *("ours ms", "naive ms", "times"),
            *("ours MiB", "naive MiB", "times"),
        ],
        rows,
    )


if __name__ == "__main__":
    main()

"""A dropout of Keras and the one of the package, plain and under XLA.

    python -m benchmarks.dropout

times four dropouts forward and backward, in turn, in one process.
"""

import statistics
import time

import keras
import tensorflow as tf

from benchmarks.tables import print_table
from keras_selfattn import layers

SHAPES = [(4, 1_000), (1_280, 200)]
TURNS, CALLS = 7, 10


def step_of(layer_class, shape, jit_compile):
    """Four dropouts of inputs of their own, forward and backward."""
    inputs = [tf.random.normal(shape) for _ in range(4)]
    dropouts = [layer_class(0.2, seed=seed) for seed in range(4)]

    @tf.function(jit_compile=jit_compile)
    def step():
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = [
                dropout(x, training=True)
                for dropout, x in zip(dropouts, inputs, strict=True)
            ]
        return outputs, tape.gradient(outputs, inputs, outputs)

    step()
    return step


def milliseconds(step):
    started = time.perf_counter()
    for _ in range(CALLS):
        step()
    return (time.perf_counter() - started) * 1e3 / CALLS


def main():
    rows = []
    for shape in SHAPES:
        for jit_compile in (False, True):
            steps = [
                step_of(layer_class, shape, jit_compile)
                for layer_class in (keras.layers.Dropout, layers.Dropout)
            ]
            taken = [list(map(milliseconds, steps)) for _ in range(TURNS)]
            theirs, ours = map(statistics.median, zip(*taken, strict=True))
            times = statistics.median(a / b for a, b in taken)
            rows.append(
                [
                    " × ".join(f"{size:,}" for size in shape),
                    "XLA" if jit_compile else "plain",
                    f"{theirs:.2f}",
                    f"{ours:.2f}",
                    f"{times:.1f}",
                ]
            )
    print_table(["inputs", "graph", "Keras ms", "ours ms", "times"], rows)


if __name__ == "__main__":
    main()

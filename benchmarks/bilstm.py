"""`StackedBiLSTM` beside the bidirectional LSTM of Keras, on a CPU.

    python -m benchmarks.bilstm

times both on the same batch with the same weights, in turn: a training step,
which is the states and their gradients in the inputs and in all weights, and
the states alone. Prints a table with medians, how many times as long the
layer of Keras takes, and the same of the processor time, which other work on
the machine changes less.
"""

import time

import keras
import numpy as np
import tensorflow as tf

from benchmarks.tables import print_table
from keras_selfattn.layers import StackedBiLSTM

FEATURES = 300
# Batch, steps, shortest text or `None` for texts as long as those of SNLI,
# units.
TRAINING = [
    (32, 150, 150, 300),
    (32, 150, 30, 300),
    (50, 24, None, 300),
    (128, 24, None, 300),
    (128, 24, None, 600),
    (256, 50, 50, 300),
    (256, 50, 16, 300),
]
INFERENCE = [(1, 40, 40, 300), (32, 150, 30, 300)]


def make_batch(batch, steps, shortest):
    rng = np.random.default_rng(0)
    if shortest is None:
        lengths = np.clip(np.round(rng.normal(16, 5, batch)), 3, steps)
    else:
        lengths = rng.integers(shortest, steps + 1, batch)
    lengths[0] = steps
    mask = np.arange(steps) < lengths[:, np.newaxis]
    inputs = rng.normal(size=(batch, steps, FEATURES)).astype("float32")
    return tf.constant(inputs), tf.constant(mask)


def in_turn(functions, arguments, repeats=9):
    """Medians of the seconds and of the processor's seconds of a call."""
    taken = [[] for _ in functions]
    for function in functions:
        function(*arguments)
    for _ in range(repeats):
        for function, pairs in zip(functions, taken, strict=True):
            started = time.perf_counter(), time.process_time()
            function(*arguments)[0].numpy()
            ended = time.perf_counter(), time.process_time()
            pairs.append(np.subtract(ended, started))
    return [np.median(pairs, axis=0) for pairs in taken]


def measure(batch, steps, shortest, units, training):
    """Seconds of the package and of Keras, by the wall and the processor."""
    inputs, mask = make_batch(batch, steps, shortest)
    ours = StackedBiLSTM(units)
    other = keras.layers.Bidirectional(
        keras.layers.LSTM(units, return_sequences=True)
    )
    for layer in (ours, other):
        layer.build((None, None, FEATURES))
    other.set_weights(ours.get_weights())

    def traced(layer):
        variables = [weight.value for weight in layer.weights]

        @tf.function(
            input_signature=[
                tf.TensorSpec((None, None, FEATURES)),
                tf.TensorSpec((None, None), "bool"),
            ]
        )
        def run(inputs, mask):
            if not training:
                return (layer(inputs, mask=mask),)
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                states = layer(inputs, mask=mask, training=True)
                kept = tf.where(mask[:, :, tf.newaxis], states, 0)
                total = tf.reduce_sum(kept**2)
            return total, *tape.gradient(total, [inputs, *variables])

        return run

    functions = [traced(ours), traced(other)]
    arguments = (inputs, mask)
    if training:
        for x, y in zip(*(run(*arguments) for run in functions), strict=True):
            np.testing.assert_allclose(
                x, y, rtol=1e-3, atol=1e-4 * np.abs(y).max()
            )
    return in_turn(functions, arguments)


def main():
    rows = []
    for cases, training in ((TRAINING, True), (INFERENCE, False)):
        for batch, steps, shortest, units in cases:
            ours, other = measure(batch, steps, shortest, units, training)
            rows.append(
                [
                    "training" if training else "states",
                    f"{batch} x {steps}",
                    "as in SNLI"
                    if shortest is None
                    else f"{shortest}..{steps}",
                    units,
                    f"{1e3 * ours[0]:.1f}",
                    f"{1e3 * other[0]:.1f}",
                    *(f"{x:.2f}" for x in other / ours),
                ]
            )
    print_table(
        [
            *("step", "batch", "lengths", "units"),
            *("packed ms", "Keras ms", "times", "times, processor"),
        ],
        rows,
    )


if __name__ == "__main__":
    main()

import itertools
import math

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import dropping

BACKEND = keras.backend.backend()
DTYPE = keras.random.SeedGenerator(0).state.dtype


def state_of(seed, step):
    return ops.convert_to_tensor(np.array([seed, step]), dtype=DTYPE)


def words_of(count, seed, step):
    words = dropping.random_words(count, state_of(seed, step))
    return ops.convert_to_numpy(words).view("uint32")


def kept(shape, level, seed, step):
    size = math.prod(shape)
    count = (size + 31) // 32 * 32
    elements = dropping.kept_elements(count, level, state_of(seed, step))
    return ops.convert_to_numpy(elements)[:size].reshape(shape)


def reference(count, seed, step):
    """The same words by whole numbers of any size."""
    size = 2**32
    first = seed * 0x9E3779B1 + step * 0x85EBCA77
    second = (seed * 0xC2B2AE3D + step * 0x27D4EB2F) % size
    for place in range(count):
        word = (place + first) % size
        word ^= word >> 16
        word = word * 0x7FEB352D % size ^ second
        word ^= word >> 15
        word = word * 0x846CA68B % size
        yield word ^ (word >> 16)


@pytest.mark.parametrize(
    ("seed", "step"), [(0, 0), (3, 1), (10**9, 70_000), (2**31 - 1, 2**31 - 1)]
)
def test_words_are_those_of_whole_numbers(seed, step):
    found = words_of(9, seed, step).tolist()
    assert found == list(reference(9, seed, step))


def test_elements_are_upper_halves_and_then_lower_ones():
    words = words_of(16, 7, 0)
    halves = np.concatenate([words >> 16, words & 0xFFFF])
    found = kept((32,), 20_000, 7, 0)
    np.testing.assert_array_equal(found, halves >= 20_000)


def test_bits_and_bytes_are_spread_evenly():
    words = np.concatenate([words_of(2**16, 5, step) for step in range(4)])
    bits = words[:, None] >> np.arange(32, dtype="uint32") & 1
    deviations = (bits.mean(axis=0) - 0.5) * 2 * np.sqrt(len(words))
    assert np.abs(deviations).max() < 4
    expected = len(words) / 256
    for octets in words.view("uint8").reshape(-1, 4).T:
        counts = np.bincount(octets, minlength=256)
        statistic = ((counts - expected) ** 2 / expected).sum()
        # Of 255 degrees of freedom.
        assert abs(statistic - 255) < 4 * np.sqrt(2 * 255)


@pytest.mark.parametrize("rate", [0.001, 0.2, 0.5, 0.93])
def test_share_and_mean(rate):
    inputs = ops.ones((1000, 401))
    outputs = dropping.drop(inputs, rate, keras.random.SeedGenerator(4))
    outputs = ops.convert_to_numpy(outputs).astype("float64")
    level = round(rate * 2**16)
    assert abs(level / 2**16 - rate) < 1e-5
    share = level / 2**16
    values = np.unique(outputs)
    np.testing.assert_allclose(values, [0, 1 / (1 - share)], rtol=1e-6)
    spread = np.sqrt(share * (1 - share) / outputs.size)
    assert abs((outputs == 0).mean() - share) < 4 * spread
    assert abs(outputs.mean() - 1) < 4 * spread / (1 - share)


def test_rows_and_columns_drop_as_often_as_by_chance():
    level, rows, columns = 13_107, 600, 400
    drops = ~kept((rows, columns), level, 11, 6)
    share = level / 2**16
    for axis, size in ((0, rows), (1, columns)):
        counts = drops.sum(axis=axis)
        expected = size * share
        statistic = ((counts - expected) ** 2 / (expected * (1 - share))).sum()
        freedom = len(counts)
        assert abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)


def assert_independent(first, second):
    correlation = np.corrcoef(first.ravel(), second.ravel())[0, 1]
    assert abs(correlation) < 4.5 / np.sqrt(first.size)


def test_draws_of_steps_and_layers_are_independent():
    # Seeds of layers made together may be neighbors.
    keys = itertools.product((1, 2, 3, 1_000_004), (0, 1, 2, 5000))
    draws = [kept((200, 200), 2**15, *key) for key in keys]
    for first, second in itertools.combinations(draws, 2):
        assert_independent(first, second)
        # One could be the other, a little later.
        for places in (1, 2, 200):
            flat, other = first.ravel(), second.ravel()
            assert_independent(flat[places:], other[:-places])


def test_places_are_independent():
    draw = kept((300, 512), 13_107, 9, 3)
    for down, right in [(0, 1), (0, 2), (1, 0), (1, 1), (7, 0), (0, 256)]:
        ahead = draw[down:, right:]
        assert_independent(ahead, draw[: ahead.shape[0], : ahead.shape[1]])
    # The two halves of a word.
    assert_independent(draw[:150], draw[150:])


def test_a_call_moves_the_state_on():
    generator = keras.random.SeedGenerator(6)
    inputs = ops.ones((4, 7))
    for step in range(3):
        assert ops.convert_to_numpy(generator.state).tolist() == [6, step]
        outputs = ops.convert_to_numpy(dropping.drop(inputs, 0.5, generator))
        expected = kept((4, 7), 2**15, 6, step)
        np.testing.assert_array_equal(outputs, 2.0 * expected)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (3, 5, 7)])
def test_any_shape(shape):
    generator = keras.random.SeedGenerator(6)
    outputs = dropping.drop(ops.ones(shape), 0.5, generator)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(outputs), 2.0 * kept(shape, 2**15, 6, 0)
    )


def test_several_factors_are_parts_of_one_draw():
    generator = keras.random.SeedGenerator(6)
    first, second = dropping.factors(
        [(5, 3), (4, 9)], 0.5, generator, "float32"
    )
    draw = 2.0 * kept((96,), 2**15, 6, 0)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(first), draw[:15].reshape(5, 3)
    )
    np.testing.assert_array_equal(
        ops.convert_to_numpy(second), draw[32:68].reshape(4, 9)
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype):
    generators = [keras.random.SeedGenerator(2) for _ in range(2)]
    half = dropping.drop(ops.ones((20, 30), dtype), 0.2, generators[0])
    whole = dropping.drop(ops.ones((20, 30)), 0.2, generators[1])
    assert keras.backend.standardize_dtype(half.dtype) == dtype
    np.testing.assert_allclose(
        ops.convert_to_numpy(ops.cast(half, "float32")),
        ops.convert_to_numpy(whole),
        rtol=4e-3,
    )


def test_gradients_are_those_of_what_is_kept():
    from tests.gradients import value_and_gradients

    inputs = keras.Variable(np.ones((30, 20), "float32"))
    generator = keras.random.SeedGenerator(1)
    _, (gradient,) = value_and_gradients(
        lambda: ops.sum(
            dropping.drop(ops.convert_to_tensor(inputs), 0.5, generator)
        ),
        [inputs],
    )
    np.testing.assert_array_equal(gradient, 2.0 * kept((30, 20), 2**15, 1, 0))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled_draws_are_the_same(jit_compile):
    generator = keras.random.SeedGenerator(1)

    def draw(inputs):
        return dropping.drop(inputs, 0.5, generator)

    if BACKEND == "tensorflow":
        import tensorflow as tf

        # A graph for any number of rows.
        draw = tf.function(
            draw,
            jit_compile=jit_compile,
            input_signature=[tf.TensorSpec((None, 7))],
        )
    elif BACKEND == "jax":
        import jax

        def stateless(inputs, state):
            with keras.StatelessScope([(generator.state, state)]):
                return dropping.drop(inputs, 0.5, generator)

        compiled = jax.jit(stateless) if jit_compile else stateless

        def draw(inputs):
            return compiled(inputs, generator.state.value)

    else:
        pytest.skip("torch has neither tf.function nor XLA")
    found = ops.convert_to_numpy(draw(ops.ones((3, 7))))
    np.testing.assert_array_equal(found, 2.0 * kept((3, 7), 2**15, 1, 0))

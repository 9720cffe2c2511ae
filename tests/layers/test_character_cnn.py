import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import CharacterCNN
from tests.conformance import references
from tests.gradients import value_and_gradients


def made(**config):
    layer = CharacterCNN(**config)
    layer.build((None, None, None))
    rng = np.random.default_rng(0)
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


@pytest.fixture
def layer():
    return made(
        vocabulary_size=8, embedding_dim=3, filters=2, kernel_sizes=(1, 3, 4)
    )


# Words of two and four characters, one shorter than each kernel but the
# first, one that begins with padding, one without any character.
IDS = np.array(
    [[[3, 1, 0, 0], [5, 7, 2, 2]], [[6, 0, 0, 0], [0, 4, 5, 0]], [[0] * 4] * 2]
)


def test_words_of_different_lengths(layer):
    weights = [ops.convert_to_numpy(w).astype(float) for w in layer.weights]
    config = layer.get_config()
    (expected,) = references.character_cnn(config, weights, [IDS], None).outputs
    words = ops.convert_to_numpy(layer(IDS))
    np.testing.assert_allclose(words, expected, rtol=1e-5, atol=1e-6)
    assert (words[2] == 0).all()
    assert (words[:2] != 0).any(axis=-1).all()


@pytest.mark.parametrize("widths", [(0, 1), (0, 5), (3, 0)])
def test_padding_of_characters_changes_nothing(layer, widths):
    padded = np.pad(IDS, ((0, 0), (0, 0), widths))
    np.testing.assert_allclose(
        ops.convert_to_numpy(layer(padded)),
        ops.convert_to_numpy(layer(IDS)),
        rtol=1e-5,
        atol=1e-6,
    )


def test_the_vector_of_padding_is_never_read(layer):
    before = ops.convert_to_numpy(layer(IDS))
    table = ops.convert_to_numpy(layer.embeddings).copy()
    table[0] = np.nan
    layer.embeddings.assign(table)
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(IDS)), before)


def test_sizes_of_the_paper():
    layer = CharacterCNN(vocabulary_size=98)
    layer.build((None, None, 16))
    assert layer.compute_output_shape((None, None, 16)) == (None, None, 300)
    windows = sum(size * 15 * 100 + 100 for size in (1, 3, 5))
    assert layer.count_params() == 98 * 15 + windows


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a path of TensorFlow's"
)
def test_each_distinct_word_is_convolved_once(layer, monkeypatch):
    import tensorflow as tf

    from keras_selfattn.layers._tensorflow import packed_steps

    repeated = np.concatenate([IDS, IDS[::-1]], axis=1)
    convolved = []
    encode = layer.encode
    monkeypatch.setattr(
        layer, "encode", lambda ids: convolved.append(len(ids)) or encode(ids)
    )

    def run():
        with tf.GradientTape() as tape:
            words = layer(repeated)
            # Each word's own factor, so that a gradient of another fails.
            factors = np.arange(words.numpy().size).reshape(words.shape)
            loss = tf.reduce_sum(words * factors.astype("float32"))
        weights = [weight.value for weight in layer.trainable_weights]
        return words, *tape.gradient(loss, weights)

    once = run()
    monkeypatch.setattr(packed_steps, "is_faster", lambda: False)
    all_words = run()
    assert convolved == [5, 12]
    for one, other in zip(once, all_words, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("once", [True, False])
def test_sums_of_many_gradients_in_16_bits(once):
    ids = np.full((1, 1000, 1), 2)
    gradients = []
    for dtype in ("mixed_bfloat16", "float32"):
        keras.utils.set_random_seed(0)
        layer = CharacterCNN(
            3, 2, 1, (1,), bias_initializer="ones", dtype=dtype
        )
        layer.build(ids.shape)
        layer.encodes_words_once = once
        _, found = value_and_gradients(
            lambda layer=layer: ops.sum(ops.cast(layer(ids), "float32")),
            layer.trainable_variables,
        )
        gradients.append([ops.convert_to_numpy(each) for each in found])
    for received, expected in zip(*gradients, strict=True):
        assert np.abs(expected).max() > 0
        np.testing.assert_allclose(received, expected, rtol=0.02)
    np.testing.assert_allclose(gradients[1][-1], [1000.0])


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_the_gradient_of_a_bias_is_the_sum_over_many_words(dtype):
    ids = np.stack(np.meshgrid(*[np.arange(1, 81)] * 2), axis=-1)
    ids = ids.reshape(1, 6400, 2)
    layer = CharacterCNN(
        81,
        2,
        9,
        (1,),
        kernel_initializer="zeros",
        bias_initializer="ones",
        dtype=dtype,
    )
    layer.build(ids.shape)
    _, (gradient,) = value_and_gradients(
        lambda: ops.sum(ops.cast(layer(ids), "float32")), layer.biases
    )
    gradient = ops.convert_to_numpy(gradient)
    np.testing.assert_allclose(gradient, [6400.0] * 9, rtol=0.02)

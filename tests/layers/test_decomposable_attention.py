import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import DecomposableAttention
from tests.gradients import value_and_gradients


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(2, 3, 4)).astype("float32"),
        rng.normal(size=(2, 5, 4)).astype("float32"),
    )


def small(**kwargs):
    return DecomposableAttention((6,), (7,), **kwargs)


def test_by_hand():
    layer = DecomposableAttention((1,), (1,), kernel_initializer="ones")
    layer.build([(1, 1, 1), (1, 2, 1)])
    # F(x) = relu(x) and G([x; y]) = relu(x + 10 y).
    layer.compare[0][0].assign([[1.0], [10.0]])
    premise = np.array([[[np.log(2.0)]]])
    hypothesis = np.array([[[1.0], [0.0]]])
    outputs, (by_premise, by_hypothesis) = layer(
        (premise, hypothesis), return_attention_scores=True
    )
    # e = [ln 2, 0], so the scores are 2/3 and 1/3.
    np.testing.assert_allclose(
        ops.convert_to_numpy(by_premise), [[[2 / 3, 1 / 3]]], rtol=1e-5
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(by_hypothesis), [[[1.0], [1.0]]]
    )
    v1 = np.log(2) + 10 * 2 / 3
    v2 = (1 + 10 * np.log(2)) + 10 * np.log(2)
    np.testing.assert_allclose(
        ops.convert_to_numpy(outputs), [[v1, v2]], rtol=1e-5
    )


def test_swapped_sentences_swap_the_outputs(pair):
    layer = small()
    there = ops.convert_to_numpy(layer(pair))
    back = ops.convert_to_numpy(layer(pair[::-1]))
    np.testing.assert_allclose(
        np.concatenate([back[:, 7:], back[:, :7]], axis=1), there, rtol=1e-5
    )


def test_a_mask_may_be_none_for_one_side(pair):
    layer = small()
    mask = np.array([[1, 1, 0], [0, 1, 1]], bool)
    everything = np.ones((2, 5), bool)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer(pair, mask=(mask, None))),
        ops.convert_to_numpy(layer(pair, mask=(mask, everything))),
    )


def test_masks_that_come_with_the_inputs():
    embedding = keras.layers.Embedding(9, 4, mask_zero=True)
    layer = small()
    ids = [np.array([[3, 4, 0, 0]]), np.array([[5, 0, 0]])]
    padded = layer([embedding(x) for x in ids])
    cut = layer([embedding(ids[0][:, :2]), embedding(ids[1][:, :1])])
    np.testing.assert_allclose(
        ops.convert_to_numpy(padded), ops.convert_to_numpy(cut), rtol=1e-5
    )


@pytest.mark.parametrize("empty", [0, 1])
def test_a_side_without_steps_gives_zeros_for_its_half(pair, empty):
    masks = [np.ones((2, 3), bool), np.ones((2, 5), bool)]
    masks[empty][0] = False
    outputs = small(bias_initializer="ones")(pair, mask=tuple(masks))
    halves = np.split(ops.convert_to_numpy(outputs)[0], 2)
    assert (halves[empty] == 0).all()
    assert (halves[1 - empty] != 0).any()


@pytest.mark.parametrize(
    ("mask", "received"),
    [
        (np.ones((2, 3), bool), r"one tensor of shape \(2, 3\)"),
        ((np.ones((2, 3), bool),), "1 tensors"),
    ],
)
def test_masks_that_are_no_pair(pair, mask, received):
    with pytest.raises(ValueError, match=f"pair of masks.*{received}"):
        small()(pair, mask=mask)


def test_three_inputs(pair):
    layer = small()
    layer(pair)
    with pytest.raises(ValueError, match="pair of inputs.*3 tensors"):
        layer((*pair, pair[0]))


def test_batches_that_differ(pair):
    with pytest.raises(ValueError, match=r"batch.*\(2, 3, 4\).*\(1, 5, 4\)"):
        small()((pair[0], pair[1][:1]))


def test_dropout_only_trains(pair):
    layer = small(dropout=0.5, seed=3)
    plain = ops.convert_to_numpy(layer(pair))
    first = ops.convert_to_numpy(layer(pair, training=True))
    second = ops.convert_to_numpy(layer(pair, training=True))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(pair)), plain)
    assert np.abs(first - plain).max() > 0.01
    assert np.abs(first - second).max() > 0.01
    again = small(dropout=0.5, seed=3)
    again.build([x.shape for x in pair])
    again.set_weights(layer.get_weights()[: len(again.trainable_weights)])
    np.testing.assert_array_equal(
        ops.convert_to_numpy(again(pair, training=True)), first
    )


def test_kernels_of_one_shape_start_apart():
    layer = DecomposableAttention((4, 4), (4, 4))
    layer.build([(None, None, 4), (None, None, 4)])
    attend, compare = layer.attend[0][1], layer.compare[0][1]
    difference = ops.convert_to_numpy(ops.subtract(attend, compare))
    assert np.abs(difference).max() > 0.01


def test_sums_past_float16_are_its_largest_number():
    layer = DecomposableAttention(
        (1,), (1,), kernel_initializer="ones", dtype="mixed_float16"
    )
    premise = np.full((1, 20_000, 1), 4.0)
    words = keras.Variable(premise)
    layer((premise, premise[:, :3]))

    def call():
        x = ops.convert_to_tensor(words)
        return layer((x, x[:, :3]))

    assert keras.backend.standardize_dtype(call().dtype) == "float16"
    # G([4; 4]) = 8 for each word: 160,000 of them together, and 24 of three.
    np.testing.assert_allclose(
        ops.convert_to_numpy(call()), [[65_504, 24]], rtol=1e-3
    )
    _, gradients = value_and_gradients(
        lambda: ops.sum(ops.cast(call(), "float32")),
        [words, *layer.trainable_weights],
    )
    for gradient in gradients:
        assert np.isfinite(gradient).all()

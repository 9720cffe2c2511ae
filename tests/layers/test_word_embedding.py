"""Loading pretrained vectors into a `WordEmbedding`."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers


def test_rows_not_found_keep_their_values():
    layer = layers.WordEmbedding(4, 2)
    layer.build()
    before = ops.convert_to_numpy(layer.embeddings).copy()
    vectors = np.arange(8.0).reshape(4, 2)
    layer.load_vectors(vectors, [False, True, False, True])
    after = ops.convert_to_numpy(layer.embeddings)
    np.testing.assert_array_equal(after[[1, 3]], vectors[[1, 3]])
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])


@pytest.mark.parametrize(
    "vectors, found, message",
    [
        ((3, 2), 4, r"\(4, 2\).*\(3, 2\)"),
        ((4, 3), 4, r"\(4, 2\).*\(4, 3\)"),
        ((4, 2), 3, r"\(4, 2\).*`found` of shape \(3,\)"),
    ],
)
def test_shapes_that_differ_from_the_table(vectors, found, message):
    layer = layers.WordEmbedding(4, 2)
    layer.build()
    with pytest.raises(ValueError, match=message):
        layer.load_vectors(np.ones(vectors), np.ones(found, bool))


def test_a_vector_loaded_for_padding_is_never_read():
    layer = layers.WordEmbedding(2, 3)
    layer.build()
    layer.load_vectors(np.full((2, 3), 7.0), [True, True])
    vectors = ops.convert_to_numpy(layer(np.array([[1, 0]])))
    assert vectors.tolist() == [[[7.0] * 3, [0.0] * 3]]


def test_padding_is_masked():
    ids = ops.convert_to_tensor(np.array([[1, 0, 2]]))
    mask = layers.WordEmbedding(3, 2).compute_mask(ids)
    assert ops.convert_to_numpy(mask).tolist() == [[True, False, True]]


def test_fixed_vectors_do_not_train():
    layer = layers.WordEmbedding(3, 2, trainable=False)
    layer.build()
    assert layer.trainable_weights == []
    config = keras.saving.serialize_keras_object(layer)
    copy = keras.saving.deserialize_keras_object(config)
    assert not copy.trainable


def test_normalized_vectors_have_a_norm_of_one():
    layer = layers.WordEmbedding(4, 3, embeddings_initializer="ones")
    layer.build()
    vectors = np.array([[0, 0, 0], [5, 5, 5], [0, 3, 4], [0, 0, 0]])
    layer.load_vectors(vectors, [False, False, True, True], normalize=True)
    table = ops.convert_to_numpy(layer.embeddings)
    expected = [[1 / 3**0.5] * 3] * 2 + [[0, 0.6, 0.8], [0, 0, 0]]
    np.testing.assert_allclose(table, expected, rtol=1e-6)


def test_padding_is_always_masked():
    with pytest.raises(ValueError, match="mask_zero=False"):
        layers.WordEmbedding(3, 2, mask_zero=False)

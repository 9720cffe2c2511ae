"""Whether the layers for LiteRT give what Keras's do."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.serving import litert_layers
from keras_selfattn.serving import word_tables
from tests.serving.padded import keras_answers
from tests.serving.padded import paddings
from tests.serving.padded import small_model


# Gates that are looked up by word, and gates that are computed.
@pytest.mark.parametrize("largest_table", [2**24, 0])
@pytest.mark.parametrize(
    "name", ["characters, shortcuts", "gated", "n-grams, characters"]
)
def test_states_are_those_of_keras(monkeypatch, name, largest_table):
    monkeypatch.setattr(word_tables, "_LARGEST", largest_table)
    model = small_model(name)
    of_ids = keras.Model(model.input, model.output)
    for ids in paddings(model):
        tensors = {name: tf.constant(array) for name, array in ids.items()}
        found = litert_layers.answer(of_ids, model.sides, tensors)
        np.testing.assert_allclose(
            found, keras_answers(model, ids), rtol=0, atol=1e-6
        )


def test_padding_goes_behind_the_words():
    words = tf.constant([[0, 3, 0, 5], [7, 8, 9, 0]])
    ids = {"token_ids": words, "char_ids": words[..., tf.newaxis] * 10}
    moved = litert_layers.padding_last(ids, "token_ids")
    expected = [[3, 5, 0, 0], [7, 8, 9, 0]]
    assert moved["token_ids"].numpy().tolist() == expected
    assert moved["char_ids"][..., 0].numpy().tolist() == [
        [10 * word for word in row] for row in expected
    ]

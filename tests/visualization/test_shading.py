import numpy as np
import pytest

from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import cell
from keras_selfattn.visualization.formatting import percent


def test_a_step_begins_at_its_number():
    for level, step in enumerate(shading.STEPS, start=1):
        weights = np.array([step - 0.01, step]) / 20
        assert shading.levels(weights, 20).tolist() == [level - 1, level]


def test_float32_weights_reach_their_step():
    weights = np.array([[0.5, 0.25, 0.25]], "float32") / np.float32(3) * 3
    assert shading.levels(weights, 3).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("words", [2, 7, 500])
def test_even_weights_have_no_shade_and_a_note(words):
    weights = np.full(words, 1 / words)
    assert not shading.levels(weights, words).any()
    assert shading.note(weights).startswith("No word stands out")


def test_one_word_has_nothing_to_stand_out_from():
    assert shading.note(np.ones(1)) == ""


def test_small_weights_keep_their_digits():
    weights = [1.0, 0.1, 0.0994, 0.0099, 0.0049, 0.0004, 0.0]
    assert [percent(x) for x in weights] == [
        *("100%", "10%", "9.9%", "0.99%", "0.49%", "under 0.05%", "0%"),
    ]
    assert [cell(x) for x in weights[-3:]] == ["0.49%", "", ""]

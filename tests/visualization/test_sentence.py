import numpy as np
import pytest

from keras_selfattn.visualization import Sentence
from tests.visualization.examples import explanation
from tests.visualization.examples import page


def test_measures():
    seen = explanation(
        "a b c", scores=[[1.0, 0, 0], [0.5, 0.5, 0], [0, 0, 1.0]]
    )
    np.testing.assert_allclose(seen.overall, [0.5, 1 / 6, 1 / 3])
    np.testing.assert_allclose(seen.head_overlap, [0.25, 0.25, 0.0])
    assert seen.overlap == pytest.approx(1 / 6)
    assert seen.redundancy == seen.overlap
    # A Aᵀ - I = [[0, .5, 0], [.5, -.5, 0], [0, 0, 0]]
    assert seen.penalty == pytest.approx(0.75)
    assert (seen.predicted, seen.confidence) == ("good", 0.75)


def test_one_head_has_no_overlap():
    assert explanation("a b", scores=[[0.5, 0.5]]).overlap == 0.0


def test_heads_that_differ_come_first():
    seen = explanation(
        "a b c",
        scores=[[0.1, 0.9, 0], [0, 1.0, 0], [0.5, 0, 0.5], [0, 0.8, 0.2]],
    )
    assert seen.head_order() == [1, 2, 3, 0]


def test_unread_end():
    seen = explanation("a b c d", tokens=["a", "b"])
    assert seen.unread == "c d"
    assert seen.unread_note == "2 words not read"
    assert explanation("a b c", tokens=["a", "b"]).unread_note == (
        "1 word not read"
    )
    assert explanation("a b").unread_note == ""


@pytest.mark.parametrize(
    "text, direction",
    [("لم يكن", "rtl"), ("12 a لم", "ltr"), ("1 !", "auto")],
)
def test_direction_is_that_of_the_text(text, direction, tmp_path):
    tokens = ["[NULL]", *text.split()]
    seen = explanation(text, tokens=tokens)
    assert seen.direction == direction
    mark = f'dir="{direction}"'
    assert mark in seen._repr_html_()
    assert f'<p class="text" {mark}' in page(tmp_path, seen)


def test_features_are_ordered_by_their_word():
    features = np.zeros((1, 3, 6))
    features[0, [2, 0, 1, 0, 1, 2], range(6)] = 1.0
    sentence = Sentence(
        "a b c", list("abc"), features.mean(axis=-1), features=features
    )
    np.testing.assert_allclose(sentence.feature_groups(3)[0], np.eye(3))
    assert sentence.feature_groups(99).shape == (1, 3, 6)

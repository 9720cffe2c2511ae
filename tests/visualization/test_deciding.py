import numpy as np
import pytest

from keras_selfattn.effects.measuring import METHODS
from keras_selfattn.visualization import Sentence
from keras_selfattn.visualization import deciding
from tests.visualization.examples import with_effects


def test_every_method_has_its_words():
    assert tuple(deciding.TITLES) == tuple(deciding.SHORT) == METHODS


def test_strong_disagreement_is_told():
    (note,) = deciding.notes("leave_one_out", with_effects())
    assert note == (
        "Attention and effect disagree: “at” has the most effect (+60 points)"
        ", and only 13% of the attention, less than an even share (25%)."
    )
    # The word of most effect has most of the attention too.
    assert deciding.notes("gradient_x_input", with_effects()) == []
    even = with_effects(scores=[[0.25] * 4])
    assert deciding.notes("leave_one_out", even) == []


def test_what_speaks_against_the_answer_counts_too():
    seen = with_effects(effects={"leave_one_out": [0.0, 0.0, 0.1, -0.5]})
    (note,) = deciding.notes("leave_one_out", seen)
    assert "“all” has the most effect (-50 points)" in note


@pytest.mark.parametrize(
    "method, effects, said",
    [
        ("leave_one_out", [0.009, -0.005, 0, 0], "changes by less than 1 p"),
        ("leave_one_out", [0.1, 0.1, 0.1, 0.1], "No word stands out"),
        ("gradient_x_input", [0.0] * 4, "No word has an effect"),
    ],
)
def test_where_nothing_stands_out(method, effects, said):
    seen = with_effects(effects={method: effects})
    (note,) = deciding.notes(method, seen)
    assert said in note
    assert not deciding.levels(method, effects).any()


def test_bad_effects_are_named():
    for effects in ([1.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="effects.'some'."):
            Sentence("a b", ["a", "b"], [[1, 0]], effects={"some": effects})

from tests.visualization.examples import HOSTILE
from tests.visualization.examples import balanced
from tests.visualization.examples import explanation


def test_fragment_is_escaped():
    fragment = explanation(
        HOSTILE, labels=["x", "<img src=x>"], label="'\">"
    )._repr_html_()
    assert "<script" not in fragment
    assert "<img" not in fragment
    assert balanced(fragment)


def test_weights_are_there():
    assert 'title="29.2%">not</span>' in explanation()._repr_html_()

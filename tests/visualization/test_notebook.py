from tests.visualization.examples import HOSTILE
from tests.visualization.examples import alignment
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
    assert 'title="29%">not</span>' in explanation()._repr_html_()


def test_shades_count_even_shares():
    seen = explanation("a b c d", [[0.125, 0.5, 0.375, 0.0]])._repr_html_()
    assert '/ 0.24);border-radius:3px" title="50%">b</span>' in seen
    assert '/ 0.12);border-radius:3px" title="38%">c</span>' in seen
    assert '/ 0.00);border-radius:3px" title="12%">a</span>' in seen
    assert "8</span> or more × an even share" in seen
    assert "No word stands out" not in seen


def test_even_weights_are_told():
    seen = explanation("a b c", [[1 / 3] * 3])._repr_html_()
    assert "No word stands out: each has less than 1.5× an even" in seen
    one = explanation("a", [[1.0]])._repr_html_()
    assert "No word stands out" not in one


def test_maps_say_which_side_looks_at_which():
    seen = alignment()._repr_html_()
    title = "The premise (rows) looks at the hypothesis (columns); each row"
    assert f"<summary>{title} adds up to 100%</summary>" in seen

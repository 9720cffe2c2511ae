import io
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from keras_selfattn import visualization
from tests.visualization.examples import ALL
from tests.visualization.examples import alignment
from tests.visualization.examples import explanation
from tests.visualization.examples import pair
from tests.visualization.examples import pair_with_effects
from tests.visualization.examples import with_effects
from tests.visualization.examples import with_features


def test_rows_are_overall_and_heads():
    seen = explanation("a $b c", scores=[[1.0, 0, 0], [0, 0.5, 0.5]])
    (panel,) = seen.figure().axes[:1]
    np.testing.assert_allclose(
        panel.images[0].get_array(),
        [[1.5, 0.75, 0.75], [3.0, 0, 0], [0, 1.5, 1.5]],
    )
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == ["overall", "1", "2"]


def test_long_text_is_drawn_in_panels():
    figure = explanation(" ".join(["word", "$_$"] * 45)).figure()
    assert len(figure.axes) == 3 + 1
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=20)
    assert stream.getvalue().startswith(b"\x89PNG")


def test_siamese_pair():
    seen = pair()
    panels = [axis for axis in seen.figure().axes if axis.images]
    titles = [axis.get_title("left") for axis in panels]
    assert titles == ["premise", "hypothesis"]
    assert {axis.get_ylabel() for axis in panels} == {"head"}
    np.testing.assert_allclose(
        panels[1].images[0].get_array(),
        2 * np.vstack([seen.hypothesis.overall, seen.hypothesis.scores]),
        atol=0.006,
    )


def test_alignment():
    seen = alignment("a $b$ c", "d e")
    panels = [axis for axis in seen.figure().axes if axis.images]
    titles = [
        axis.get_title("left").replace("\n", " ").split("; ") for axis in panels
    ]
    rows = "each row adds up to 100%"
    assert titles == [
        ["The premise (rows) looks at the hypothesis (columns)", rows],
        ["The hypothesis (rows) looks at the premise (columns)", rows],
        ["The premise (rows) looks at itself (columns)", rows],
        ["The hypothesis (rows) looks at itself (columns)", rows],
    ]
    np.testing.assert_allclose(
        panels[0].images[0].get_array(),
        2 * seen.hypothesis.scores,
        atol=0.006,
    )
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert names == ["a", r"\$b\$", "c"]
    words = [label.get_text() for label in panels[0].get_xticklabels()]
    assert words == ["d", "e"]


def test_effects_have_a_map_of_their_own():
    figure = with_effects().figure()
    weights, effects, _ = figure.axes
    np.testing.assert_array_equal(
        effects.images[0].get_array(), [[0, 0, 3, 0], [2, 0, 0, 0]]
    )
    names = [label.get_text() for label in effects.get_yticklabels()]
    assert names == ["left out", "gradient"]
    title = effects.get_title("left").replace("\n", " ")
    assert title.startswith("What decided: green for good, pink against. Left")
    assert "“at” has the most effect" in title
    image = effects.images[0]
    green, white, pink = image.cmap(image.norm([5, 0, -5]))[:, :3]
    assert green.argmax() == 1
    assert pink.argmin() == 1
    np.testing.assert_array_equal(white, 1)
    titles = [a.get_title("left") for a in pair_with_effects().figure().axes]
    assert titles[1].startswith("premise: what decided")


def test_unread_words_are_told():
    figure = explanation("a b c d", tokens=["a", "b"]).figure()
    assert figure.axes[0].get_title("left") == "2 words not read"
    sides = pair()
    sides.premise.unread_words = 9
    figure = sides.figure()
    assert figure.axes[0].get_title("left") == "premise: 9 words not read"
    both = alignment()
    both.premise.unread_words = 9
    title = both.figure().axes[0].get_title("left").replace("\n", " ")
    assert title.endswith("; 9 words not read")


def test_one_color_for_a_weight_in_all_figures():
    def color(scores):
        image = explanation("a b c d", [scores]).figure().axes[0].images[0]
        return image.cmap(image.norm(image.get_array()))[1]

    sharp, mild = [0.5, 0.5, 0, 0], [0.5, 0.3, 0.1, 0.1]
    np.testing.assert_array_equal(color(sharp)[0], color(mild)[0])
    np.testing.assert_array_equal(color(mild)[1:], np.ones((3, 4)))


@pytest.mark.parametrize("make", ALL)
def test_is_drawn(make):
    stream = io.BytesIO()
    figure = make(" ".join(["$x", "_$"] * 21)).figure()
    figure.savefig(stream, format="png", dpi=20)
    assert stream.getvalue().startswith(b"\x89PNG")


def test_features():
    seen = with_features()
    panels = [
        axis for axis in seen.feature_figure().axes if axis.get_title("left")
    ]
    assert [axis.get_title("left") for axis in panels] == [
        "head 1: 40 features, one a row",
        "head 2: 40 features, one a row",
    ]
    shown = panels[1].images[0].get_array()
    # All of them, sorted by their word.
    np.testing.assert_allclose(
        shown, 4 * seen.feature_groups(40)[1].T, atol=0.006
    )
    assert (np.diff(shown.argmax(axis=1)) >= 0).all()
    with pytest.raises(ValueError, match="weighs each feature by itself"):
        pair().feature_figure()
    seen.unread_words = 2
    title = seen.feature_figure().axes[0].get_title("left").replace("\n", " ")
    assert title == "head 1: 40 features, one a row; 2 words not read"


@pytest.mark.slow
def test_a_long_pair_has_no_more_pixels_than_can_be_saved():
    short = alignment().figure()
    assert short.dpi == 100
    words = " ".join(["word"] * 250)
    width, height = alignment(words, words).figure().canvas.get_width_height()
    assert width < 5000 < height < 2**16


def test_a_row_with_a_heading_in_any_script(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *_, **__: drawn.append(self)
    )
    panel = visualization.figure.Map("", ["a"], np.ones((1, 1))), 0
    visualization.figure.draw_row(panel, 8, "菜 $1$")
    (heading,) = drawn[0].texts
    assert heading.get_text() == r"菜 \$1\$"
    (axis, *_) = drawn[0].axes
    (word,) = axis.get_xticklabels()
    assert heading.get_fontfamily() == word.get_fontfamily()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(
        sys.modules, "keras_selfattn.visualization.figure", raising=False
    )
    # Where another test has drawn one, the package has the module too.
    monkeypatch.delattr(visualization, "figure", raising=False)
    expected = r'A figure needs matplotlib: pip install ".*\[viz\]"'
    with pytest.raises(ImportError, match=expected):
        explanation().figure()

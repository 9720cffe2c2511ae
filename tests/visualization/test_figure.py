import io

import numpy as np
import pytest

from tests.visualization.examples import ALL
from tests.visualization.examples import alignment
from tests.visualization.examples import explanation
from tests.visualization.examples import pair
from tests.visualization.examples import with_features


def test_rows_are_overall_and_heads():
    seen = explanation("a $b c", scores=[[1.0, 0, 0], [0, 0.5, 0.5]])
    (panel,) = seen.figure().axes[:1]
    np.testing.assert_allclose(
        panel.images[0].get_array(),
        [[0.5, 0.25, 0.25], [1.0, 0, 0], [0, 0.5, 0.5]],
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
        np.vstack([seen.hypothesis.overall, seen.hypothesis.scores]),
    )


def test_alignment():
    seen = alignment("a $b$ c", "d e")
    panels = [axis for axis in seen.figure().axes if axis.images]
    titles = [axis.get_title("left") for axis in panels]
    assert titles == [
        "premise → hypothesis",
        "hypothesis → premise",
        "within the premise",
        "within the hypothesis",
    ]
    np.testing.assert_allclose(
        panels[0].images[0].get_array(), seen.hypothesis.scores
    )
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert names == ["a", r"\$b\$", "c"]
    words = [label.get_text() for label in panels[0].get_xticklabels()]
    assert words == ["d", "e"]


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
    assert len(panels) == 2
    np.testing.assert_allclose(
        panels[1].images[0].get_array(), seen.feature_groups(24)[1].T
    )
    with pytest.raises(ValueError, match="weighs each feature by itself"):
        pair().feature_figure()

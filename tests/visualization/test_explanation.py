import numpy as np
import pytest

from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import Sentence
from tests.visualization.examples import alignment
from tests.visualization.examples import explanation
from tests.visualization.examples import pair


@pytest.mark.parametrize(
    "label, correct",
    [(None, None), ("good", True), ("bad", False), ("new", False)],
)
def test_correct(label, correct):
    assert explanation(label=label).correct is correct


def test_a_label_that_is_missing_is_not_known():
    seen = explanation(label=float("nan"))
    assert seen.label is None
    assert seen.correct is None


def test_a_missing_label_of_pandas_is_not_known():
    pandas = pytest.importorskip("pandas")
    assert explanation(label=pandas.NA).correct is None


@pytest.mark.parametrize(
    "labels, label",
    [([False, True], "true"), ([1.0, 2.0], "2"), (["1", "2"], 2.0)],
)
def test_the_true_label_may_be_written_as_in_a_file(labels, label):
    seen = explanation(labels=labels, label=label)
    assert seen.label is labels[1]
    assert seen.correct is True


@pytest.mark.parametrize(
    "change, message",
    [
        ({"scores": np.ones((2, 3))}, r"\(heads, 4\).*of shape \(2, 3\)"),
        ({"scores": np.ones((2, 4, 5))}, r"scores of shape \(2, 4, 5\)"),
        ({"scores": np.ones((0, 4))}, r"scores of shape \(0, 4\)"),
        ({"scores": np.full((2, 4), np.nan)}, "`scores` must be finite"),
        ({"probabilities": [1.0]}, r"shape \(2,\).*of shape \(1,\)"),
        (
            {"probabilities": [-1.0, 2.0]},
            "`probabilities` must be.*from -1.0 to 2.0",
        ),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        explanation(**change)


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: PairExplanation(
                Sentence("a", ["a"], [[1.0]]),
                Sentence("b", ["b"], [[1.0], [1.0]]),
                [1.0],
                ["x"],
            ),
            "as many heads in both sentences. Received: 1 and 2",
        ),
        (
            lambda: AlignmentExplanation(
                Sentence("a", ["a"], [[1.0]]),
                Sentence("b c", ["b", "c"], [[0.5, 0.5]]),
                [1.0],
                ["x"],
            ),
            "Expected 2 rows of scores of the premise.*Received: 1",
        ),
        (lambda: pair(labels=["x"]), r"shape \(1,\)"),
        (
            lambda: Sentence("a", ["a"], [[1.0]], features=[[1.0]]),
            r"shape \(1, 1, D\).*features of shape \(1, 1\)",
        ),
        (
            lambda: Sentence("a", ["a"], [[1.0]], intra_scores=[1.0]),
            r"shape \(1, 1\).*intra_scores of shape \(1,\)",
        ),
        (
            lambda: Sentence("a", ["a"], [[1.0]], intra_scores=[[-1.0]]),
            "`intra_scores` must be finite",
        ),
    ],
)
def test_bad_input_of_a_pair(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_overall_of_an_alignment_is_the_mean_of_the_lookers():
    seen = alignment()
    np.testing.assert_allclose(
        seen.premise.overall, seen.premise.scores.mean(axis=0)
    )

import math

import pytest

from keras_selfattn.reproduction.significance import mean_and_deviation
from keras_selfattn.reproduction.significance import paired_t_test


def test_against_the_closed_form_of_three_degrees_of_freedom():
    # Differences 0, 1, 0, 0: mean 1/4, deviation 1/2, t = 1.
    t = 1 / math.sqrt(3)
    below = 0.5 + (t / (1 + t * t) + math.atan(t)) / math.pi
    p = paired_t_test([1, 1, 0.5, 0], [1, 0, 0.5, 0])
    assert p == pytest.approx(1 - below)
    # One-tailed: the other way round the rest of the mass.
    other = paired_t_test([1, 0, 0.5, 0], [1, 1, 0.5, 0])
    assert other == pytest.approx(below)


def test_two_pairs_follow_cauchy():
    # Differences 1/2 and 0: t = 1, with one degree of freedom.
    assert paired_t_test([0.75, 0.5], [0.25, 0.5]) == pytest.approx(0.25)


def test_nothing_to_test():
    assert paired_t_test([1], [0]) is None
    assert paired_t_test([], []) is None
    assert paired_t_test([1, 0, 1], [1, 0, 1]) is None
    assert paired_t_test([0.3, 0.4], [0.2, 0.3]) is None


def test_mean_and_deviation():
    assert mean_and_deviation([1, 2, 6]) == (3, pytest.approx(math.sqrt(7)))
    assert mean_and_deviation([4]) == (4, None)

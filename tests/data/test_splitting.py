import collections

import pytest

from keras_selfattn.data.splitting import split

ROWS = [(f"text {i}", "aaaaaaabbc"[i % 10]) for i in range(100)]


def counts(part):
    return collections.Counter(label for _, label in part)


def test_each_label_has_its_share_and_no_row_is_lost():
    train, dev = split(ROWS, 0.2, seed=0)
    assert counts(dev) == {"a": 14, "b": 4, "c": 2}
    assert sorted([*train, *dev]) == sorted(ROWS)
    # In the order of the corpus, and the same again.
    assert [row for row in ROWS if row in set(dev)] == list(dev)
    assert list(dev) == list(split(ROWS, 0.2, seed=0)[1])
    assert list(dev) != list(split(ROWS, 0.2, seed=1)[1])


def test_shares_that_are_no_whole_numbers_add_up():
    rows = [(str(i), "abc"[i % 3]) for i in range(9)]
    train, dev = split(rows, 0.5, seed=0)
    assert len(list(dev)) == 4
    assert set(counts(train)) == set("abc")


def test_a_label_of_one_text_stays_in_training():
    rows = [*ROWS, ("alone", "d")]
    train, dev = split(rows, 0.9, seed=0)
    assert counts(train)["d"] == 1
    assert counts(dev)["d"] == 0


@pytest.mark.parametrize("fraction", [0, 1, -0.1, float("nan"), 0.001])
def test_fractions_that_cannot_be(fraction):
    with pytest.raises(ValueError, match="`dev_fraction` must"):
        split(ROWS, fraction, seed=0)


def test_labels_of_one_text_each_leave_none_for_dev():
    rows = [(f"text {i}", f"label {i}") for i in range(300)]
    with pytest.raises(ValueError, match="300 labels of one text each") as told:
        split(rows, 0.2, seed=0)
    assert "a label of two texts or more" in str(told.value)

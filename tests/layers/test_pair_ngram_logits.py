"""The wide part of pairs: which row an n-gram has, and how it begins."""

import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import PairNGramLogits
from keras_selfattn.layers import pair_ngram_logits

PREMISE = np.array([[7, 3, 1, 0]])
HYPOTHESIS = np.array([[3, 5, 1]])
MATCHES = [True, False, False]


def filled(**arguments):
    layer = PairNGramLogits(2, 101, **arguments)
    layer.build([(None, None), (None, None)])
    table = np.arange(202.0).reshape(101, 2)
    layer.table.assign(table)
    return layer, table


def test_logits_are_rows_over_the_root_of_their_number():
    layer, table = filled(word_ngrams=[1], match_ngrams=[2])
    # Word 3 is in both, word 5 is not, and word 1 may be any.
    words = [997 + 7, 997 + 10, 997 + 2]
    matches = [(997 * 2 + 2) % 101 * 997 + 1, (997 * 2 + 1) % 101 * 997 + 1]
    rows = np.array(words + matches) % 101
    expected = table[rows].sum(axis=0) / 5**0.5
    found = ops.convert_to_numpy(layer((PREMISE, HYPOTHESIS)))
    np.testing.assert_allclose(found, [expected], rtol=1e-6)


def test_shares_sum_to_the_logits_and_stand_where_names_do():
    layer, _ = filled(match_ngrams=[1, 3])
    logits, shares = layer((PREMISE, HYPOTHESIS), return_shares=True)
    shares = ops.convert_to_numpy(shares)
    np.testing.assert_allclose(
        shares.sum(axis=(1, 2)), ops.convert_to_numpy(logits), rtol=1e-6
    )
    names = layer.names_of_grams(["so", "on", "x"], matches=MATCHES)
    assert names == [
        ["=so", "=so +on", "=", "= + +"],
        ["+on", "+on +x", "+", ""],
        ["+x", "", "+", ""],
    ]
    np.testing.assert_array_equal(
        shares[0].any(axis=-1), [[name != "" for name in row] for row in names]
    )


def pairs(number, seed=5):
    """Pairs of a few words, and their classes."""
    rng = np.random.default_rng(seed)
    inputs = rng.integers(2, 6, (number, 3)), rng.integers(2, 6, (number, 4))
    inputs[1][::3, 2:] = 0
    return inputs, rng.integers(0, 2, number)


def adapted(batches, **arguments):
    layer = PairNGramLogits(2, 2**16, **arguments)
    layer.build([(None, None), (None, None)])
    layer.adapt(batches)
    return layer, ops.convert_to_numpy(layer.table)


def test_it_begins_as_a_logistic_regression():
    inputs, labels = pairs(50)
    layer, table = adapted([(inputs, labels)])
    # The inputs' parts of the logits, as a matrix over the rows of the table.
    rows = np.flatnonzero(table.any(axis=1))
    parts = []
    for row in rows:
        one = np.zeros_like(table)
        one[row, 0] = 1
        layer.table.assign(one)
        parts.append(ops.convert_to_numpy(layer(inputs))[:, 0])
    features = np.stack(parts, axis=1)
    layer.table.assign(table)
    logits = ops.convert_to_numpy(layer(inputs))
    np.testing.assert_allclose(logits, features @ table[rows], atol=1e-5)
    # Where 1/2 |W|^2 + 3 sum(loss) is least its gradient is zero.
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gradient = 3 * features.T @ (shares - np.eye(2)[labels])
    np.testing.assert_allclose(table[rows], -gradient, atol=0.02)
    assert np.abs(table[rows]).max() > 0.5
    assert rows.tolist() == of_two_pairs(layer, inputs)


def of_two_pairs(layer, inputs):
    """The rows of the n-grams that two pairs or more have."""
    found = {}
    for pair in layer.find(inputs):
        rows, there = map(ops.convert_to_numpy, pair)
        for number, row in zip(there.nonzero()[0], rows[there], strict=True):
            found.setdefault(row, set()).add(number)
    return sorted(row for row, of in found.items() if len(of) > 1)


def test_batches_and_shares_of_classes_do_not_matter():
    (premise, hypothesis), labels = pairs(20)
    _, whole = adapted([((premise, hypothesis), labels)])
    parts = [
        ((premise[part], hypothesis[part]), np.eye(2)[labels[part]])
        for part in (slice(7), slice(7, 7), slice(7, None))
    ]
    _, apart = adapted(parts)
    np.testing.assert_allclose(apart, whole, rtol=1e-5, atol=1e-7)


def test_of_too_many_every_second_batch_is_read(monkeypatch):
    (premise, hypothesis), labels = pairs(40)
    batches = [
        ((premise[i : i + 4], hypothesis[i : i + 4]), labels[i : i + 4])
        for i in range(0, 40, 4)
    ]
    _, fourth = adapted(batches[::4])
    _, all_of_them = adapted(batches)
    most = sum(
        np.count_nonzero(there)
        for inputs, _ in batches[::4]
        for _, there in PairNGramLogits(2, 64).find(inputs)
    )
    monkeypatch.setattr(pair_ngram_logits, "_MOST_GRAMS", most)
    _, found = adapted(batches)
    np.testing.assert_array_equal(found, fourth)
    assert (all_of_them != fourth).any()


def test_what_one_pair_has_twice_is_not_learned():
    premise, hypothesis = np.array([[3], [3]]), np.array([[4, 4], [5, 5]])
    arguments = {"word_ngrams": [1], "match_ngrams": [1]}
    layer, table = adapted(
        [((premise, hypothesis), np.array([0, 1]))], **arguments
    )
    assert not table.any()
    # A third one has the first one's word.
    premise, hypothesis = (
        np.array([[3]] * 3),
        np.array([[4, 4], [5, 5], [0, 4]]),
    )
    layer, table = adapted(
        [((premise, hypothesis), np.array([0, 1, 0]))], **arguments
    )
    assert np.flatnonzero(table.any(axis=1)).tolist() == [
        997 + 8,
        2 * 997 + 1,
    ]


def test_no_batch_fills_no_table():
    with pytest.raises(ValueError, match="at least one batch"):
        adapted([])

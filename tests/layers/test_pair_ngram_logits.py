"""The wide part of pairs: which row an n-gram has, and the ratios."""

import numpy as np
from keras import ops

from keras_selfattn.layers import PairNGramLogits

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


def test_ratios_are_of_marked_words():
    layer = PairNGramLogits(2, 2**16, word_ngrams=[1], match_ngrams=[1])
    layer.build([(None, None), (None, None)])
    premise = np.array([[3], [4], [5], [3]])
    hypothesis = np.array([[3, 0], [3, 0], [3, 0], [3, 4]])
    layer.adapt([((premise, hypothesis), np.array([0, 1, 1, 0]))])
    table = ops.convert_to_numpy(layer.table)
    # Word 3 and a match twice in class 0, word 3 and none twice in class 1;
    # in class 0 a pair has a word without a match, too, which is word 4.
    of_0 = np.array([3, 1, 3, 2]) / 9
    of_1 = np.array([1, 3, 1, 3]) / 8
    rows = [997 + 7, 997 + 6, 2 * 997 + 2, 2 * 997 + 1]
    expected = np.log(of_0 / of_1)
    np.testing.assert_allclose(
        table[rows], np.c_[expected, -expected], rtol=1e-5
    )
    assert np.count_nonzero(table.any(axis=1)) == 4

"""The wide part: which row an n-gram has, and what the ratios start it from."""

import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers import NGramLogits

TEXTS = np.array([[3, 5], [5, 0], [3, 4]])
# "so" and "on", as ids from 2 up.
CHARACTERS = np.array([[[2, 3, 0], [3, 4, 0]]])


def filled(**arguments):
    layer = NGramLogits(2, 101, **arguments)
    layer.build((None, None))
    table = np.arange(202.0).reshape(101, 2)
    layer.table.assign(table)
    return layer, table


def test_logits_are_rows_over_the_root_of_their_number():
    layer, table = filled()
    rows = [997 + 3, 997 + 5, (997 * 2 + 3) % 101 * 997 + 5]
    expected = table[np.array(rows) % 101].sum(axis=0) / 3**0.5
    found = ops.convert_to_numpy(layer(TEXTS[:1]))
    np.testing.assert_allclose(found, [expected], rtol=1e-6)


def test_shares_sum_to_the_logits():
    layer, _ = filled(character_ngrams=[2, 3])
    inputs = [TEXTS[:1], CHARACTERS]
    logits, shares = layer(inputs, return_shares=True)
    np.testing.assert_allclose(
        ops.convert_to_numpy(ops.sum(shares, axis=(1, 2))),
        ops.convert_to_numpy(logits),
        rtol=1e-6,
    )
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer(inputs)), ops.convert_to_numpy(logits)
    )


def test_names_stand_where_there_are_shares():
    layer, _ = filled(character_ngrams=[2, 3])
    _, shares = layer([TEXTS[:1], CHARACTERS], return_shares=True)
    there = ops.convert_to_numpy(shares)[0].any(axis=-1)
    names = layer.names_of_grams(["so", "on"], max_characters=3)
    assert names == [
        ["so", "so on", "_s", "so", "o_", "", "", "_so", "so_", "", "", ""],
        ["on", "", "_o", "on", "n_", "", "", "_on", "on_", "", "", ""],
    ]
    np.testing.assert_array_equal(
        there, [[name != "" for name in row] for row in names]
    )


def test_characters_of_padding_do_not_count():
    layer, _ = filled()
    words = np.array([[3, 0]])
    alone = [words[:, :1], CHARACTERS[:, :1]]
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer([words, CHARACTERS])),
        ops.convert_to_numpy(layer(alone)),
    )


@pytest.mark.parametrize("as_shares", [False, True])
def test_ratios(as_shares):
    layer = NGramLogits(2, 2**16, word_ngrams=[1])
    layer.build((None, None))
    labels = np.array([0, 1, 0])
    if as_shares:
        labels = np.eye(2)[labels]
    layer.adapt([(TEXTS[:2], labels[:2]), (TEXTS[2:], labels[2:])], scale=2.0)
    table = ops.convert_to_numpy(layer.table)
    # Of words 3 and 5, the texts of class 0 have 2 and 1, the other's 0 and
    # 1; each with 1 added. Word 4 is in one text alone.
    of_0, of_1 = np.array([3, 2]) / 5, np.array([1, 2]) / 3
    expected = 2 * np.log(of_0 / of_1)
    found = table[997 + np.array([3, 5])]
    np.testing.assert_allclose(found, np.c_[expected, -expected], rtol=1e-5)
    assert np.count_nonzero(table.any(axis=1)) == 2


def test_texts_count_and_not_their_shares_of_classes():
    tables = []
    for least in (0.05, 0.25):
        layer = NGramLogits(2, 2**16, word_ngrams=[1])
        layer.build((None, None))
        rows = np.array([[1 - least, least], [least, 1 - least]], "float32")
        layer.adapt([(TEXTS, rows[[0, 1, 0]])])
        tables.append(ops.convert_to_numpy(layer.table).any(axis=1))
    # Words 3 and 5 are in two texts each, word 4 in one.
    np.testing.assert_array_equal(*tables)
    assert np.flatnonzero(tables[0]).tolist() == [1000, 1002]
    # Of two classes at once.
    layer.adapt([(TEXTS, np.array([[1, 1], [0, 1], [1, 1]]))])
    table = ops.convert_to_numpy(layer.table)
    assert not table[997 + 4].any()


def test_an_ngram_counts_once_a_text():
    layers = []
    for texts in (TEXTS, np.array([[3, 5, 3, 5], [5, 0, 5, 0], [3, 4, 0, 0]])):
        layer = NGramLogits(2, 2**16, word_ngrams=[1])
        layer.build((None, None))
        layer.adapt([(texts, np.array([0, 1, 0]))])
        layers.append(ops.convert_to_numpy(layer.table))
    np.testing.assert_array_equal(*layers)


def test_labels_may_be_a_column():
    tables = []
    for labels in (np.array([0, 1, 0]), np.array([[0], [1], [0]])):
        layer = NGramLogits(2, 2**16, word_ngrams=[1])
        layer.build((None, None))
        layer.adapt([(TEXTS, labels)])
        tables.append(ops.convert_to_numpy(layer.table))
    assert tables[0].any()
    np.testing.assert_array_equal(*tables)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, -1, 0]),
        np.array([0, 2, 0]),
        np.array([0.0, 1.0, 0.0]),
        np.array([False, True, False]),
        np.eye(3),
        np.array([0, 1, 0, 1]),
        np.array(0),
    ],
)
def test_a_table_is_of_one_label_a_text(labels):
    layer = NGramLogits(2, 64, word_ngrams=[1])
    layer.build((None, None))
    with pytest.raises(ValueError, match="labels"):
        layer.adapt([(TEXTS, labels)])
    assert not ops.convert_to_numpy(layer.table).any()


def test_no_batch_fills_no_table():
    layer, table = filled()
    with pytest.raises(ValueError, match="at least one batch"):
        layer.adapt([])
    np.testing.assert_array_equal(ops.convert_to_numpy(layer.table), table)


def test_what_is_adapted_is_built():
    with pytest.raises(ValueError, match="must be built before"):
        NGramLogits(2, 64).adapt([(TEXTS, np.array([0, 1, 0]))])

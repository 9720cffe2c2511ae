import itertools

import pytest

from keras_selfattn.streams import chunks
from keras_selfattn.streams import map_ahead


def test_chunks():
    assert list(chunks(iter("abcde"), 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(chunks([], 2)) == []


def test_results_keep_the_order_of_the_items():
    assert list(map_ahead(str, range(100))) == [str(i) for i in range(100)]


def test_only_a_few_items_are_read_ahead():
    items = iter(range(100))
    results = map_ahead(lambda item: item, items)
    assert list(itertools.islice(results, 2)) == [0, 1]
    assert next(items) < 12
    results.close()


def test_errors_come_out_as_they_are():
    def items():
        yield 1
        raise ValueError("line 2")

    with pytest.raises(ValueError, match="^line 2$"):
        list(map_ahead(str, items()))
    with pytest.raises(ZeroDivisionError):
        list(map_ahead(lambda item: 1 / item, [2, 1, 0, 3]))

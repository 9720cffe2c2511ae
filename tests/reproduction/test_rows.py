import pytest

from keras_selfattn.reproduction import get_table
from keras_selfattn.reproduction import rows


def test_arguments_of_all_rows_are_for_those_that_take_them():
    table = get_table("lin2017", "table 1")
    found = {row.key: row for row in table.rows if row.key}
    overrides = {"units": 3, "num_heads": 2, "kernel_size": 2}
    taken = {
        key: list(rows.row_overrides(row, "yelp", overrides))
        for key, row in found.items()
    }
    assert taken == {
        "bilstm-max": ["units"],
        "cnn-max": ["units", "kernel_size"],
        "structured": ["units", "num_heads"],
    }
    with pytest.raises(ValueError, match="`num_heads` changes nothing in any"):
        rows.check_overrides(
            table,
            [found["bilstm-max"]],
            "yelp",
            {"units": 3, "hidden_units": 3, "num_heads": 2},
        )


def test_where_each_column_is_measured():
    table = get_table("chen2018", "table 4")

    def measured(corpus, *splits):
        return rows.measured_splits(table, corpus, dict.fromkeys(splits))

    nothing = dict.fromkeys(("snli", "matched", "mismatched", "yelp", "age"))
    assert measured("multinli", "train", "dev") == {
        **nothing,
        "matched": "dev",
    }
    assert measured("multinli", "train", "dev", "test", "mismatched") == {
        **nothing,
        "matched": "test",
        "mismatched": "mismatched",
    }
    assert measured("yelp", "train", "dev", "test") == {
        **nothing,
        "yelp": "test",
    }

import json

import pytest

from keras_selfattn.cli.tables import as_json


@pytest.mark.parametrize(
    "value, expected",
    [
        ({"gütig": 0.1, "n": (1, True)}, '{"gütig": 0.1, "n": [1, true]}'),
        ([float("nan"), {"a": float("-inf")}, 2.0], '[null, {"a": null}, 2.0]'),
        (
            {"half": "\ud800", "n": float("inf")},
            '{"half": "\ud800", "n": null}',
        ),
    ],
)
def test_values_as_json(value, expected):
    assert as_json(value) == expected


@pytest.mark.parametrize("leaf, expected", [("1", "1"), ("NaN", "null")])
def test_what_json_reads_it_writes(leaf, expected):
    opening, closing = '{"a": [' * 300, "]}" * 300
    value = json.loads(opening + leaf + closing)
    assert as_json(value) == opening + expected + closing

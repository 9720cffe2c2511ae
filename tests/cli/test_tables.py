import csv
import datetime
import decimal
import json

import pytest

from keras_selfattn.cli.tables import new_table
from keras_selfattn.data.values import as_json
from tests.cli.commands import fails


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


ODD = {
    "when": datetime.datetime(2024, 1, 31, 12, 30),
    "price": decimal.Decimal("1.50"),
    "name": "Zoë".encode(),
    "code": "007",
    "number": 7,
    "more": {"at": datetime.date(2024, 1, 31), "share": float("nan")},
}
AS_TEXT = {
    "when": "2024-01-31 12:30:00",
    "price": "1.50",
    "name": "Zoë",
    "code": "007",
    "number": "7",
    "more": '{"at": "2024-01-31", "share": null}',
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_values_as_text(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    if suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
    with new_table(path, dict.fromkeys(ODD)) as write:
        write(ODD)
    if suffix == ".parquet":
        (row,) = parquet.read_table(path).to_pylist()
    else:
        with open(path, newline="", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
    assert row == AS_TEXT


def test_values_of_other_types_in_json(tmp_path):
    path = tmp_path / "table.jsonl"
    with new_table(path, dict.fromkeys(ODD)) as write:
        write(ODD)
    more = {"at": "2024-01-31", "share": None}
    assert json.loads(path.read_text("utf-8")) == {
        **AS_TEXT,
        "number": 7,
        "more": more,
    }


@pytest.mark.parametrize(
    "name, command",
    [
        ("a.csv", ["predict", "MODEL", "--file=FILE", "--output=FILE"]),
        ("a.csv", ["evaluate", "MODEL", "FILE", "--predictions=FILE"]),
        ("a.jsonl", ["evaluate", "MODEL", "FILE", "--json=FILE"]),
        ("a.txt", ["explain", "MODEL", "--file=FILE", "--html=FILE"]),
        ("a.parquet", ["encode", "MODEL", "FILE", "--output=FILE"]),
        ("a.txt", ["vectors", "FILE", "--output=FILE"]),
    ],
)
def test_what_is_read_is_not_written_over(run, tmp_path, capsys, name, command):
    file = tmp_path / name
    file.write_text("text,label\ngood food,1\n")
    link = tmp_path / f"link{file.suffix}"
    link.symlink_to(file)
    command = [part.replace("MODEL", str(run)) for part in command]
    for output in (file, link):
        given = [
            part.replace("--file=FILE", f"--file={file}").replace(
                "FILE", str(output if part.startswith("--") else file)
            )
            for part in command
        ]
        fails(capsys, given, "is read: write to another file", str(output))
        assert file.read_text() == "text,label\ngood food,1\n"

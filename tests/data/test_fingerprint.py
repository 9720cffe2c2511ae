import pytest

from keras_selfattn.data.fingerprint import fingerprint

RECORDS = [("good food", "5"), ("bad", "1"), ("better", "5")]


def test_rows_and_classes():
    found = fingerprint(iter(RECORDS))
    assert found["rows"] == 3
    assert list(found["classes"].items()) == [("1", 1), ("5", 2)]


def test_labels_of_several_kinds():
    found = fingerprint([("a", "x"), ("b", 10), ("c", 9), ("d", 10)])
    assert found["classes"] == {"x": 1, 9: 1, 10: 2}


@pytest.mark.parametrize(
    "others",
    [
        [("good food", "1"), *RECORDS[1:]],
        [("good  food", "5"), *RECORDS[1:]],
        RECORDS[::-1],
        RECORDS[:2],
        [(("good", "food"), "5"), *RECORDS[1:]],
    ],
)
def test_the_checksum_tells_other_records(others):
    assert fingerprint(others)["sha256"] != fingerprint(RECORDS)["sha256"]


def test_the_checksum_stays():
    assert fingerprint(RECORDS) == fingerprint([*RECORDS])
    assert fingerprint(RECORDS)["sha256"].startswith("e6a3a2b3")


def test_no_records():
    with pytest.raises(ValueError, match="Received: none"):
        fingerprint([])

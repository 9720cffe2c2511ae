import json

from keras_selfattn.cli.spool import spooled


def nested(depth):
    return json.loads("[" * depth + "1" + "]" * depth)


def test_rows_come_back_as_they_were(tmp_path):
    rows = [
        ({"id": 1}, "good", None),
        # Deeper than pickle goes, which JSON reads.
        ({"id": 2, "more": nested(700)}, "bad", [0.5]),
        ({"id": 2.5, "more": "few"}, "", None),
    ]
    with spooled(tmp_path / "answers.csv") as spool:
        for row in rows:
            spool.add(*row)
        assert spool.columns() == {"id": float, "more": None}
        assert [tuple(row) for row in spool] == rows

import time

from keras_selfattn.encoding.progress import Progress
from keras_selfattn.encoding.shards import Shard


def test_the_time_left_follows_from_bytes():
    shards = [Shard(f"{i}", f"{i}.parquet", 100 * i) for i in (1, 2, 3, 4)]
    done = {shards[0]: {"rows": 7}, **dict.fromkeys(shards[1:])}
    progress = Progress(shards, done, None)
    assert progress.line(2) == "0 rows, 1 of 4 files, 0 rows/s"
    progress.add(40)
    assert progress.line(2) == "40 rows, 1 of 4 files, 20 rows/s"
    progress.finished(shards[1], 40)
    progress.add(20)
    # Of 700 bytes with a row each 5, 20 rows are done, at 30 rows/s.
    assert progress.line(2) == (
        "60 rows, 2 of 4 files, 30 rows/s, 0:00:04 left"
    )
    progress.gave_up(shards[2])
    assert progress.line(2).endswith("30 rows/s, 0:00:02 left")


def test_a_line_every_ten_seconds(monkeypatch):
    clock = iter((100.0, 103.0, 109.9, 110.0, 119.0, 121.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    shard = Shard("a", "a.parquet", 10)
    said = []
    progress = Progress([shard], {shard: None}, said.append)
    for _ in range(5):
        progress.add(3)
    assert said == [
        "9 rows, 0 of 1 files, 1 rows/s",
        "15 rows, 0 of 1 files, 1 rows/s",
    ]

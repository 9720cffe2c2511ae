"""The parts of the benchmark of `encode` that start no worker."""

import random
import sys

import pytest

from benchmarks import encoding


def test_sentences(tmp_path):
    encoding.write_sentences(tmp_path / "texts", 7, 3)
    sizes = [
        len(path.read_text().splitlines())
        for path in sorted((tmp_path / "texts").iterdir())
    ]
    assert sizes == [3, 2, 2]


def test_a_command_is_given_again_until_it_ends_well():
    program = [sys.executable, "-c", "import time; time.sleep(1)"]
    killed = encoding.survive(program, 3, random.Random(0), 0.6)
    assert killed == {"worker": 0, "command": 3}
    with pytest.raises(SystemExit, match="failed"):
        encoding.survive([sys.executable, "-c", "exit(2)"], 0, random, 1)


def test_folders_that_differ(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / "below" / "file").write_text("a")
    one, two = tmp_path / "one", tmp_path / "two"
    encoding.compare(one, two)
    (two / "below" / "file").write_text("b")
    with pytest.raises(SystemExit, match="below/file differs"):
        encoding.compare(one, two)
    (two / "more").touch()
    with pytest.raises(SystemExit, match="hold other files"):
        encoding.compare(one, two)

import pytest

from tests.mutants.changes import changes_of
from tests.mutants.changes import sample

SOURCE = '''\
import numpy as np


class Total:
    """A docstring with 1 number."""

    def add(self, values, scale=2.5, start=None):
        """Adds up."""
        if not values:
            raise ValueError(f"Expected 1 or more. Received: {values[0]}")
        total = np.sum(values[1:], axis=0)
        return self.first(scale - total)
'''


def changed(line):
    return {
        change.after
        for change in changes_of("a.py", SOURCE)
        if change.line == line
    }


@pytest.mark.parametrize(
    "line, expected",
    [
        (5, set()),
        (
            7,
            {
                "def add(self, values, scale=5.0, start=None):",
                "def add(self, values, scale=2.5, start=0):",
            },
        ),
        (9, {"if (not (not values)):", "if values:"}),
        (10, {"pass"}),
        (
            11,
            {
                "total = np.sum(values[1:])",
                "total = np.mean(values[1:], axis=0)",
                "total = values[1:]",
                "total = np.sum(values[2:], axis=0)",
                "total = np.sum(values[0:], axis=0)",
                "total = np.sum(values[:], axis=0)",
                "total = np.sum(values[1:], axis=1)",
                "total = np.sum(values[1:], axis=(-1))",
            },
        ),
        (
            12,
            {
                "return None",
                "return self.first((scale + total))",
                "return self.first((total - scale))",
            },
        ),
    ],
)
def test_changes_of_a_line(line, expected):
    assert expected <= changed(line)
    if not expected:
        assert not changed(line)


def test_a_change_is_of_its_piece_alone():
    lines = SOURCE.splitlines()
    for change in changes_of("a.py", SOURCE):
        after = change.apply(SOURCE).splitlines()
        assert after != lines
        assert after[: change.line - 1] == lines[: change.line - 1]
        assert after[change.line :] == lines[change.line :]
        compile(change.apply(SOURCE), "a.py", "exec")
        assert change.where == ("Total.add" if change.line > 6 else "Total")


def test_a_sample_has_each_line_once_and_outlives_edits():
    chosen = sample(changes_of("a.py", SOURCE), seed=3)
    assert sorted(change.line for change in chosen) == [7, 9, 10, 11, 12]
    longer = SOURCE.replace("class", "TWO = 2\n\n\nclass")
    again = sample(changes_of("a.py", longer), seed=3)
    kept = [change.key for change in again if change.where]
    assert kept == [change.key for change in chosen]
    others = [sample(changes_of("a.py", SOURCE), seed) for seed in range(9)]
    assert len({tuple(change.key for change in each) for each in others}) > 1

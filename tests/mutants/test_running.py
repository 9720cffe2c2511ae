import subprocess
import sys

import pytest

from tests.mutants.concerned import ROOT

PROGRAM = """
import time
from tests.mutants import running
from tests.mutants.concerned import ROOT
from tests.mutants.changes import changes_of

running.prepare()
path = "keras_selfattn/data/cutting.py"
source = (ROOT / path).read_text(encoding="utf-8")
tests = [["tests/data/test_fingerprint.py"], ["tests/data/test_batches.py"]]
traced = "count = stretch['ends']", "return tf.data.Dataset.range(count)"
for change in [None] + changes_of(path, source):
    if change is None or change.after in traced:
        run = running.Run(tests, change)
        while not run.poll():
            time.sleep(0.05)
        print(change and change.where, run.outcome, run.failed)
assert (ROOT / path).read_text(encoding="utf-8") == source
"""


@pytest.mark.slow
def test_what_is_changed_runs_and_is_traced():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0
    plain, *changed = done.stdout.splitlines()
    assert plain == "None survived None"
    assert changed
    for line in changed:
        assert line.startswith("_cut caught tests/data/test_batches.py::")

"""The harness itself, and half a dozen faults."""

import json
import pathlib
import subprocess
import sys

import pytest

import keras_selfattn
from tests.faults import __main__ as faults
from tests.faults.commands import COMMANDS
from tests.faults.kinds import FAULTS

ROOT = pathlib.Path(keras_selfattn.__file__).parents[1]
pytest.importorskip("fcntl")
pytest.importorskip("keras_tuner")


def test_each_command_meets_each_fault_as_often():
    pairs = len(COMMANDS) * len(FAULTS)
    keys = faults.chosen(2 * pairs, 0)
    assert len(set(keys)) == 2 * pairs
    assert len({key[1:] for key in keys[:pairs]}) == pairs
    assert faults.chosen(9, 1) == faults.chosen(2 * pairs, 1)[:9]
    assert {c for _, c, _ in faults.chosen(9, 0, "train")} == {"train"}
    assert {f for _, _, f in faults.chosen(9, 0, "SIGKILL")} == {"SIGKILL"}


def test_a_log_goes_on_and_becomes_a_table(tmp_path):
    path = tmp_path / "faults.jsonl"
    assert faults.read(path) == {}
    entries = [
        {"number": f"0-{n}", "command": "train", "fault": "SIGKILL"}
        for n in range(3)
    ]
    wrong = [[], [], ["hung"]]
    for entry, said in zip(entries, wrong, strict=True):
        entry["wrong"] = said
        with open(path, "a") as file:
            file.write(json.dumps(entry) + "\n")
    log = faults.read(path)
    assert ("0-1", "train", "SIGKILL") in log
    assert "| SIGKILL | 3, 1 bad | 0 |" in faults.table(log)


def test_no_signal_comes_before_the_command(tmp_path):
    script = """if True:
        import os, pathlib, signal, sys, time
        from tests.faults.process import Process

        os.setsid = lambda: time.sleep(0.5)
        process = Process(["presets"], pathlib.Path(sys.argv[1]))
        process.send(signal.SIGTERM)
        process.end()
        sys.exit(process.code)
    """
    said = tmp_path / "said.txt"
    done = subprocess.run([sys.executable, "-c", script, said], cwd=ROOT)
    assert done.returncode in (0, 143)
    assert "Traceback" not in said.read_text()


@pytest.mark.slow
def test_half_a_dozen_faults(tmp_path):
    log = tmp_path / "faults.jsonl"
    # In a process that has not used TensorFlow, which forks could not.
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults"),
            *("--count=6", f"--log={log}"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(faults.read(log)) == 6

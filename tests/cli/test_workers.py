import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails
from tests.cli.commands import train_arguments


@pytest.mark.parametrize(
    "config",
    [
        None,
        "nonsense",
        '{"cluster": {"worker": ["one:1"]}}',
        json.dumps(
            {
                "cluster": {"worker": ["one:1"]},
                "task": {"type": "worker", "index": 1},
            }
        ),
    ],
)
def test_a_process_that_is_not_told_of_the_others(
    data, tmp_path, capsys, monkeypatch, config
):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if config is not None:
        monkeypatch.setenv("TF_CONFIG", config)
    arguments = [*train_arguments(data, tmp_path / "run"), "--distribute"]
    fails(
        capsys,
        arguments,
        "`TF_CONFIG` must be a JSON object",
        f"TF_CONFIG={config}",
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("count", ["0", "-1"])
def test_too_few_workers(data, tmp_path, capsys, count):
    arguments = train_arguments(data, tmp_path / "run")
    arguments.append(f"--workers={count}")
    fails(capsys, arguments, "`--workers` must be a positive integer")


def test_workers_that_would_all_read_standard_input(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run")
    arguments = ["train", "-", *arguments[2:], "--workers=2"]
    fails(capsys, arguments, "can't all read standard input")


def start(arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "keras_selfattn", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def workers_of(process):
    """The processes that one has started, by the number of the worker."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == process.pid:
                environment = (folder / "environ").read_bytes().split(b"\0")
                for line in environment:
                    if line.startswith(b"KERAS_SELFATTN_WORKER="):
                        found[int(line.partition(b"=")[2])] = int(folder.name)
        except (OSError, IndexError, ValueError):
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_dies_and_the_run_goes_on(data, tmp_path):
    folder = tmp_path / "run"
    arguments = [
        *train_arguments(data, folder),
        "--preset=lin2017_yelp",
        "--keep-checkpoint",
        "--epochs",
    ]
    with start([*arguments, "1000", "--workers=2"]) as process:
        while process.poll() is None:
            if (folder / "checkpoint" / "state.json").exists():
                break
            time.sleep(0.1)
        killed = workers_of(process)[1]
        os.kill(killed, signal.SIGKILL)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith(
        f"keras-selfattn: error: worker 1 (process {killed}) was ended by "
        "SIGKILL; with --resume"
    )
    # Its texts are kept as they were encoded, for the run that goes on.
    assert (folder / "data").exists()
    rows = (folder / "history.csv").read_text().splitlines()
    # One process goes on alone.
    assert main([*arguments, str(len(rows)), "--resume"]) == 0
    again = (folder / "history.csv").read_text().splitlines()
    assert again[: len(rows)] == rows
    assert len(again) == len(rows) + 1
    assert not (folder / "data").exists()

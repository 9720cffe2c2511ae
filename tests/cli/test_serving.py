import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.cli.commands import fails

pytest.importorskip("uvicorn")


def test_serve_until_interrupted(run):
    arguments = ["-m", "keras_selfattn", "serve", run, "--port=0"]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        found = re.fullmatch(
            r"run \(version 1\) at (http://127\.0\.0\.1:\d+/)\n", line
        )
        assert found, (line, process.poll())
        request = urllib.request.Request(
            f"{found.group(1)}v1/models/run:predict",
            json.dumps({"instances": ["good food"]}).encode(),
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            (answer,) = json.load(response)["predictions"]
        assert sorted(answer) == ["label", "probabilities"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors == "keras-selfattn: interrupted\n"


def test_what_cannot_be_served(run, tmp_path, capsys, monkeypatch):
    fails(capsys, ["serve", tmp_path / "none"], "no folder of a model at")
    fails(capsys, ["serve", tmp_path], "no model in the folder")
    fails(capsys, ["serve", run, run], "'run', version 1, more than once")
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        fails(
            capsys,
            ["serve", run, f"--port={port}"],
            f"Nothing can listen at 127.0.0.1:{port}",
        )
    fails(capsys, ["serve", run, "--port=99999"], "`port` must be an integer")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    fails(capsys, ["serve", run], 'pip install "keras_selfattn[app]"')

"""Files encoded by workers, on Ray, and what is left where they die."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import pytest

from benchmarks.encoding import compare
from benchmarks.encoding import descendants
from benchmarks.encoding import kill
from benchmarks.encoding import workers_of
from tests.tiny_classifier import tiny_classifier

pytest.importorskip("pyarrow")
pytest.importorskip("ray")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

# What ends a test that hangs; beside other tests, Ray takes minutes to start.
WAIT = 900


def listening(processes):
    """The addresses that processes listen at, as the kernel writes them."""
    inodes = set()
    for process in processes:
        for link in pathlib.Path(f"/proc/{process}/fd").glob("*"):
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(link))
    for name in ("tcp", "tcp6"):
        lines = pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        for _, local, _, state, *rest in map(str.split, lines):
            if state == "0A" and f"socket:[{rest[5]}]" in inodes:
                yield local.partition(":")[0]


def is_loopback(address):
    # 127.0.0.1, as such or in an address of IPv6, and ::1.
    return address.endswith("0100007F") or address == "0" * 24 + "01000000"


def until(condition, process=None):
    """Waits until a condition holds, while a process goes on."""
    end = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < end
        assert process is None or process.poll() is None
        time.sleep(0.05)
    return found


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(24):
        lines = [
            json.dumps({"text": f"good food {'bad ' * (row % 9)}{number}"})
            for row in range(1500)
        ]
        (folder / f"part-{number:02}.jsonl").write_text("\n".join(lines))
    return folder


def test_kills_and_what_is_left_of_them(parts, tmp_path):
    tiny_classifier().save_to_preset(tmp_path / "model")
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    home = tmp_path / "home"
    home.mkdir()
    # Sockets have short names.
    temporary = pathlib.Path(tempfile.mkdtemp(dir="/tmp", prefix="ks_"))
    environment = {
        **os.environ,
        "HOME": str(home),
        "MPLCONFIGDIR": str(tmp_path),
        "KERAS_HOME": str(tmp_path / "keras"),
        "TMPDIR": str(temporary),
    }
    arguments = [sys.executable, "-m", "keras_selfattn", "encode"]
    arguments += [str(tmp_path / "model"), f"{parts}/part-*"]
    subprocess.run(
        [*arguments, f"--output={undisturbed}"],
        # With more threads than a worker, sums differ in their last bit.
        env={**os.environ, "TF_NUM_INTRAOP_THREADS": "1"},
        check=True,
    )
    arguments += ["--workers=2", f"--output={out}"]

    def files():
        return len(list(out.glob("*.parquet")))

    with subprocess.Popen(arguments, env=environment) as process:
        until(lambda: files() >= 1, process)
        processes = [process.pid, *descendants(process.pid)]
        assert len(processes) > 4
        addresses = list(listening(processes))
        assert addresses and all(map(is_loopback, addresses))
        # A worker's file is encoded anew by the one that takes its place.
        kill(workers_of(process.pid)[0])
        before = files()
        until(lambda: files() >= before + 2, process)
        kill(process.pid)
    assert 3 <= files() < 24
    subprocess.run(arguments, env=environment, check=True)
    compare(out, undisturbed)
    # Also not those of the workers, and of the one, that were killed.
    left = [path.name.split("_")[0] for path in temporary.iterdir()]
    # Its own vocabulary, as whatever a process has there when it is killed.
    assert set(left) <= {"vocabulary"} and len(left) <= 1
    assert not list(home.rglob("*"))
    until(lambda: not any(map(alive, processes)))


def alive(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return ") Z " not in state

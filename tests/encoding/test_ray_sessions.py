"""What surrounds a session of Ray, without starting one."""

import concurrent.futures
import os
import socket
import sys
import tempfile

import pytest

from keras_selfattn.encoding import ray_sessions
from keras_selfattn.locks import path_held

_PREFIX = ray_sessions._PREFIX


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ImportError, match=r'pip install "keras_selfattn\[clus'),
        ray_sessions.session(1, None, {}),
    ):
        pass


def test_no_cluster():
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with (
        pytest.raises(ValueError, match=f"no Ray cluster at {address}: .*ref"),
        ray_sessions.session(None, address, {}),
    ):
        pass


def test_variables_are_those_of_before(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    # As the process has it afterwards.
    monkeypatch.setenv("RAY_AUTH_TOKEN", "given")
    before = dict(os.environ)
    with ray_sessions._settings(True, {"OF_WORKERS": "1"}):
        assert os.environ["OF_WORKERS"] == "1"
        assert os.environ["RAY_AUTH_MODE"] == "disabled"
        assert os.environ["RAY_AUTH_TOKEN"] == "given"
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        # As Ray itself does.
        os.environ["RAY_CLIENT_MODE"] = "0"
    assert dict(os.environ) == before
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    with ray_sessions._settings(False, {"OF_WORKERS": "1"}):
        assert "RAY_AUTH_TOKEN" not in os.environ
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    with ray_sessions._settings(True, {"OF_WORKERS": "1"}):
        token = os.environ["RAY_AUTH_TOKEN"]
        assert len(token) == 64
    # Ray knows it by heart now, and so a second session has the same.
    with ray_sessions._settings(True, {"OF_WORKERS": "1"}):
        assert os.environ["RAY_AUTH_TOKEN"] == token


@pytest.mark.skipif(os.name == "nt", reason="no locks")
def test_folders_of_the_dead_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, alive = tmp_path / f"{_PREFIX}dead", tmp_path / f"{_PREFIX}alive"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "session").touch()

    def begin():
        with ray_sessions._temporary_folder() as folder:
            assert folder.parent == tmp_path
            return sorted(path.name for path in tmp_path.glob(f"{_PREFIX}*"))

    with (
        path_held(alive),
        concurrent.futures.ThreadPoolExecutor(1) as pool,
    ):
        found = pool.submit(begin).result()
        assert len(found) == 2 and alive.name in found
        assert dead.name not in found
    assert list(tmp_path.iterdir()) == [alive]


def test_folders_that_are_still_written_to(tmp_path, monkeypatch):
    """Ray's processes outlive for a while the one that began them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = tmp_path / f"{_PREFIX}dead"
    (dead / "logs").mkdir(parents=True)
    remove, times = ray_sessions.remove_folder, []

    def written_to(folder):
        remove(folder)
        times.append(folder)
        if folder == dead and times.count(dead) < 3:
            (dead / "logs").mkdir(parents=True)

    monkeypatch.setattr(ray_sessions, "remove_folder", written_to)
    with ray_sessions._temporary_folder():
        assert not dead.exists()
    assert times.count(dead) == 3

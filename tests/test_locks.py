import os
import pathlib
import subprocess
import sys
import threading

import pytest

from keras_selfattn import locks

pytestmark = pytest.mark.skipif(locks.fcntl is None, reason="no locks here")

HOLDER = """
import sys
from keras_selfattn.locks import folder_held
with folder_held(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def refused(folder):
    """What a thread is told that wants the lock, or `None`."""
    messages = []

    def wait():
        try:
            with locks.folder_held(folder):
                pass
        except ValueError as error:
            messages.append(str(error))

    in_a_thread(wait)
    return messages[0] if messages else None


def test_a_lock_names_its_holder_and_leaves_nothing(tmp_path):
    folder = tmp_path / "new" / "run"
    with locks.folder_held(folder):
        # What is called within may hold it as well.
        with locks.folder_held(folder):
            pass
        message = refused(folder)
        assert f"{folder} is being written by process {os.getpid()} on " in (
            message
        )
        assert " since 2" in message
    assert not list(tmp_path.iterdir())
    with locks.folder_held(folder):
        (folder / "file").touch()
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert refused(folder) is None


def test_a_lock_ends_with_the_death_of_its_holder(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        with (
            pytest.raises(ValueError, match=f"by process {process.pid} on"),
            locks.folder_held(tmp_path),
        ):
            pass
        process.kill()
    assert (tmp_path / locks.LOCK_FILE).exists()
    with locks.folder_held(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_who_held_it_before_removes_its_folder_meanwhile(tmp_path, monkeypatch):
    make, removed = pathlib.Path.mkdir, []

    def mkdir(path, **options):
        make(path, **options)
        if not removed:
            removed.append(path)
            path.rmdir()

    monkeypatch.setattr(pathlib.Path, "mkdir", mkdir)
    with locks.folder_held(tmp_path / "run"):
        assert removed == [tmp_path / "run"]
        assert (tmp_path / "run" / locks.LOCK_FILE).exists()
    assert not list(tmp_path.iterdir())


def test_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with locks.path_held(tmp_path / "file"):
        pass
    with locks.held(tmp_path / "lock", tmp_path) as alone:
        assert not alone


@pytest.mark.parametrize("below", ["", "run/more"])
def test_a_file_is_no_folder(tmp_path, below):
    file = tmp_path / "file"
    file.write_text("")
    message = f"folder that can be written. Received: {file}, a file"
    with (
        pytest.raises(ValueError, match=message),
        locks.folder_held(file / below),
    ):
        pass
    assert [*tmp_path.iterdir()] == [file]

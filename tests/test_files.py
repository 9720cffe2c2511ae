import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.files import disk_named
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import restore_folder
from keras_selfattn.files import write_text
from keras_selfattn.first_use import OF_COMMAND


def fill(folder, content):
    with replaced_folder(folder) as beside:
        write_text(beside / "file", content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_text_file_is_replaced(tmp_path):
    for content in ("first\n", "é\n"):
        write_text(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == "é\n".encode()
    assert names(tmp_path) == ["file"]


def test_a_text_file_that_cannot_be_written_stays(tmp_path):
    write_text(tmp_path / "file", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "file", "\ud800")
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


WRITING = """
import pathlib, sys, time
from keras_selfattn.files import replaced_file

with replaced_file(sys.argv[1]) as beside:
    beside.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "an[s]wers.csv"
    # What is like it is another file's, or nobody's.
    others = [".an[s]wers.csv", ".answers.csv.12.tmp", "an[s]wers.csv.1.tmp"]
    for name in others:
        (tmp_path / name).touch()
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, path],
        stdout=subprocess.PIPE,
        env={**os.environ, OF_COMMAND: "without TensorFlow"},
    ) as process:
        try:
            assert process.stdout.readline() == b"writing\n"
            # While it lives, what it writes is left alone.
            write_text(path, "first")
            (half,) = set(names(tmp_path)) - {path.name, *others}
            assert (tmp_path / half).read_text() == "half"
        finally:
            process.kill()
    assert half in names(tmp_path)
    write_text(path, "second")
    assert names(tmp_path) == sorted([path.name, *others])
    assert path.read_text() == "second"


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    folder = tmp_path / "new" / "folder"
    fill(folder, "first")
    (folder / "more").touch()
    fill(folder, "second")
    assert names(folder) == ["file"]
    assert (folder / "file").read_text() == "second"
    assert names(folder.parent) == ["folder"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    fill(tmp_path / "folder", "old")
    with (
        pytest.raises(KeyError),
        replaced_folder(tmp_path / "folder") as beside,
    ):
        write_text(beside / "file", "half")
        raise KeyError
    assert (tmp_path / "folder" / "file").read_text() == "old"
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("renamed", [1, 2])
def test_killed_between_the_renames(tmp_path, monkeypatch, renamed):
    """The folder is there, old or new, after each of the renames."""
    folder = tmp_path / "folder"
    fill(folder, "old")
    rename, left = os.replace, renamed

    def replace(source, target):
        nonlocal left
        if source.is_dir():
            if left == 0:
                raise SystemExit
            left -= 1
        rename(source, target)

    def stay(path, ignore_errors=False):
        if left == 0:
            raise SystemExit

    with monkeypatch.context() as killed, pytest.raises(SystemExit):
        killed.setattr("keras_selfattn.files.os.replace", replace)
        with replaced_folder(folder) as beside:
            write_text(beside / "file", "new")
            # From here on, as nothing tidies up after a killed process.
            killed.setattr("keras_selfattn.files.shutil.rmtree", stay)
    restore_folder(folder)
    content = {1: "old", 2: "new"}[renamed]
    assert (folder / "file").read_text() == content
    fill(folder, "newest")
    assert (folder / "file").read_text() == "newest"
    assert names(tmp_path) == ["folder"]


def test_what_a_graph_says_of_a_file_is_what_the_system_said(tmp_path):
    def read(path):
        return np.load(path.decode())

    dataset = tf.data.Dataset.from_tensors(str(tmp_path / "gone.npy")).map(
        lambda path: tf.numpy_function(read, [path], tf.float32)
    )
    with (
        pytest.raises(OSError, match=r"^\[Errno 2\] .*gone.npy'$"),
        disk_named(tmp_path),
    ):
        list(dataset)


def test_a_link_to_a_folder_stays(tmp_path):
    fill(tmp_path / "models" / "v1", "first")
    link = tmp_path / "current"
    link.symlink_to("models/v1")
    for content in ("second", "third"):
        fill(link, content)
        assert link.is_symlink()
        assert (link / "file").read_text() == content
    assert names(tmp_path) == ["current", "models"]
    assert names(tmp_path / "models") == ["v1"]


def test_what_a_killed_process_left_of_a_linked_folder(tmp_path):
    (tmp_path / "current").symlink_to("v1")
    (tmp_path / ".v1.old").mkdir()
    restore_folder(tmp_path / "current")
    assert names(tmp_path) == ["current", "v1"]

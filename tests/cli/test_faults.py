"""Full disks, folders that others write, and what died processes have left."""

import os
import shutil
import threading

import pytest

from keras_selfattn import locks
from keras_selfattn.cli import main
from tests.cli.commands import SMALL
from tests.cli.commands import fails
from tests.cli.commands import train_arguments
from tests.small_disk import elsewhere
from tests.small_disk import small_disk
from tests.tiny_classifier import tiny_classifier

FULL = ("File too large", "MB are free on its disk, which is mounted at /")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier(
        embedding_dim=500, vocabulary=map(str, range(99))
    ).save_to_preset(folder)
    return folder


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "good food\n" * 200)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def tune_arguments(data, output):
    arguments = train_arguments(data, output, "--set=encoder=cnn")
    more = ["--only", "--search=num_heads=[2,3]", "--trials=2"]
    return ["tune", *(a for a in arguments[1:] if "num_heads" not in a), *more]


def test_train_on_a_full_disk(data, tmp_path, capsys):
    run = tmp_path / "run"
    # Too small for the texts, and for the weights.
    for size in (4000, 20_000):
        with small_disk(size):
            fails(capsys, train_arguments(data, run), "run", *FULL)
        shutil.rmtree(run, ignore_errors=True)
    assert main(train_arguments(data, run, "--keep-checkpoint")) == 0
    before = (run / "model" / "model.weights.h5").read_bytes()
    arguments = train_arguments(data, run, "--resume", "--epochs=2")
    with small_disk(10_000):
        fails(capsys, arguments, str(run), *FULL)
    assert (run / "model" / "model.weights.h5").read_bytes() == before
    assert set(names(run)) - {"checksums.json"} == {
        *("checkpoint", "duration.json", "history.csv"),
        *("model", "settings.json"),
    }
    assert main(arguments) == 0


def test_tune_on_a_full_disk(data, tmp_path, capsys):
    pytest.importorskip("keras_tuner")
    with small_disk():
        fails(capsys, tune_arguments(data, tmp_path / "run"), "run", *FULL)


def test_answers_on_a_full_disk(model, texts, tmp_path, capsys):
    for command, output in (
        (["predict", model, "--file", texts], tmp_path / "answers.csv"),
        (["encode", model, texts], tmp_path / "vectors.npz"),
    ):
        output.write_text("before")
        with small_disk():
            fails(capsys, [*command, "--output", output], str(output), *FULL)
        assert output.read_text() == "before"
    output = tmp_path / "folder"
    with small_disk():
        fails(
            capsys,
            ["encode", model, texts, "--output", output],
            "folder",
            *FULL,
        )
    assert names(tmp_path) == ["answers.csv", "texts.csv", "vectors.npz"]


def test_export_on_a_full_disk(model, tmp_path, capsys):
    served = tmp_path / "served"
    (served / "1").mkdir(parents=True)
    with small_disk():
        fails(
            capsys,
            ["export", model, served, "--version=2"],
            str(served / "2"),
            *FULL,
        )
    assert names(served) == ["1"]


@pytest.mark.skipif(locks.fcntl is None, reason="no locks here")
def test_a_run_that_goes_on_elsewhere(run, data, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    before = names(copy)
    with elsewhere(locks.folder_held(copy)):
        for more in ([], ["--resume"]):
            fails(
                capsys,
                train_arguments(data, copy, *more),
                f"{copy} is being written by process {os.getpid()} on ",
            )
    assert names(copy) == before


@pytest.mark.skipif(locks.fcntl is None, reason="no locks here")
def test_searches_and_tables_that_go_on_elsewhere(data, tmp_path, capsys):
    pytest.importorskip("keras_tuner")
    reproduce = [
        *("reproduce", "lin2017", "--table=1", "--corpus=yelp"),
        *(f"--train={data / 'train.jsonl'}", f"--dev={data / 'dev.jsonl'}"),
        *("--text=review", "--label=stars", f"--output={tmp_path / 'run'}"),
    ]
    with elsewhere(locks.folder_held(tmp_path / "run")):
        for arguments in (reproduce, tune_arguments(data, tmp_path / "run")):
            fails(capsys, arguments, "run is being written by process")
    assert names(tmp_path) == []


@pytest.mark.skipif(locks.fcntl is None, reason="no locks here")
@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a"])
def test_outputs_that_are_written_elsewhere(
    model, texts, tmp_path, capsys, name
):
    output = tmp_path / name
    arguments = ["encode", model, texts, f"--output={output}"]
    if name == "a.csv":
        arguments = ["predict", model, "good", f"--output={output}"]
    with elsewhere(locks.path_held(output)):
        fails(capsys, arguments, f"{name} is being written by process")
    assert names(tmp_path) == ["texts.csv"]


def test_what_dead_exports_have_left(model, tmp_path, capsys):
    for left in ("1", "7", "live", "xq3"):
        (tmp_path / f".export-{left}" / "variables").mkdir(parents=True)
    for left in ("7", "8"):
        (tmp_path / f".export-{left}.lock").write_text("{}")
    live = locks.held(tmp_path / ".export-live.lock", tmp_path / "live")
    with elsewhere(live):
        assert main(["export", str(model), str(tmp_path)]) == 0
        assert ".export-live" in names(tmp_path)
        fails(capsys, ["export", model, tmp_path], "1 exists already")
    assert main(["export", str(model), str(tmp_path), "--version=2"]) == 0
    assert names(tmp_path) == ["1", "2"]


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_train_on_a_pipe(data, tmp_path):
    path = tmp_path / "train.jsonl"
    os.mkfifo(path)
    content = (data / "train.jsonl").read_bytes()
    threading.Thread(
        target=path.write_bytes, args=(content,), daemon=True
    ).start()
    columns = ["--text=review", "--label=stars", *SMALL]
    output = ["--dev-fraction=0.25", f"--output={tmp_path / 'run'}"]
    assert main(["train", str(path), *output, *columns]) == 0

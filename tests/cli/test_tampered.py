"""Folders of models that someone has changed."""

import json
import shutil

import h5py
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.cli import main
from tests.cli.commands import fails
from tests.cli.commands import train_arguments
from tests.tiny_classifier import tiny_classifier

LABELS = ("1", "two", "gütig")
WEIGHT = "layers/structured_self_attention/vars/0"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier(labels=LABELS).save_to_preset(folder)
    return folder


@pytest.fixture
def model(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "model")


def change(path, edit):
    content = json.loads(path.read_text("utf-8"))
    content = edit(content) or content
    path.write_text(json.dumps(content), "utf-8")


def test_a_changed_byte_is_refused_by_the_name_of_its_file(
    model, capsys, tmp_path
):
    files = sorted(path.name for path in model.iterdir())
    assert files == [
        *("checksums.json", "config.json", "model.weights.h5"),
        *("preprocessor.json", "vocabulary.txt"),
    ]
    for name in files[1:]:
        content = (model / name).read_bytes()
        place = len(content) // 2
        flipped = bytes([content[place] ^ 1])
        (model / name).write_bytes(
            content[:place] + flipped + content[place + 1 :]
        )
        fails(
            capsys,
            ["predict", model, "good"],
            f"{model / name} is not the file that was written",
            "--no-verify",
        )
        with pytest.raises(ValueError, match=name):
            models.from_preset(model)
        (model / name).unlink()
        if name != "config.json":
            fails(capsys, ["export", model, tmp_path], f"{name} is missing")
        (model / name).write_bytes(content)
    assert main(["predict", str(model), "good"]) == 0


def test_a_changed_vocabulary_is_taken_when_asked(model, capsys):
    path = model / "vocabulary.txt"
    words = path.read_text().splitlines()
    path.write_text("\n".join(sorted(words, reverse=True)) + "\n")
    fails(capsys, ["predict", model, "good"], "vocabulary.txt")
    assert main(["predict", str(model), "good", "--no-verify"]) == 0
    (model / CHECKSUMS_FILE).unlink()
    assert main(["predict", str(model), "good"]) == 0


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sha256": {"../x": 1}}'])
def test_changed_checksums(model, capsys, content):
    (model / CHECKSUMS_FILE).write_text(content)
    fails(capsys, ["predict", model, "good"], str(model))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.pop("labels") and None, "expected `labels`"),
        (lambda c: c.update(labels=None), "must have its `labels`"),
        (lambda c: c.update(labels=["1", "2"]), "`num_classes`"),
        (lambda c: c.update(labels=[["1"], "2", "3"]), "a string, a number"),
        (lambda c: c.update(labels="123"), "expected `labels`"),
        (lambda c: c.pop("training") and None, "expected `training`"),
        (lambda c: c.update(training=None), "expected `training`"),
        (lambda c: c.update(class_name=["Sentence"]), "expected `class_name`"),
        (lambda c: c.update(class_name="Model"), "'Model'"),
        (lambda c: c.update(config=[]), "expected `config`"),
        (lambda c: c["config"].update(units={"a": [1]}), "units"),
        (lambda c: c["config"].update(units=99999999999), "GB of memory"),
        (lambda c: c["config"].update(num_heads=10**9), "GB of memory"),
        (lambda c: c["config"].update(units=5), "model.weights.h5"),
        (lambda c: c["config"].update(name=[1]), "config.json"),
        (lambda c: c["config"].update(dtype={"a": 1}), "`dtype`"),
        (lambda c: [c], "config.json"),
    ],
)
def test_a_changed_configuration(model, capsys, edit, message):
    change(model / "config.json", edit)
    arguments = ["predict", model, "good", "--no-verify"]
    fails(capsys, arguments, str(model), message)


@pytest.mark.parametrize("name", ["config.json", "preprocessor.json"])
@pytest.mark.parametrize(
    "content", [b"[" * 99999, b'{"a":' * 99999, b"\xff", b"", b"7"]
)
def test_no_configuration_at_all(model, capsys, name, content):
    (model / name).write_bytes(content)
    arguments = ["predict", model, "good", "--no-verify"]
    fails(capsys, arguments, str(model / name))


@pytest.mark.parametrize(
    "values",
    [
        {"max_tokens": "many"},
        {"num_oov_indices": -1},
        {"num_oov_indices": 10**30},
        {"characters": 7},
        {"implementation": []},
        {"unknown": 1},
        {"name": [1]},
    ],
)
def test_a_changed_preprocessor(model, capsys, values):
    change(model / "preprocessor.json", lambda c: {**c, **values})
    fails(capsys, ["predict", model, "good", "--no-verify"], str(model))


@pytest.mark.parametrize("words", [["good"], [*"abcdefgh"]])
def test_a_vocabulary_of_another_length(model, capsys, words):
    (model / "vocabulary.txt").write_text("\n".join(words) + "\n")
    arguments = ["predict", model, "good", "--no-verify"]
    fails(capsys, arguments, str(model), "`vocabulary_size`")


def test_changed_weights(model, capsys):
    path = model / "model.weights.h5"
    content = path.read_bytes()
    arguments = ["predict", model, "good", "--no-verify"]
    for changed in (b"", content[: len(content) // 2], content[:-9]):
        path.write_bytes(changed)
        fails(capsys, arguments, str(path))
    path.write_bytes(content)
    with h5py.File(path, "a") as file:
        file[WEIGHT][0, 0] = np.nan
    fails(capsys, arguments, str(path), "hidden_kernel", "not finite")


def test_a_changed_run(data, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(train_arguments(data, run, "--keep-checkpoint")) == 0
    assert json.loads((run / CHECKSUMS_FILE).read_text())["sha256"].keys() == {
        "history.csv",
        "settings.json",
    }
    resume = train_arguments(data, run, "--resume", "--epochs=2")
    for name in ("history.csv", "checkpoint/state.json"):
        content = (run / name).read_text()
        (run / name).write_text(content.replace("0", "1"))
        fails(capsys, resume, f"{name} is not the file that was written")
        (run / name).write_text(content)
    path = run / "checkpoint" / "variables.npz"
    content = path.read_bytes()
    for changed in (b"", b"7", content[: len(content) // 2]):
        path.write_bytes(changed)
        fails(capsys, resume, "variables.npz is not the file")
        fails(capsys, [*resume, "--no-verify"], f"{path} does not hold")
    path.write_bytes(content)
    assert main(resume) == 0

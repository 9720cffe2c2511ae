import sys

import pytest

from keras_selfattn.cli import main
from keras_selfattn.cli.screen import progress
from tests.tiny_classifier import tiny_classifier


def show(monkeypatch):
    """Has standard error be a terminal."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_progress_is_for_terminals_alone(capsys):
    with progress(["a", "b"], "Reading") as rows:
        assert list(rows) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_progress_in_a_terminal(capsys, monkeypatch):
    show(monkeypatch)
    with progress(iter(["a", "b"]), "Reading") as rows:
        assert list(rows) == ["a", "b"]
    out, err = capsys.readouterr()
    assert out == ""
    assert "Reading: 2 texts" in err


@pytest.mark.parametrize(
    "command,more,said",
    [
        ("predict", ["--output=answers.csv", "--file"], "Answering"),
        ("evaluate", ["--json=-"], "Evaluating"),
        ("encode", ["--output=vectors.npz"], "Encoding"),
    ],
)
def test_commands_tell_how_far_they_are(
    tmp_path, capsys, monkeypatch, command, more, said
):
    monkeypatch.chdir(tmp_path)
    show(monkeypatch)
    model = tiny_classifier()
    model.save_to_preset("model")
    label = model.labels[0]
    with open("texts.csv", "w") as file:
        file.write(f"text,label\ngood food,{label}\nbad food,{label}\n")
    assert main([command, "model", *more, "texts.csv"]) == 0
    out, err = capsys.readouterr()
    assert f"{said}: 2 texts" in err
    assert said not in out

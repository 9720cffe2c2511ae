import json

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails

HISTORY = """epoch,accuracy,loss,val_accuracy,val_loss
1,0.5,1.0,0.25,1.5
2,0.6,0.9,0.75,1.25
3,0.7,0.8,0.5,1.0
"""


def write_run(folder, seconds=None, model=(), teachers=None, **training):
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "model.weights.h5").write_bytes(bytes(2_500_000))
    settings = {
        "preset": "lin2017_yelp",
        "seed": 0,
        "vectors": None,
        "model": {"units": 6, **dict(model)},
        "training": {"epochs": 3, "optimizer": "sgd", **training},
    }
    if teachers is not None:
        settings["teachers"] = teachers
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "history.csv").write_text(HISTORY)
    if seconds is not None:
        (folder / "duration.json").write_text(json.dumps({"seconds": seconds}))


def cells(line):
    return [
        cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")
    ]


@pytest.fixture
def shown(tmp_path, capsys):
    write_run(tmp_path / "a", seconds=150)
    write_run(tmp_path / "b" / "c", model={"units": 12}, monitor="loss")
    (tmp_path / "reproduction").mkdir()
    (tmp_path / "reproduction" / "settings.json").write_text('{"paper": "x"}')
    assert main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [cells(line) for line in lines if line[0] in "│┃"]


def test_runs_side_by_side(shown):
    assert shown == [
        [
            *["run", "units", "monitor", "epoch"],
            *["accuracy", "macro F1", "loss", "MB", "minutes"],
        ],
        ["a", "6", "accuracy", "2 of 3", "75.00%", "-", "1.2500", "2.5", "2.5"],
        ["b/c", "12", "loss", "3 of 3", "50.00%", "-", "1.0000", "2.5", "-"],
    ]


def test_runs_of_other_teachers(tmp_path, capsys):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b", teachers={"one": 12, "runs/two/model": 345})
    assert main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [cells(line)[:2] for line in lines if line[0] in "│┃"]
    assert shown == [
        ["run", "teachers"],
        ["a", "-"],
        ["b", "one, runs/two/model"],
    ]


def test_a_run_itself(run, capsys):
    assert main(["runs", str(run)]) == 0
    (row,) = [
        cells(line)
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("│")
    ]
    assert row[:2] == ["run", "1 of 1"]
    assert "-" not in row[-2:]


def test_no_runs(tmp_path, capsys):
    fails(capsys, ["runs", tmp_path], "There is no run", str(tmp_path))
    fails(capsys, ["runs", tmp_path / "none"], "none")

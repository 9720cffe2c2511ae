import csv
import json
import re
import sys

import numpy as np
import pytest

from keras_selfattn import evaluation
from keras_selfattn.cli import main
from keras_selfattn.models import from_preset
from tests.cli.commands import fails
from tests.tiny_classifier import tiny_classifier


def ask(run, data, *more):
    arguments = ["evaluate", str(run), str(data / "dev.jsonl")]
    more = ["--text=review", "--label=stars", *more]
    assert main([*arguments, *more]) == 0


def test_evaluate(run, data, capsys):
    ask(run, data)
    shown = capsys.readouterr().out
    assert "Accuracy" in shown
    assert "macro F1" in shown
    assert "Confusion matrix" in shown
    assert "precision" in shown


def test_figures_and_answers_as_files(run, data, tmp_path):
    figures, answers = tmp_path / "figures.json", tmp_path / "answers.csv"
    ask(run, data, f"--json={figures}", f"--predictions={answers}")
    found = json.loads(figures.read_text())
    assert found["rows"] == 20
    assert found["labels"] == ["1", "2", "3", "4", "5"]
    confusion = np.array(found["confusion"])
    assert confusion.sum() == 20
    assert found["accuracy"] == pytest.approx(np.trace(confusion) / 20)
    assert set(found["per_class"]["1"]) == {"precision", "recall", "f1", "rows"}
    with open(answers, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    given = (data / "dev.jsonl").read_text().splitlines()
    assert [row["text"] for row in rows] == [
        json.loads(line)["review"] for line in given
    ]
    again = np.zeros((5, 5), int)
    for row in rows:
        again[int(row["label"]) - 1, int(row["predicted_label"]) - 1] += 1
        shares = [float(row[f"probability_{label}"]) for label in "12345"]
        assert sum(shares) == pytest.approx(1, abs=1e-6)
        assert float(row["probability"]) == max(shares)
    assert again.tolist() == found["confusion"]
    assert "error" not in rows[0]


def test_answers_as_json_lines(run, data, tmp_path):
    answers = tmp_path / "answers.jsonl"
    ask(run, data, f"--predictions={answers}")
    rows = list(map(json.loads, answers.read_text().splitlines()))
    model = from_preset(run)
    expected = model.predict(
        {
            name: np.asarray(ids)
            for name, ids in model.preprocess(
                [row["text"] for row in rows]
            ).items()
        },
        verbose=0,
    )
    for row, probabilities in zip(rows, expected, strict=True):
        assert list(row["probabilities"].values()) == pytest.approx(
            probabilities.tolist(), abs=1e-6
        )


@pytest.mark.parametrize("columns", [None, 80, 300])
def test_many_classes(run, data, capsys, monkeypatch, columns):
    labels = [f"category {number}" for number in range(20)]
    confusion = np.eye(20, dtype=int) * 1000
    confusion[3, 7] = 321
    confusion[4] += 1
    confusion[5, 0] = 1
    found = evaluation.Evaluation(labels, confusion)
    monkeypatch.setattr(evaluation, "evaluate", lambda *_: found)
    if columns is not None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm")
    ask(run, data)
    shown = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)
    assert "\u2026" not in shown
    words = " ".join(shown.replace("\u2502", " ").split())
    assert words.count("category 19") == (2 if columns == 80 else 3)
    assert ("Confusion matrix" in shown) == (columns != 80)
    if columns == 80:
        assert "category 3 category 7 321" in words
        assert "and 1 other pairs of classes" in words


def test_files_that_cannot_be_written(run, data, tmp_path, capsys):
    arguments = ["evaluate", run, data / "dev.jsonl"]
    for option in ("--predictions=a.txt", f"--json={tmp_path / 'a' / 'b'}"):
        fails(capsys, [*arguments, option], option.partition("=")[2])


def test_figures_on_standard_output(run, data, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask(run, data, "--json=figures.json")
    capsys.readouterr()
    ask(run, data, "--json", "-")
    shown = capsys.readouterr().out
    assert shown == (tmp_path / "figures.json").read_text()
    arguments = ["evaluate", run, data / "dev.jsonl", "--json", "-"]
    fails(capsys, [*arguments, "--faithfulness"], "--json - prints no tables")
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]


def test_an_unseen_label(run, tmp_path, capsys):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "good", "label": "great"}\n')
    arguments = ["evaluate", run, path, f"--json={tmp_path / 'figures.json'}"]
    expected = f"{path}:1: expected one of the labels 1, 2, 3, 4, 5"
    fails(capsys, arguments, "'great'", expected)
    assert list(tmp_path.iterdir()) == [path]


def test_an_unseen_label_among_many(run, tmp_path, capsys):
    path = tmp_path / "dev.csv"
    path.write_text("text,label\ngood,1\nbad,six\nbad,2\n")
    arguments = ["evaluate", str(run), str(path), "--max-bad-rate=0.5"]
    assert main(arguments) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "3 rows, left out: 1 unknown label" in line
    assert f"{path}:3: expected" in line
    assert "'six'" in line


@pytest.mark.parametrize("more", [[], ["--json=-"]])
def test_unread_words_are_counted_at_the_end(tmp_path, capsys, more):
    model = tiny_classifier()
    model.preprocessor.max_tokens = 3
    model.save_to_preset(tmp_path / "model")
    file = tmp_path / "texts.csv"
    for rows, told in (
        (["bad food,two"], []),
        (
            ["a b c d e,1", "bad food,two", "bad food is bad food,1"],
            [
                "keras-selfattn: 4 words of 2 texts were not read: they lie "
                "beyond `max_tokens`"
            ],
        ),
    ):
        file.write_text("\n".join(["text,label", *rows]))
        folder = str(tmp_path / "model")
        assert main(["evaluate", folder, str(file), *more]) == 0
        assert capsys.readouterr().err.splitlines() == told


def test_pairs_for_a_model_of_texts(run, tmp_path, capsys):
    path = tmp_path / "dev.csv"
    path.write_text("a,b,label\ngood,bad,1\n")
    columns = ["--text=a", "--text-pair=b"]
    fails(capsys, ["evaluate", run, path, *columns], "single texts")

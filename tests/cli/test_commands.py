import csv
import gzip
import json
import os
import signal
import subprocess
import sys

import pytest

from keras_selfattn.cli import main
from keras_selfattn.cli import make_parser
from keras_selfattn.data.generated import generate_reviews

SMALL = [
    "--epochs=1",
    "--batch-size=16",
    "--set=units=6",
    "--set=embedding_dim=8",
    "--set=attention_dim=5",
    "--set=num_heads=2",
    "--set=hidden_units=8",
]


def write_reviews(path, size, seed):
    rows = [
        {"review": r.text, "stars": float(r.label)}
        for r in generate_reviews(size, seed=seed)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_reviews(folder / "train.jsonl", 48, 1)
    write_reviews(folder / "dev.jsonl", 20, 2)
    return folder


def train_arguments(data, output, *more):
    return [
        "train",
        str(data / "train.jsonl"),
        f"--dev={data / 'dev.jsonl'}",
        f"--output={output}",
        "--text=review",
        "--label=stars",
        *SMALL,
        *more,
    ]


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(train_arguments(data, folder)) == 0
    return folder


def fails(capsys, arguments, *parts):
    """The command ends with code 2 and one line that has these parts."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("keras-selfattn: error: ")
    for part in parts:
        assert part in lines[0]


def test_train_reports_the_best_epoch(data, tmp_path, capsys):
    assert main(train_arguments(data, tmp_path / "run")) == 0
    assert "Best dev accuracy" in capsys.readouterr().out
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["model"]["units"] == 6


def test_evaluate(run, data, capsys):
    assert (
        main(
            [
                "evaluate",
                str(run),
                str(data / "dev.jsonl"),
                "--text=review",
                "--label=stars",
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "Accuracy" in shown
    assert "Confusion matrix" in shown
    assert "precision" in shown


def test_predict(run, capsys):
    texts = ["good food", "", "   ", "\U0001f600", "a\x00b", "word " * 2000]
    assert main(["predict", str(run), *texts]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(texts)
    for text, line in zip(texts, lines, strict=True):
        answer = json.loads(line)
        assert answer["text"] == text
        assert answer["label"] in "12345"
        assert sum(answer["probabilities"].values()) == pytest.approx(
            1, abs=1e-3
        )


def test_predict_a_file(run, data, capsys):
    path = data / "dev.jsonl"
    assert main(["predict", str(run), f"--file={path}", "--text=review"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


def test_explain_in_the_terminal(run, capsys):
    assert main(["explain", str(run), "The food was good."]) == 0
    shown = capsys.readouterr().out
    for word in ("The", "food", "good"):
        assert word in shown


def test_explain_as_a_page(run, data, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["explain", str(run), f"--file={data / 'dev.jsonl'}"]
    more = ["--text=review", "--label=stars", f"--html={page}"]
    assert main([*arguments, *more]) == 0
    assert str(page) in capsys.readouterr().out
    assert "<html" in page.read_text()


def test_export_answers_raw_text(run, tmp_path, capsys):
    from keras_selfattn.serving import load_savedmodel

    assert main(["export", str(run), str(tmp_path / "served")]) == 0
    path = capsys.readouterr().out.strip()
    assert path == str(tmp_path / "served" / "1")
    labels, probabilities = load_savedmodel(path).predict(["good food"])
    assert len(labels) == 1
    assert probabilities.shape == (1, 5)


def test_a_terminated_export_leaves_nothing(run, tmp_path):
    code = (
        "import os, signal, sys, time;"
        "from keras_selfattn.cli import main;"
        "from keras_selfattn.serving import agreement;"
        "agreement.check = lambda *_: ("
        "    os.kill(os.getpid(), signal.SIGTERM), time.sleep(60)"
        ");"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "export", run, tmp_path / "served"],
        capture_output=True,
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_presets(capsys):
    from keras_selfattn import models

    assert main(["presets"]) == 0
    shown = capsys.readouterr().out
    for name in models.list_presets():
        assert name in shown


def test_csv_and_gz(data, tmp_path):
    path = tmp_path / "train.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["stars", "review"])
        for review in generate_reviews(32, seed=1):
            writer.writerow([review.label, review.text])
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(path)
    assert main(arguments) == 0


def test_module_and_interrupt_free_start(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "keras_selfattn", "evaluate", "none", "none"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.strip().splitlines() == [
        "keras-selfattn: error: There is no folder of a model at none"
    ]


def test_a_missing_column(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--text=words")
    fails(capsys, arguments, "words", "review", "stars", "train.jsonl:1")


def test_a_missing_file(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(tmp_path / "none.jsonl")
    fails(capsys, arguments, "none.jsonl")


def test_a_broken_gz(data, tmp_path, capsys):
    whole = gzip.compress((data / "train.jsonl").read_bytes())
    path = tmp_path / "train.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(path)
    fails(capsys, arguments, "train.jsonl.gz")


def test_an_unseen_label(run, tmp_path, capsys):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "good", "label": "great"}\n')
    fails(capsys, ["evaluate", run, path], "'great'", "1, 2, 3, 4, 5")


def test_an_output_that_exists(run, data, capsys):
    fails(capsys, train_arguments(data, run), "must be new", str(run))


@pytest.mark.skipif(os.name == "nt", reason="no /proc to be read-only")
def test_an_output_that_cannot_be_written(data, capsys):
    fails(capsys, train_arguments(data, "/proc/run"), "/proc/run")


def test_bad_vectors(data, tmp_path, capsys):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\nfood 0.4 0.5\n")
    arguments = train_arguments(data, tmp_path / "run", f"--vectors={path}")
    fails(capsys, arguments, "vectors.txt:2")
    assert not (tmp_path / "run").exists()


def test_an_unknown_preset(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--preset=lin2018")
    fails(capsys, arguments, "lin2018", "lin2017_yelp")


def test_an_unknown_model_argument(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--set=heads=3")
    fails(capsys, arguments, "heads")
    assert not (tmp_path / "run").exists()


def test_a_size_that_follows_from_the_data(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--set=num_classes=3")
    fails(capsys, arguments, "'num_classes' follows from the data")


def test_values_in_json_in_python_s_spelling_and_strings():
    texts = ["true", "False", "None", "null", "[3, 4]", "0.5", "max", "falsely"]
    arguments = [f"--set=x={text}" for text in texts]
    options = make_parser().parse_args(
        ["train", "texts.csv", "--output=run", *arguments]
    )
    values = [value for _, value in options.set]
    assert values == [True, False, None, None, [3, 4], 0.5, "max", "falsely"]


def test_neither_texts_nor_file(run, capsys):
    fails(capsys, ["predict", run], "--file")


def test_a_setting_without_a_value(data, tmp_path, capsys):
    with pytest.raises(SystemExit) as raised:
        main(train_arguments(data, tmp_path / "run", "--set=units"))
    assert raised.value.code == 2
    assert "NAME=VALUE" in capsys.readouterr().err


@pytest.mark.slow
def test_the_demo(tmp_path, capsys):
    assert main(["demo", f"--output={tmp_path / 'demo'}"]) == 0
    shown = capsys.readouterr().out
    accuracy = float(shown.split("Dev accuracy ")[1].split("%")[0])
    assert accuracy > 90
    assert (tmp_path / "demo" / "explain.html").exists()
    assert (tmp_path / "demo" / "savedmodel" / "1").is_dir()

import signal
import subprocess
import sys

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails


def test_export_answers_raw_text(run, tmp_path, capsys):
    from keras_selfattn.serving import load_savedmodel

    assert main(["export", str(run), str(tmp_path / "served")]) == 0
    path = capsys.readouterr().out.strip()
    assert path == str(tmp_path / "served" / "1")
    labels, probabilities = load_savedmodel(path).predict(["good food"])
    assert len(labels) == 1
    assert probabilities.shape == (1, 5)


def test_export_of_another_format(run, tmp_path, capsys):
    folder = tmp_path / "litert"
    arguments = ["export", str(run), str(folder), "--format=litert"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip() == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "characters.txt",
        "checksums.json",
        "labels.json",
        "model.tflite",
        "model_card.md",
        "preprocessor.json",
        "vocabulary.txt",
    ]
    # The run's own card, with its figures.
    card = (folder / "model_card.md").read_text(encoding="utf-8")
    assert "## Figures" in card
    assert "`model.tflite` runs in LiteRT" in card
    fails(capsys, arguments, "exists already")
    fails(capsys, [*arguments, "--version=2"], "--version is for savedmodel")


def test_reduced_precision_that_a_format_has_not(run, data, tmp_path, capsys):
    fails(
        capsys,
        [
            *("export", run, tmp_path / "new", "--format=onnx"),
            *("--reduced-precision=bfloat16", f"--check={data}/dev.jsonl"),
            *("--text=review", "--label=stars"),
        ],
        "onnx can't hold a model that computes in bfloat16; savedmodel can",
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            ["text,label", "good,1", "bad,9"],
            [],
            "rows.csv:3: expected one of the labels 1, 2, 3, 4, 5, received "
            "'9' - the first of 1 bad of 2 rows",
        ),
        (
            ["text,pair,label", "good,bad,1"],
            ["--text-pair=pair"],
            "The model takes single texts, and no --pair or --text-pair",
        ),
    ],
)
def test_checked_texts_are_refused_as_evaluated_ones(
    run, tmp_path, capsys, rows, options, message
):
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    file = str(tmp_path / "rows.csv")
    fails(capsys, ["evaluate", run, file, *options], message)
    reduced = ["--reduced-precision=int8", f"--check={file}", *options]
    fails(capsys, ["export", run, tmp_path / "new", *reduced], message)
    assert not (tmp_path / "new").exists()


def test_the_format_of_the_check_has_an_option_of_its_own(
    run, tmp_path, capsys
):
    file = tmp_path / "rows.txt"
    file.write_text("text\tlabel\ngood\t1\n")
    reduced = ["--reduced-precision=int8", f"--check={file}"]
    message = "unless --check-format names another"
    fails(capsys, ["export", run, tmp_path / "new", *reduced], message)


def test_bad_rows_are_left_out_of_the_check(run, tmp_path, capsys):
    file = tmp_path / "rows.csv"
    file.write_text("text,label\ngood,1\nbad,9\n")
    arguments = ["--reduced-precision=int8", f"--check={file}"]
    folder = str(tmp_path / "new")
    bad = "--max-bad-rate=0.5"
    assert main(["export", str(run), folder, *arguments, bad]) == 0
    printed = capsys.readouterr()
    assert "of 1 texts" in printed.out
    assert "1 unknown label" in printed.err


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


def test_options_of_the_checked_texts_need_them(run, tmp_path, capsys):
    for option in ("--text=review", "--check-format=csv", "--max-bad-rate=0.1"):
        fails(
            capsys,
            ["export", run, tmp_path / "new", "--version=3", option],
            f"`{option.split('=')[0]}` is for the texts of --check, which is "
            "not given. Received: ",
        )
    assert list(tmp_path.iterdir()) == []

import json
import os
import pathlib
import subprocess
import sys

import pytest

import keras_selfattn

ROOT = pathlib.Path(keras_selfattn.__file__).parents[1]
SCRIPT = """
import sys
from keras_selfattn.cli import main
sys.exit(main())
"""
PAIRS = '{"text": "good", "label": "1"}\n{"text": "bad", "label": "2"}\n'


@pytest.fixture
def place(tmp_path):
    """A folder with what is needed for a command without Keras."""
    for name in ("keras", "tensorflow"):
        (tmp_path / "without" / name).mkdir(parents=True)
        (tmp_path / "without" / name / "__init__.py").write_text(
            "raise ImportError('Keras is wanted')"
        )
    (tmp_path / "keras-selfattn").write_text(SCRIPT)
    (tmp_path / "texts.jsonl").write_text(PAIRS)
    (tmp_path / "folder").mkdir()
    (tmp_path / "served" / "1").mkdir(parents=True)
    (tmp_path / "served" / "1" / "saved_model.pb").touch()
    (tmp_path / "run" / "model").mkdir(parents=True)
    (tmp_path / "run" / "model" / "config.json").touch()
    return tmp_path


def start(place, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=place,
        env={
            **os.environ,
            "PYTHONPATH": f"{place / 'without'}{os.pathsep}{ROOT}",
            **environment,
        },
    )


@pytest.mark.parametrize(
    "program", [["-m", "keras_selfattn"], ["-u", "keras-selfattn"]]
)
@pytest.mark.parametrize("arguments", ["--help", "train --help", "presets"])
def test_answers_without_keras(place, program, arguments):
    done = start(place, *program, *arguments.split())
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate none none", "There is no folder of a model at none"),
        ("predict folder text", "There is no model in the folder folder"),
        ("predict served text", "The folder served holds an export"),
        ("evaluate served/1 texts.jsonl", "folder served/1 holds an export"),
        ("explain run text --html -", "path of a file to write. Received: -"),
        ("predict run", "Expected texts, or --file with a file of texts"),
        ("explain run --file none.jsonl", "No such file or directory"),
        ("export run new --check texts.jsonl", "Expected both"),
        ("train texts.jsonl --output new", "Expected --dev"),
        ("train texts.jsonl --output run", "must be new. run exists"),
        ("train texts.jsonl --output folder", "Expected --dev"),
        (
            "train texts.jsonl --output new --dev texts.jsonl "
            "--dev-fraction 0.1",
            "Expected --dev or --dev-fraction",
        ),
        (
            "train texts.jsonl --output new --dev-split dev --dev-fraction 0.1",
            "Expected --dev-split or --dev-fraction",
        ),
        (
            "train texts.jsonl --output new --dev-fraction 1.5",
            "`dev_fraction` must be a number above 0 and below 1",
        ),
        (
            "train texts.jsonl --dev texts.jsonl --output new --monitor f1",
            "`monitor` must be accuracy, macro_f1 or loss",
        ),
        (
            "train texts.jsonl --dev texts.jsonl --output new --class-weight 2",
            "`class_weight` must be None or balanced",
        ),
        ("runs folder", "There is no run in the folder folder"),
        ("train texts.jsonl --dev none.csv --output new", "none.csv"),
        ("tune none.zip --output new", "none.zip"),
        (
            "train texts.jsonl --dev texts.jsonl --output new --text words",
            "texts.jsonl:1: expected",
        ),
        (
            "train texts.jsonl --dev texts.jsonl --output new --set name=a",
            "'name' follows from the data",
        ),
        (
            "train texts.jsonl --dev texts.jsonl --output new --vectors none",
            "'none'",
        ),
        (
            "train texts.jsonl --dev texts.jsonl --output new --epochs 0",
            "`epochs` must be a positive integer",
        ),
        (
            "tune texts.jsonl --dev texts.jsonl --output new --set units=3 "
            "--search units=[3]",
            "Both set and to be searched: units",
        ),
        ("train x.csv --dev x.csv --output new --preset lin", "'lin'"),
        ("train x.csv --dev x.csv --output new --recipe lin", "'lin'"),
        (
            "reproduce lin2017 --table 9 --corpus yelp --train x --output new",
            "'lin2017 table 9'",
        ),
        ("demo --output folder", "folder exists"),
        # All is well so far.
        ("predict run text", "Keras is wanted"),
    ],
)
def test_faults_that_are_found_without_keras(place, arguments, message):
    done = start(place, "-m", "keras_selfattn", *arguments.split())
    (line,) = done.stderr.splitlines()
    assert line.startswith("keras-selfattn: error: ")
    assert message in line
    assert done.returncode == 2


@pytest.mark.parametrize("more", [[], ["--workers=1"]])
@pytest.mark.parametrize(
    ("column", "message"),
    [("text", "must be different columns"), ("words", "one column 'words'")],
)
def test_columns_of_many_files_are_checked_without_keras(
    place, column, message, more
):
    pytest.importorskip("pyarrow")
    columns = [f"--text={column}", "--text-pair=text"]
    given = ["encode", "run", "texts*.jsonl", "--output=new", *columns, *more]
    done = start(place, "-m", "keras_selfattn", *given)
    (line,) = done.stderr.splitlines()
    assert line.startswith("keras-selfattn: error: ")
    assert message in line
    assert done.returncode == 2
    assert not (place / "new").exists()


def test_a_user_s_program_imports_the_classes(place):
    done = start(place, "-c", "import keras_selfattn")
    assert "Keras is wanted" in done.stderr


def test_a_backend_that_is_not_there(place):
    arguments = ["-m", "keras_selfattn", "predict", "run", "text"]
    done = start(place, *arguments, KERAS_BACKEND="jx")
    (line,) = done.stderr.splitlines()
    assert "`KERAS_BACKEND` must be tensorflow, jax or torch" in line
    assert "KERAS_BACKEND='jx'" in line
    assert done.returncode == 2


def test_an_answer_without_a_note_of_tensorflow_s(run, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "keras_selfattn", "predict", run, "good"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout)["text"] == "good"


KNOWN = """
import json, sys
from keras_selfattn.cli import main
code = main(sys.argv[1:])
names = ("jax", "matplotlib", "pandas", "sklearn", "tensorflow")
loaded = [name for name in names if name in sys.modules]
import matplotlib.figure
print(json.dumps([code, loaded]))
"""


def test_what_keras_would_import_for_nothing_stays_away(run, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "keras-selfattn").write_text(KNOWN)
    done = subprocess.run(
        [sys.executable, "keras-selfattn", "predict", run, "good"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": ""},
    )
    assert done.stderr == ""
    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["text"] == "good"
    assert json.loads(loaded) == [0, ["tensorflow"]]

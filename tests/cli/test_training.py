import csv
import gzip
import json
import os

import pytest

from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews
from tests.cli.commands import fails
from tests.cli.commands import train_arguments


def test_train_reports_the_best_epoch(data, tmp_path, capsys):
    assert main(train_arguments(data, tmp_path / "run")) == 0
    assert "Best dev accuracy" in capsys.readouterr().out
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["model"]["units"] == 6


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

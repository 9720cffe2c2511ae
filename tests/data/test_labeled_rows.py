"""What is no labeled text is told, by all that take some."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import evaluation
from keras_selfattn import faithfulness
from keras_selfattn import models
from keras_selfattn import reproduction
from keras_selfattn import training
from keras_selfattn import tuning
from keras_selfattn.data import split
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.data.labeled_rows import check_row
from keras_selfattn.data.labeled_rows import check_rows
from keras_selfattn.data.labeled_rows import labeled_rows
from keras_selfattn.text import TextPreprocessor
from tests.tiny_classifier import tiny_classifier

ROWS = [("good", "1"), (("a", "b"), 2), (["a", "b"], "x")]


def test_rows_stay_as_they_are():
    assert list(labeled_rows(iter(ROWS))) == ROWS
    for rows in (
        np.array([["good", "1"], ["bad", "0"]]),
        np.array([["good", 1], ["bad", 0]], object),
        list(zip(np.array([["a", "b"], ["c", "d"]]), [1, 0], strict=True)),
    ):
        assert str(list(labeled_rows(rows))) == str(list(rows))
    known = ("good", "1", (0,), 5)
    assert check_row(known, 1, most=None) is known


@pytest.mark.parametrize(
    "row",
    [
        # Each has two parts, or a text and a label somewhere.
        "ab",
        {"text": "good", "label": "1"},
        {"good", "1"},
        ("good",),
        ("good", "1", 0.5),
        None,
        5,
        tf.constant(["good", "1"]),
    ],
)
def test_what_is_no_row(row):
    with pytest.raises(ValueError, match="^Row 2 must be a text and its label"):
        list(labeled_rows([("good", "1"), row]))


@pytest.mark.parametrize(
    "text",
    [
        None,
        float("nan"),
        5,
        b"good",
        ["a", "b", "c"],
        ("a", None),
        {"premise": "a", "hypothesis": "b"},
        {"a", "b"},
    ],
)
def test_what_is_no_text(text):
    with pytest.raises(ValueError, match="^The text of row 1 must be a string"):
        list(labeled_rows([(text, "1")]))


def test_a_long_row_is_cut():
    with pytest.raises(ValueError, match="^.{1,260}$"):
        list(labeled_rows(["good food " * 99]))


def table():
    return pytest.importorskip("pandas").DataFrame({"text": [], "label": []})


NO_ROWS = {
    "'rows.csv'": lambda: "rows.csv",
    "Path('rows.csv')": lambda: pathlib.PurePosixPath("rows.csv"),
    "None": lambda: None,
    "5": lambda: 5,
    "none": list,
    "a generator, which can be read only once": lambda: (row for row in ROWS),
    "a zip, which can be read only once": lambda: zip("ab", "cd", strict=True),
    "a tf.data.Dataset": lambda: tf.data.Dataset.from_tensors(("a", "b")),
    "a DataFrame": table,
}


@pytest.mark.parametrize("received", NO_ROWS)
def test_what_can_hold_no_rows(received):
    with pytest.raises(ValueError) as error:
        check_rows(NO_ROWS[received](), "dev_texts")
    said = str(error.value)
    assert said.startswith("`dev_texts` must be rows of a text and its label")
    assert said.endswith(received)
    dataset = "Dataset" in received or "Frame" in received
    assert ("DatasetTexts" in said) is dataset


def test_rows_that_can_be_read_again():
    for rows in (ROWS, tuple(ROWS), dict.fromkeys(ROWS[:2]).keys()):
        check_rows(rows, "dev_texts")


def train(folder, train_texts, dev_texts=ROWS):
    training.train("lin2017_yelp", train_texts, dev_texts, folder / "run")


def search(folder, train_texts):
    for package in ("keras_tuner", "matplotlib", "sklearn"):
        pytest.importorskip(package)
    tuning.search(
        "lin2017_yelp",
        *(train_texts, ROWS, folder / "run"),
        trials=1,
        arguments={"units": [2, 3]},
    )


def reproduce(folder, rows):
    pytest.importorskip("scipy")
    reproduction.reproduce(
        *("lin2017", "table 1", "yelp", ROWS, rows), folder=folder / "run"
    )


ASKED = {
    "reproduce": reproduce,
    "train": train,
    "train_dev": lambda folder, rows: train(folder, [ROWS[0]] * 20, rows),
    "search": search,
    "prepare": lambda _, rows: training.prepare(
        "lin2017_yelp",
        *(rows, ROWS),
        models.get_preset("lin2017_yelp").training,
        {},
    ),
    "prepare_shards": lambda folder, rows: training.prepare_shards(
        "lin2017_yelp", [rows], ROWS, folder / "run", processes=1
    ),
    "from_texts": lambda _, rows: EncodedDataset.from_texts(
        rows, TextPreprocessor(["a"])
    ),
    "split": lambda _, rows: split(rows, 0.5, seed=0),
    "fingerprint": lambda _, rows: fingerprint(rows),
    "evaluate": lambda _, rows: evaluation.evaluate(tiny_classifier(), rows),
    "measure": lambda _, rows: faithfulness.measure(tiny_classifier(), rows),
}


@pytest.mark.parametrize("asked", ASKED)
def test_texts_without_labels_are_told_by_all(asked, tmp_path):
    for name, row in (("x", "ab"), ("y", {"text": "a", "label": "b"})):
        with pytest.raises(ValueError, match="Row 1 must be a text and its"):
            ASKED[asked](tmp_path / name, [row, row])


@pytest.mark.parametrize(
    "asked",
    ["train", "train_dev", "search", "prepare", "prepare_shards", "reproduce"],
)
def test_a_generator_is_told_by_all_that_read_twice(asked, tmp_path):
    with pytest.raises(ValueError, match="can be read only once"):
        ASKED[asked](tmp_path, iter(ROWS))
    if asked != "search":
        assert not list(tmp_path.rglob("*"))

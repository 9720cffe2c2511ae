import collections
import json

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.data.adapters import DatasetTexts
from keras_selfattn.data.corpus import Corpus

NAMES = ["entailment", "neutral", "contradiction"]
COLUMNS = {
    "premise": ["A dog runs.", "Né à Paris.", "A cat."],
    "hypothesis": ["It rests.", "Born.", "A dog."],
    "label": [2, -1, 0],
}
PAIRS = [
    (("A dog runs.", "It rests."), "contradiction"),
    (("A cat.", "A dog."), "entailment"),
]

ClassLabel = collections.namedtuple("ClassLabel", "names")
Value = collections.namedtuple("Value", "dtype")


class HuggingFaceSplit:
    """What iterating over a split of a Hugging Face dataset looks like."""

    def __init__(self, columns, features):
        self.columns = columns
        self.features = features

    def __iter__(self):
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))


def of_pairs(dataset, **arguments):
    return DatasetTexts(
        dataset, text="premise", text_pair="hypothesis", **arguments
    )


def test_tensorflow_datasets_of_dictionaries():
    dataset = tf.data.Dataset.from_tensor_slices(
        {**COLUMNS, "label": np.array(COLUMNS["label"], "int64")}
    )
    corpus = of_pairs(dataset, label_names=NAMES, max_bad_rate=0)
    for _ in range(2):
        assert list(corpus) == PAIRS
        assert corpus.report.counts == {"without gold label": 1}


def test_tensorflow_datasets_as_supervised():
    dataset = tf.data.Dataset.from_tensor_slices(
        (["Né ici.", "b"], np.array([1, 0], "int64"))
    )
    assert list(DatasetTexts(dataset)) == [("Né ici.", "1"), ("b", "0")]


def test_hugging_face_has_the_names_of_its_labels():
    features = {"label": ClassLabel(NAMES), "premise": Value("string")}
    dataset = HuggingFaceSplit(COLUMNS, features)
    corpus = of_pairs(dataset)
    assert list(corpus) == list(corpus) == PAIRS
    columns = {"text": ["a", "b"], "stars": [5, None]}
    plain = {"text": Value("string"), "stars": Value("int64")}
    for features in (plain, None):
        dataset = HuggingFaceSplit(columns, features)
        corpus = DatasetTexts(dataset, label="stars")
        assert list(corpus) == [("a", "5")]
        assert corpus.report.counts == {"without gold label": 1}


def test_labels_that_are_strings():
    columns = {"text": ["a", "b"], "label": ["good", None]}
    features = {"text": Value("string"), "label": Value("string")}
    corpus = DatasetTexts(HuggingFaceSplit(columns, features))
    assert list(corpus) == [("a", "good")]
    assert corpus.report.counts == {"without gold label": 1}


def test_labels_are_those_of_a_file(tmp_path):
    labels = [True, False, 5.0, 4.5, 3, "x", "5.0", None, float("nan")]
    rows = [{"text": "a", "label": label} for label in labels]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = [label for _, label in DatasetTexts(rows, max_bad_rate=0)]
    assert found == [label for _, label in Corpus(path, max_bad_rate=0)]
    assert found == ["true", "false", "5", "4.5", "3", "x", "5.0"]


@pytest.mark.parametrize(
    "labels, expected",
    [
        (np.array([True, False]), ["true", "false"]),
        (np.array([5, 4.5, -1, np.nan], "float32"), ["5", "4.5"]),
        (np.array([2, -1], "int8"), ["2"]),
    ],
)
def test_labels_of_numpy(labels, expected):
    dataset = tf.data.Dataset.from_tensor_slices(
        {"text": ["a"] * len(labels), "label": labels}
    )
    corpus = DatasetTexts(dataset, max_bad_rate=0)
    assert [label for _, label in corpus] == expected


def test_labels_that_are_told_later_name_no_numbers():
    corpus = DatasetTexts([{"text": "a", "label": 1}])
    corpus.expect(["1", "2"])
    assert list(corpus) == [("a", "1")]


def test_names_that_are_given_come_first():
    features = {"label": ClassLabel(NAMES)}
    corpus = of_pairs(
        HuggingFaceSplit(COLUMNS, features), label_names=["yes", "so", "no"]
    )
    assert [label for _, label in corpus] == ["no", "yes"]


def test_unlabelled():
    corpus = of_pairs(HuggingFaceSplit(COLUMNS, None), label=None)
    assert [label for _, label in corpus] == [None] * 3


@pytest.mark.parametrize(
    "row,kind,message",
    [
        ({"text": "a", "label": 2}, "unknown label", "labels no, yes.*'2'"),
        ({"text": " ", "label": 1}, "empty text", "expected text"),
        ({"text": 3, "label": 1}, "malformed", "string as 'text', received 3"),
        ({"text": b"\xff", "label": 1}, "malformed", "expected UTF-8"),
        ({"text": "\ud800", "label": 1}, "malformed", "expected UTF-8"),
        (
            {"text": "a", "label": np.array([0, 1])},
            "malformed",
            r"boolean as 'label', received \[0, 1\]",
        ),
        ({"txt": "a"}, "malformed", "fields text, label, received .* txt"),
        ("a", "malformed", "fields text, label, received 'a'"),
    ],
)
def test_bad_rows(row, kind, message):
    rows = [{"text": "a", "label": 0}, row]
    corpus = DatasetTexts(rows, label_names=("no", "yes"), max_bad_rate=0.5)
    assert list(corpus) == [("a", "no")]
    assert corpus.report.counts == {kind: 1}
    with pytest.raises(ValueError, match=f"^dataset:2: .*{message}"):
        list(DatasetTexts(rows, label_names=("no", "yes")))


def test_batches():
    dataset = tf.data.Dataset.from_tensor_slices(
        {"text": ["a", "b"], "label": [0, 1]}
    ).batch(2)
    with pytest.raises(ValueError, match=r"an array of the shape \(2,\)"):
        list(DatasetTexts(dataset))


def test_several_splits_or_one_pass():
    split = HuggingFaceSplit(COLUMNS, None)
    with pytest.raises(ValueError, match="one split.*train, test"):
        DatasetTexts({"train": split, "test": split})
    with pytest.raises(ValueError, match="again and again.*generator"):
        DatasetTexts(iter(split))


def test_a_model_is_trained_on_a_dataset(tmp_path):
    from keras_selfattn.training import train

    columns = {"text": ["good food", "bad food"] * 8, "label": [1, 0] * 8}
    dataset = tf.data.Dataset.from_tensor_slices(columns)
    texts = DatasetTexts(dataset, label_names=["bad", "good"])
    model = train(
        "lin2017_yelp",
        texts,
        texts,
        tmp_path / "run",
        model_overrides={
            "embedding_dim": 4,
            "units": 3,
            "attention_dim": 3,
            "num_heads": 2,
            "hidden_units": 4,
        },
        training_overrides={"epochs": 1, "batch_size": 8},
        verbose=0,
    )
    assert model.labels == ["bad", "good"]
    assert model.training_record["train_rows"] == 16

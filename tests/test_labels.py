"""Labels that are no strings, from the data to a served model."""

import json
import re

import keras
import numpy as np
import pytest

from keras_selfattn import evaluation
from keras_selfattn import faithfulness
from keras_selfattn import labels
from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn import training
from keras_selfattn import visualization
from keras_selfattn.cli import main
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.reproduction import measuring
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food", "bad food .", "n't good"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([0, 1, 2]), [0, 1, 2]),
        ((True, False), [True, False]),
        ([np.str_("a"), np.bool_(True), np.float32(0.5)], ["a", True, 0.5]),
    ],
)
def test_labels_become_python_s_own(given, expected):
    found = labels.plain(given)
    assert found == expected
    assert [type(label) for label in found] == list(map(type, expected))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", "list of labels.*'abc'"),
        (5, "list of labels.*5"),
        ([None, "a"], "string, a number or a boolean.*None"),
        ([b"a"], "b'a'"),
        ([float("nan")], "nan"),
        ([["a"]], r"\['a'\]"),
        ([np.datetime64("2020-01-01", "ns")], "2020-01-01"),
        ([np.timedelta64(1, "ns")], "timedelta64"),
        (["a", "b", "a"], "differ, as text too"),
        ([1, "1"], "differ, as text too"),
        ([True, 1], "differ, as text too"),
        (["good", "b\ud83d"], r"whole Unicode characters.*'b\\ud83d'"),
    ],
)
def test_what_no_labels_can_be(given, message):
    with pytest.raises(ValueError, match=message):
        labels.plain(given)
    with pytest.raises(ValueError, match=message):
        tiny_classifier().labels = given


@pytest.mark.parametrize("first", ["10", "nan", "2"])
def test_nan_is_the_text_of_no_number(first):
    # Of a number that is none, sorting by value would leave any order.
    given = dict.fromkeys([first, "10", "nan", "2"])
    assert labels.of_texts(given) == ["10", "2", "nan"]


@pytest.mark.parametrize(
    "alike",
    [
        ("0", "0.0"),
        ("neg", "neg "),
        ("1", " 1.0"),
        ("True", "true"),
        (2.0, "2 "),
        ("a\u00a0", "a"),
    ],
)
def test_labels_of_texts_that_files_write_in_several_ways(alike):
    records = list(zip(TEXTS, (*alike, "other"), strict=True))
    first, second = sorted(alike, key=str)
    received = re.escape(f"Received: {first!r} and {second!r}")
    with pytest.raises(ValueError, match=received):
        EncodedDataset.from_texts(records, tiny_classifier().preprocessor)
    with pytest.raises(ValueError, match=received):
        labels.of_classes([*alike, "other"], 3)


@pytest.mark.parametrize(
    ("known", "same"),
    [
        ([0, 1, 2], [1, "1", 1.0, np.int64(1), np.float32(1), True]),
        (["0", "1", "2"], [1, "1", 1.0, np.int64(1), np.str_("1")]),
        ([False, True], [True, "True", "true", np.bool_(True), 1]),
        (["false", "true"], [True, "True", "true", np.bool_(True)]),
        (["False", "True"], [True, "true", np.bool_(True)]),
        ([4, 5], ["5", "5.0", 5.0, np.float32(5)]),
        ([4.0, 5.0], ["5", "5.0", 5, np.int64(5)]),
        (["4", "5"], [5, "5.0", 5.0, np.float32(5)]),
        (["4.0", "5.0"], [5, "5", "5.00", 5.0, np.int64(5)]),
        ([0.0, 1e22], [10**22, "1e+22", str(10**22)]),
        (["a", "b"], ["b", np.str_("b")]),
    ],
)
def test_labels_are_known_by_value_or_by_text(known, same):
    find = labels.Finder(known)
    assert [find(label) for label in same] == [1] * len(same)
    for other in ("x", None, 7, "7.0", [1], b"1", float("nan")):
        assert find(other) is None


def test_labels_that_differ_as_text_alone_are_told_apart():
    known = ["1", "1.0", "True", "true", "01.0"]
    find = labels.Finder(known)
    assert list(map(find, known)) == [0, 1, 2, 3, 4]
    assert [find(label) for label in (1, 1.0, "1.00", True)] == [0, 1, 0, 2]


def test_a_number_of_any_length_is_a_label():
    # Python makes no integers of so many digits.
    long = "1" * 5000
    assert labels.Finder([1, 2])(f"{long}.0") is None
    assert labels.Finder([1, long])(f"{long}.0") == 1


def test_messages_name_some_labels_and_their_beginnings():
    many = [f"{number:04}\n{'long ' * 50}" for number in range(3000)]
    unknown = labels.unknown("none " * 1000, many, "text 3")
    with pytest.raises(ValueError, match="3 classes.*of 3,000: ") as other:
        labels.of_classes(many, 3)
    for message in (str(unknown), str(other.value)):
        assert " 0000 long" in message and "..., 0019 long" in message
        assert "... and so on, 3,000 in all" in message
        assert "0020 long" not in message
        assert "\n" not in message and len(message) < 1500


@pytest.mark.parametrize(
    "given", ["long " * 1000, [["long "] * 1000], ["long " * 1000] * 2]
)
def test_messages_name_the_beginning_of_what_came(given):
    with pytest.raises(ValueError, match="Received: .*long") as error:
        labels.plain(given)
    assert len(str(error.value)) < 500


def test_of_many_labels_the_same_ones_are_named():
    with pytest.raises(ValueError, match="Received: 77 and '77'$"):
        labels.plain([*range(1000), "77"])


@pytest.fixture(
    params=[[0, 1, 2], [True, False, "?"], np.array([5, 3, 4])],
    ids=["int", "bool", "numpy"],
    scope="module",
)
def model(request):
    model = tiny_classifier()
    model.labels = request.param
    return model


@pytest.fixture(scope="module")
def gold(model):
    """A right answer by its value and by its text, and a wrong one."""
    answers = model.predict_on_batch(TEXTS).argmax(axis=-1)
    wrong = model.labels[(answers[2] + 1) % 3]
    return [model.labels[answers[0]], str(model.labels[answers[1]]), wrong]


def test_explanations(model, gold, tmp_path):
    seen = list(visualization.explain(model, TEXTS, gold=gold))
    assert [each.correct for each in seen] == [True, True, False]
    assert seen[0].labels == list(model.labels)
    assert seen[1].gold == seen[1].predicted
    page = visualization.write_html(seen, tmp_path / "page.html").read_text()
    assert page.count("truly") == 1
    for each in seen:
        each.render()
        each._repr_html_()


def test_evaluation(model, gold):
    records = list(zip(TEXTS, gold, strict=True))
    found = evaluation.evaluate(model, records)
    assert found.accuracy == pytest.approx(2 / 3)
    assert list(found.per_class()) == found.labels == list(model.labels)
    measured = faithfulness.measure(model, records, shares=(0.5,))
    assert measured.accuracy == found.accuracy
    right = measuring.right_answers(model, records)
    assert list(right) == [str(label) for label in model.labels]
    assert sorted("".join(right.values())) == ["0", "1", "1"]
    with pytest.raises(ValueError, match="model knows .*Received: 'x'"):
        evaluation.evaluate(model, [("good", "x")])


def test_folders_keep_them(model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    copy = models.from_preset(tmp_path / "model")
    assert copy.labels == model.labels
    assert list(map(type, copy.labels)) == list(map(type, model.labels))


def test_a_served_model_answers_with_their_text(model, tmp_path):
    served = serving.load_savedmodel(serving.export(model, tmp_path / "served"))
    found, probabilities = served.predict(TEXTS)
    expected = probabilities.argmax(axis=-1)
    assert found == [str(model.labels[place]) for place in expected]
    names = ", ".join(f"`{label}`" for label in model.labels)
    assert f" answers {names}." in "".join(
        path.read_text() for path in (tmp_path / "served").rglob("*.md")
    )


def test_the_command_line(model, gold, tmp_path, capsys):
    model.save_to_preset(tmp_path / "model")
    file = tmp_path / "texts.jsonl"
    rows = [
        {"text": text, "label": str(label)}
        for text, label in zip(TEXTS, gold, strict=True)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = str(tmp_path / "model")
    assert main(["evaluate", folder, str(file)]) == 0
    assert "66.67" in capsys.readouterr().out
    assert main(["predict", folder, f"--file={file}"]) == 0
    answers = map(json.loads, capsys.readouterr().out.splitlines())
    assert [answer["label"] for answer in answers][:2] == [
        model.labels[model.labels.index(gold[0])],
        model.labels[labels.Finder(model.labels)(gold[1])],
    ]


def test_encoded_texts():
    preprocessor = tiny_classifier().preprocessor
    values = [np.int64(2), 10, np.int64(2), 1]
    records = [("good", label) for label in values]
    data = EncodedDataset.from_texts(records, preprocessor)
    assert data.label_names == [1, 2, 10]
    assert {type(label) for label in data.label_names} == {int}
    assert data.labels.tolist() == [1, 2, 1, 0]
    again = EncodedDataset.from_texts(
        [("good", "10"), ("bad", 2.0)], preprocessor, labels=data.label_names
    )
    assert again.label_names == data.label_names
    assert again.labels.tolist() == [2, 1]
    for wrong, message in (
        ([("a", 1), ("b", "1")], "differ, as text too"),
        ([("a", 1), ("b", None)], "Text 2: .*None"),
    ):
        with pytest.raises(ValueError, match=message):
            EncodedDataset.from_texts(wrong, preprocessor)


def test_labels_that_a_corpus_may_have(tmp_path):
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "a", "label": "1"}\n')
    assert list(Corpus(file, labels=[0, 1])) == [("a", "1")]
    with pytest.raises(ValueError, match="one of the labels 0, 2"):
        list(Corpus(file, labels=[0, 2]))


def test_training(tmp_path):
    records = [("good food", 1), ("bad food", 0)] * 8
    model = training.train(
        "lin2017_yelp",
        records,
        [("good", np.int64(1)), ("bad", "0")],
        tmp_path / "run",
        model_overrides={
            "units": 3,
            "hidden_units": 4,
            "attention_dim": 3,
            "num_heads": 2,
            "embedding_dim": 5,
        },
        training_overrides={"epochs": 1, "batch_size": 8},
        verbose=0,
    )
    assert model.labels == [0, 1]
    assert keras.tree.map_structure(type, model.labels) == [int, int]
    assert evaluation.evaluate(model, records[:2]).confusion.sum() == 2

"""The same text has the same answer, whichever way a model is asked."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import evaluation
from keras_selfattn import serving
from keras_selfattn import sides
from keras_selfattn import visualization
from keras_selfattn.cli import main
from keras_selfattn.text import TextPreprocessor
from tests.native import client
from tests.serving.families import small_classifier
from tests.serving.test_formats import litert_answers
from tests.serving.test_formats import onnx_answers
from tests.serving.test_formats import openvino_answers
from tests.tiny_classifier import tiny_classifier

TEXTS = {
    "empty": "",
    "whitespace": " \n\t\u3000",
    "lone surrogates": "good \ud83d food\udc00",
    "control characters": "good\x00food \x07 bad\x1b[31m.",
    "very long": "the bad view wasn't great . " * 60,
    "emoji": "great \U0001f600\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469",
    "unknown words": "Größe 食物 xyzzy",
    "no Unicode normal form": "Gro\u0308\ufb00nung \u202eabc\ufeff",
    "quotes": "\"Don't!\" he said: “can't” ''",
    "ordinary": "The food wasn't good, but the view was great!",
}


def wide(make, *preset, **overrides):
    """A maker of a model whose n-grams count."""

    def made():
        model = make(*preset, ngram_buckets=97, **overrides)
        table = model.get_layer("ngram_logits").table
        table.assign(np.random.default_rng(0).normal(size=table.shape))
        return model

    return made


MODELS = {
    "siamese": lambda: small_classifier("lin2017_snli", encoder="cnn"),
    "single": wide(tiny_classifier, characters="adfgo", activation=None),
    "pair": wide(small_classifier, "parikh2016_snli", exact_match=True),
}


class Asked:
    """A model, its rows, and what it answers itself."""

    def __init__(self, name):
        self.model = MODELS[name]()
        self.rows = list(TEXTS.values())
        self.is_pair = name != "single"
        if name != "pair":
            # So that answers differ.
            self.model.set_weights([3 * w for w in self.model.get_weights()])
        if self.is_pair:
            self.rows = list(zip(self.rows, self.rows[1:] + [""], strict=True))
        features = self.model.preprocess(self.rows)
        self.expected = self.model.predict(features, verbose=0)
        if self.model.gives_logits:
            self.expected = np.array(tf.nn.softmax(self.expected))

    def check(self, probabilities, labels=None):
        for name, answer, expected in zip(
            TEXTS, probabilities, self.expected, strict=True
        ):
            np.testing.assert_allclose(
                answer, expected, rtol=0, atol=1e-6, err_msg=name
            )
        if labels is not None:
            names = [self.model.labels[i] for i in self.expected.argmax(-1)]
            assert list(labels) == names


@pytest.fixture(scope="module", params=MODELS)
def asked(request):
    return Asked(request.param)


def test_answers_differ(asked):
    """Otherwise the tests below would find nothing."""
    assert len({tuple(row) for row in asked.expected.round(4)}) > 6


def test_call(asked):
    outputs = asked.model(asked.model.preprocess(asked.rows))
    if asked.model.gives_logits:
        outputs = tf.nn.softmax(outputs)
    asked.check(outputs)


def test_alone(asked):
    outputs = [
        asked.model.predict_on_batch(asked.model.preprocess([row]))[0]
        for row in asked.rows
    ]
    if asked.model.gives_logits:
        outputs = tf.nn.softmax(outputs)
    asked.check(outputs)


def test_raw_texts(asked):
    """Keras's own methods; the loss is what it is of the answers."""
    for rows in (asked.rows, np.array(asked.rows)):
        for outputs in (
            asked.model.predict(rows, batch_size=3, verbose=0),
            asked.model.predict_on_batch(rows),
        ):
            if asked.model.gives_logits:
                outputs = tf.nn.softmax(outputs)
            asked.check(outputs)
    loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=asked.model.gives_logits
    )
    asked.model.compile("sgd", metrics=[loss, "accuracy"])
    names = [asked.model.labels[i] for i in asked.expected.argmax(-1)]
    _, cross_entropy, accuracy = asked.model.evaluate(
        asked.rows, names, verbose=0
    )
    assert accuracy == 1
    assert cross_entropy == pytest.approx(
        -np.log(asked.expected.max(-1)).mean(), abs=1e-5
    )


def test_evaluation(asked):
    batches = evaluation.predict(asked.model, asked.rows, batch_size=4)
    asked.check(np.concatenate([p for _, p in batches]))


def test_explain(asked):
    explanations = list(visualization.explain(asked.model, asked.rows))
    asked.check(
        [explanation.probabilities for explanation in explanations],
        [explanation.predicted for explanation in explanations],
    )


def as_bytes(text):
    return text.encode("utf-8", "surrogatepass")


def test_savedmodel(asked, tmp_path):
    folder = serving.export(asked.model, tmp_path)
    labels, probabilities = serving.load_savedmodel(folder).predict(asked.rows)
    asked.check(probabilities, labels)
    # The C program takes texts as bytes.
    rows = [
        as_bytes(row) if isinstance(row, str) else tuple(map(as_bytes, row))
        for row in asked.rows
    ]
    outputs = client.Request(folder, rows, ["serving_default"]).run()
    asked.check(
        outputs["serving_default", "probabilities"],
        [x.decode() for x in outputs["serving_default", "label"]],
    )


def told(lines):
    """The rows, the probabilities and the labels that a command tells."""
    answers = [json.loads(line) for line in lines]
    rows = [
        tuple(answer["text"])
        if isinstance(answer["text"], list)
        else answer["text"]
        for answer in answers
    ]
    probabilities = [[*answer["probabilities"].values()] for answer in answers]
    return rows, probabilities, [answer["label"] for answer in answers]


def test_command_line(asked, tmp_path, capsys):
    model = str(tmp_path / "model")
    asked.model.save_to_preset(model)
    typed = asked.rows
    if asked.is_pair:
        typed = [each for row in asked.rows for each in ("--pair", *row)]
    assert main(["predict", model, *typed, "--digits"]) == 0
    rows, *answers = told(capsys.readouterr().out.splitlines())
    assert rows == asked.rows
    asked.check(*answers)


def test_command_line_of_files(asked, tmp_path):
    model, path = str(tmp_path / "model"), tmp_path / "texts.jsonl"
    asked.model.save_to_preset(model)
    columns = ("first", "second") if asked.is_pair else ("first",)
    labels = [asked.model.labels[i] for i in asked.expected.argmax(-1)]
    with open(path, "w", encoding="utf-8") as file:
        for row, label in zip(asked.rows, labels, strict=True):
            texts = row if asked.is_pair else (row,)
            record = dict(zip(columns, texts, strict=True), label=label)
            file.write(json.dumps(record) + "\n")
    given = ["--text=first", *["--text-pair=second"] * asked.is_pair]
    answers, figures = tmp_path / "answers.jsonl", tmp_path / "figures.json"
    more = [f"--predictions={answers}", f"--json={figures}"]
    evaluate = ["evaluate", model, str(path), *given, "--label=label"]
    assert main([*evaluate, "--max-bad-rate=0.5", *more]) == 0
    assert json.loads(figures.read_text("utf-8"))["accuracy"] == 1
    # Rows with an empty text, or half a character, are left out.
    halves = TEXTS["lone surrogates"]
    kept = [
        all(text.strip() and text != halves for text in sides.sentences(row))
        for row in asked.rows
    ]
    found = [json.loads(x) for x in answers.read_text("utf-8").splitlines()]
    np.testing.assert_allclose(
        [[*each["probabilities"].values()] for each in found],
        asked.expected[kept],
        rtol=0,
        atol=1e-6,
    )


def test_int8(asked, tmp_path):
    """As far from the model as rounding brings it, and no two of its own."""
    reduced = serving.reduce_precision(asked.model, "int8")
    (probabilities,) = [
        p for _, p in evaluation.predict(reduced, asked.rows, batch_size=64)
    ]
    np.testing.assert_allclose(probabilities, asked.expected, atol=0.05)
    served = serving.load_savedmodel(serving.export(reduced, tmp_path))
    for answers in (
        served.predict(asked.rows)[1],
        [e.probabilities for e in visualization.explain(reduced, asked.rows)],
    ):
        np.testing.assert_allclose(answers, probabilities, rtol=0, atol=1e-5)


# Of Keras's code for the converter, on a NumPy newer than it; and the
# interpreter's home is moving to a package of its own.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("export", "answers"),
    [
        (serving.export_onnx, onnx_answers),
        (serving.export_openvino, openvino_answers),
        (serving.export_litert, litert_answers),
    ],
    ids=["onnx", "openvino", "litert"],
)
def test_formats(asked, tmp_path, export, answers):
    folder = export(asked.model, tmp_path / "new")
    features = asked.model.preprocess(asked.rows)
    asked.check(answers(folder, features))
    # The tokenizer beside the model gives the same ids.
    preprocessor = TextPreprocessor.load(folder)
    if "token_ids" in features:
        for name, ids in preprocessor(asked.rows).items():
            np.testing.assert_array_equal(ids, features[name])

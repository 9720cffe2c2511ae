import json
import pathlib
import socket
import subprocess
import sys
import time
import typing
import urllib.error
import urllib.parse
import urllib.request

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy as array

from keras_selfattn import callbacks
from keras_selfattn import faithfulness
from keras_selfattn import heads
from keras_selfattn.models import DecomposableClassifier
from keras_selfattn.models import SentencePairClassifier
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food", "the food\twas n't\ngood", "bad $ & <b>"]


class Record(typing.NamedTuple):
    text: str
    label: str
    deciding: tuple | None = None


RECORDS = [Record(TEXTS[0], "1", (0,)), (TEXTS[1], "two"), (TEXTS[2], "gütig")]


def fit(model, log_callbacks, epochs=2):
    if not model.compiled:
        model.compile("adam", "sparse_categorical_crossentropy")
    size = len(model.labels)
    texts = TEXTS[:size]
    if len(model.sides) > 1:
        texts = [(text, "food") for text in texts]
    features = {k: np.asarray(v) for k, v in model.preprocess(texts).items()}
    model.fit(
        features,
        np.arange(size),
        epochs=epochs,
        batch_size=size,
        callbacks=log_callbacks,
        verbose=0,
    )


def all_callbacks(folder):
    return [
        callbacks.AttentionPictures(folder, TEXTS[:2]),
        callbacks.PenaltyCurves(folder, TEXTS),
        callbacks.FaithfulnessCurves(folder, RECORDS, share=0.5),
        callbacks.Hyperparameters(folder, {"batch_size": 3}),
        callbacks.EmbeddingProjector(folder, TEXTS, ["a", "b", 7]),
    ]


METHOD_RUNS = {
    "faithfulness/attention",
    "faithfulness/random",
    "faithfulness/gradient_x_input",
}


class Board:
    """A TensorBoard process and its answers."""

    def __init__(self, folder):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/data/"
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tensorboard.main"),
                *("--logdir", str(folder), "--host", "127.0.0.1"),
                *("--port", str(port), "--load_fast", "false"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def get(self, route, **query):
        address = self.address + route + "?" + urllib.parse.urlencode(query)
        with urllib.request.urlopen(address, timeout=300) as answer:
            return answer.read()

    def json(self, route, **query):
        return json.loads(self.get(route, **query))

    def wait_for_runs(self, expected):
        runs = None
        for _ in range(1000):
            try:
                runs = set(self.json("runs"))
            except (urllib.error.URLError, ConnectionError):
                runs = None
            if runs == expected:
                return
            assert self.process.poll() is None
            time.sleep(0.3)
        raise AssertionError(f"TensorBoard shows the runs {runs}")


@pytest.mark.slow
def test_tensorboard_shows_it_all(tmp_path):
    plain = tiny_classifier()
    config = {**plain.get_config(), "dtype": "mixed_bfloat16"}
    model = type(plain).from_config(config)
    # Before the preprocessor is there, whose ops XLA does not know.
    model.compile("adam", "sparse_categorical_crossentropy", jit_compile=True)
    model.preprocessor = plain.preprocessor
    model.labels = plain.labels
    fit(model, all_callbacks(tmp_path))
    assert model.jit_compile
    board = Board(tmp_path)
    try:
        board.wait_for_runs(
            {
                "attention",
                "penalties",
                "hyperparameters",
                "embeddings",
                *METHOD_RUNS,
            }
        )
        tags = board.json("plugin/scalars/tags")
        for run in METHOD_RUNS:
            assert set(tags[run]) == {
                "faithfulness/lost_without",
                "faithfulness/lost_with_only",
                "faithfulness/deciding_first",
            }
        assert {
            "penalty/structured_self_attention",
            "heads/overlap",
            "heads/effective_number",
            "heads/entropy",
        } <= set(tags["penalties"])
        points = board.json(
            "plugin/scalars/scalars", run="penalties", tag="heads/entropy"
        )
        assert [step for _, step, _ in points] == [0, 1]
        scores = array(model.attention_model()(model.preprocess(TEXTS)))
        assert points[-1][2] == pytest.approx(
            heads.entropy(scores).mean(), rel=1e-3
        )

        images = board.json("plugin/images/tags")["attention"]
        assert set(images) == {"attention/text_1", "attention/text_2"}
        assert "good food" in images["attention/text_1"]["description"]
        query = {"run": "attention", "tag": "attention/text_2", "sample": 0}
        pictures = board.json("plugin/images/images", **query)
        assert [picture["step"] for picture in pictures] == [0, 1]
        png = board.get(
            "plugin/images/individualImage?" + pictures[-1]["query"]
        )
        assert png.startswith(b"\x89PNG")

        assert board.json("plugin/projector/runs") == ["embeddings"]
        query = {"run": "embeddings"}
        (entry,) = board.json("plugin/projector/info", **query)["embeddings"]
        assert entry["tensorShape"] == [3, 4]
        query["name"] = entry["tensorName"]
        vectors = np.frombuffer(
            board.get("plugin/projector/tensor", **query), "float32"
        )
        rows = model.embedding_model()(model.preprocess(TEXTS))
        expected = array(keras.ops.cast(rows, "float32")).mean(axis=1)
        np.testing.assert_allclose(
            vectors.reshape(3, 4), expected, rtol=1e-4, atol=1e-6
        )
        assert board.get(
            "plugin/projector/metadata", **query
        ).decode().splitlines() == [
            "label\ttext",
            "a\tgood food",
            "b\tthe food was n't good",
            "7\tbad $ & <b>",
        ]
        request = urllib.request.Request(
            board.address + "plugin/hparams/experiment",
            data=b"{}",
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            experiment = json.loads(answer.read())
        names = {info["name"] for info in experiment["hparamInfos"]}
        assert {"num_heads", "optimizer", "batch_size"} <= names
    finally:
        board.process.terminate()
        board.process.wait(timeout=300)


def curves_of(model, texts=TEXTS):
    curves = callbacks.PenaltyCurves("unused", texts)
    curves.set_model(model)
    curves.attention = model.attention_model()
    (features,) = curves.batches()
    return curves.penalties(features), curves.heads(features)


def test_penalties_are_the_whole_of_the_models_losses():
    model = tiny_classifier(l2=0.1)
    penalties, _ = curves_of(model)
    scores = array(model.attention_model()(model.preprocess(TEXTS)))
    products = scores @ scores.transpose(0, 2, 1) - np.eye(2)
    name = "penalty/structured_self_attention"
    assert penalties.keys() == {
        name,
        "penalty/hidden_1",
        "penalty/probabilities",
    }
    assert penalties[name] == pytest.approx(
        np.square(products).sum(axis=(1, 2)).mean(), rel=1e-4
    )
    kernel = array(model.get_layer("hidden_1").kernel)
    assert penalties["penalty/hidden_1"] == pytest.approx(
        0.1 * np.square(kernel).sum(), rel=1e-4
    )
    model(model.preprocess(TEXTS))
    assert sum(penalties.values()) == pytest.approx(
        float(array(sum(model.losses))), rel=1e-4
    )


def scalars(folder):
    """The numbers by step and name of an event file's folder."""
    found = {}
    for path in pathlib.Path(folder).iterdir():
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                found[event.step, value.tag] = tf.make_ndarray(value.tensor)
    return found


def test_faithfulness_is_that_of_the_epoch(tmp_path):
    model = tiny_classifier()
    curves = callbacks.FaithfulnessCurves(tmp_path, RECORDS, share=0.5)
    fit(model, [curves])
    measured = faithfulness.measure(model, RECORDS, [0.5])
    for method in faithfulness.METHODS:
        run = method.replace(" ", "_")
        found = scalars(tmp_path / "faithfulness" / run)
        assert {step for step, _ in found} == {0, 1}
        loss = measured.losses[method, 0.5]
        for name, value in (
            ("lost_without", loss.comprehensiveness),
            ("lost_with_only", loss.sufficiency),
            ("deciding_first", measured.agreement[method].first),
        ):
            assert found[1, f"faithfulness/{name}"] == pytest.approx(
                value, abs=1e-6
            )
    unknown = callbacks.FaithfulnessCurves(tmp_path, [("good", "three")])
    unknown.set_model(model)
    with pytest.raises(ValueError, match="'three'"):
        unknown.on_train_begin()
    model.labels = None
    with pytest.raises(ValueError, match="model's `labels`.*without"):
        unknown.on_train_begin()


def pair_model():
    model = SentencePairClassifier(
        vocabulary_size=tiny_classifier().preprocessor.vocabulary_size(),
        num_classes=3,
        embedding_dim=5,
        encoder="cnn",
        units=4,
        pooling="generalized",
        attention_dim=3,
        num_heads=2,
        parameter_penalty=0.5,
        embedding_penalty=0.25,
        margin=10.0,
        hidden_units=6,
    )
    model.preprocessor = tiny_classifier().preprocessor
    model.labels = ["a", "b", "c"]
    return model


def alignment_model():
    preprocessor = tiny_classifier().preprocessor
    model = DecomposableClassifier(
        vocabulary_size=preprocessor.vocabulary_size(),
        num_classes=3,
        embedding_dim=5,
        projection_dim=4,
        attend_units=[6],
        compare_units=[7],
        aggregate_units=[8],
    )
    model.preprocessor = preprocessor
    model.labels = ["a", "b", "c"]
    return model


def test_a_pairs_penalties_have_names():
    model = pair_model()
    penalties, measures = curves_of(model, [(text, "bad") for text in TEXTS])
    by_subject = {
        name.rpartition("/")[2]: value
        for name, value in penalties.items()
        if name.count("/") == 2
    }
    assert {"parameter", "embedding"} <= by_subject.keys()
    assert all(value > 0 for value in by_subject.values())
    assert sum(penalties.values()) == pytest.approx(
        float(array(sum(model.losses))), rel=1e-4
    )
    assert 1 <= measures["heads/effective_number"] <= 2


def test_a_pairs_sides_are_points_of_their_own(tmp_path):
    model = pair_model()
    pairs = [(text, "bad food") for text in TEXTS]
    fit(
        model,
        [
            callbacks.EmbeddingProjector(tmp_path, pairs, "abc"),
            callbacks.PenaltyCurves(tmp_path, pairs),
        ],
        epochs=1,
    )
    folder = pathlib.Path(tmp_path) / "embeddings"
    rows = (folder / "metadata.tsv").read_text().splitlines()
    assert rows[3:5] == ["b\tthe food was n't good", "b\tbad food"]
    vectors = np.loadtxt(folder / "vectors.tsv")
    sides = model.embedding_model()(model.preprocess(pairs))
    np.testing.assert_allclose(
        vectors[2], array(sides[0])[1].mean(axis=0), rtol=1e-4, atol=1e-6
    )


def test_a_pair_with_one_embedding_is_one_point(tmp_path):
    model = alignment_model()
    pairs = [(text, "bad\tfood") for text in TEXTS]
    projector = callbacks.EmbeddingProjector(tmp_path, pairs, "abc")
    fit(model, [projector], epochs=1)
    folder = pathlib.Path(tmp_path) / "embeddings"
    rows = (folder / "metadata.tsv").read_text().splitlines()
    assert rows == [
        "label\tpremise\thypothesis",
        "a\tgood food\tbad food",
        "b\tthe food was n't good\tbad food",
        "c\tbad $ & <b>\tbad food",
    ]
    expected = array(model.embedding_model()(model.preprocess(pairs)))
    np.testing.assert_allclose(
        np.loadtxt(folder / "vectors.tsv"), expected, rtol=1e-4, atol=1e-6
    )


def test_hyperparameters_of_a_model_that_computes_in_float16(tmp_path):
    model = tiny_classifier(dtype="mixed_float16")
    model.compile(keras.optimizers.SGD(0.25), "sparse_categorical_crossentropy")
    fit(model, [callbacks.Hyperparameters(tmp_path)], epochs=1)
    (path,) = (pathlib.Path(tmp_path) / "hyperparameters").iterdir()
    written = path.read_bytes()
    for value in (b"sgd", b"mixed_float16", np.float64(0.25).tobytes()):
        assert value in written


@pytest.mark.parametrize("make", [pair_model, alignment_model])
def test_pictures_of_pairs(make, tmp_path):
    model = make()
    pairs = [("good $food", "bad food"), ("bad", "food n't good")]
    pictures = callbacks.AttentionPictures(tmp_path, pairs)
    curves = callbacks.PenaltyCurves(tmp_path, pairs)
    fit(model, [pictures, curves], epochs=1)
    drawn = {}
    for path in (pathlib.Path(tmp_path) / "attention").iterdir():
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                width, height, *pngs = tf.make_ndarray(value.tensor)
                drawn[value.tag] = (int(width), int(height), pngs[0])
                assert len(pngs) == 2
                assert value.metadata.summary_description
    assert drawn.keys() == {"attention/text_1", "attention/text_2"}
    for width, height, png in drawn.values():
        assert min(width, height) > 100
        assert png.startswith(b"\x89PNG")


def test_long_texts_are_pictures_of_words_that_can_be_read(tmp_path):
    model = tiny_classifier()
    pictures = callbacks.AttentionPictures(
        tmp_path, ["good food " * 20, "good food"]
    )
    fit(model, [pictures], epochs=2)
    found = scalars(tmp_path / "attention")
    widths = {}
    for (_, tag), (width, height, *pngs) in found.items():
        assert len(pngs) == (3 if tag == "attention/text_1" else 1)
        for png in pngs:
            assert tf.io.decode_png(png).shape[:2] == (int(height), int(width))
        widths.setdefault(tag, set()).add((width, height))
    assert all(len(sizes) == 1 for sizes in widths.values())
    ((width, _),) = widths["attention/text_1"]
    # TensorBoard shows 350 pixels, in which the letters are 10 high.
    assert int(width) == 700


def test_bad_input_is_named(tmp_path):
    with pytest.raises(ValueError, match="list of texts.*'one'"):
        callbacks.PenaltyCurves(tmp_path, "one")
    with pytest.raises(ValueError, match="a table of text"):
        callbacks.PenaltyCurves(tmp_path, {"text": TEXTS})
    with pytest.raises(ValueError, match="at least one"):
        callbacks.AttentionPictures(tmp_path, [])
    with pytest.raises(ValueError, match="each of the 3 texts.*2 labels"):
        callbacks.EmbeddingProjector(tmp_path, TEXTS, ["a", "b"])
    for callback in (
        callbacks.AttentionPictures(tmp_path, TEXTS),
        callbacks.PenaltyCurves(tmp_path, TEXTS),
        callbacks.EmbeddingProjector(tmp_path, TEXTS, "abc"),
    ):
        callback.set_model(keras.Sequential())
        name = type(callback).__name__
        with pytest.raises(ValueError, match=f"{name}.*Received: Sequential"):
            callback.on_train_begin()
    model = tiny_classifier()
    model.preprocessor = None
    curves = callbacks.PenaltyCurves(tmp_path, TEXTS)
    curves.set_model(model)
    with pytest.raises(ValueError, match="preprocessor"):
        curves.on_train_begin()
    assert not list(pathlib.Path(tmp_path).iterdir())

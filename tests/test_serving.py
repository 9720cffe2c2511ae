import json
import pathlib
import shutil
import sys
import tempfile

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_selfattn import serving
from keras_selfattn.layers import StackedBiLSTM
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food.", "", "It isn't bad \U0001f600 at all", "food"]


@pytest.fixture(scope="module")
def model():
    return tiny_classifier(encoder="bilstm", units=2)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    written = serving.export(model, tmp_path_factory.mktemp("served"), 7)
    # Nothing may depend on where the folder was written.
    moved = tmp_path_factory.mktemp("moved") / "7"
    shutil.copytree(written, moved)
    shutil.rmtree(written)
    return moved


@pytest.fixture(scope="module")
def served(exported):
    return serving.load_savedmodel(exported)


def graph_of(folder):
    saved_model = saved_model_pb2.SavedModel.FromString(
        (folder / "saved_model.pb").read_bytes()
    )
    return saved_model.meta_graphs[0].graph_def


class Apply(keras.layers.Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, inputs):
        return self.function(inputs)

    def compute_output_spec(self, inputs):
        return keras.KerasTensor(inputs.shape, inputs.dtype)


def ending_in(function):
    """Returns a tiny classifier whose probabilities go through `function`."""
    classifier = tiny_classifier()
    model = keras.Model(classifier.input, Apply(function)(classifier.output))
    model.preprocessor = classifier.preprocessor
    model.labels = classifier.labels
    model.attention_model = classifier.attention_model
    model.embedding_model = classifier.embedding_model
    return model


def test_signatures(served):
    specs = {
        name: {
            key: (spec.dtype, spec.shape.as_list())
            for key, spec in function.structured_outputs.items()
        }
        for name, function in served.signatures.items()
    }
    assert specs == {
        "serving_default": {
            "label": (tf.string, [None]),
            "probabilities": (tf.float32, [None, 3]),
        },
        "attend": {
            "tokens": (tf.string, [None, None]),
            "scores": (tf.float32, [None, 2, None]),
        },
        "embed": {"embedding": (tf.float32, [None, 2, 4])},
    }
    for function in served.signatures.values():
        (inputs,) = function.structured_input_signature[1].items()
        assert inputs[0] == "text"
        assert inputs[1].dtype == tf.string
        assert inputs[1].shape.as_list() == [None]


def test_answers_equal_keras(model, served):
    features = model.preprocessor(tf.constant(TEXTS))
    expected = model(features).numpy()
    labels, probabilities = served.predict(TEXTS)
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    assert labels == [model.labels[i] for i in expected.argmax(-1)]
    tokens, scores = served.attend(TEXTS)
    assert tokens[:2] == [["good", "food", "."], ["[UNK]"]]
    np.testing.assert_allclose(
        scores, model.attention_model()(features), atol=1e-6
    )
    np.testing.assert_allclose(
        served.embed(TEXTS), model.embedding_model()(features), atol=1e-6
    )


def test_a_row_is_answered_as_alone(served):
    _, probabilities = served.predict(TEXTS)
    tokens, scores = served.attend(TEXTS)
    embedding = served.embed(TEXTS)
    for i, text in enumerate(TEXTS):
        alone, alone_scores = served.attend([text])
        n = len(tokens[i])
        assert alone == [tokens[i]]
        np.testing.assert_allclose(alone_scores[0], scores[i, :, :n], atol=1e-6)
        assert not scores[i, :, n:].any()
        np.testing.assert_allclose(
            served.predict([text])[1][0], probabilities[i], atol=1e-6
        )
        np.testing.assert_allclose(
            served.embed([text])[0], embedding[i], atol=1e-6
        )


def test_texts_of_any_bytes(served):
    texts = [b"good \xff\xfe", "good \ud83d", "a\x00b", "good " * 10_000]
    labels, probabilities = served.predict(texts)
    assert len(labels) == 4
    np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-5)


def test_folder(exported, model):
    files = {
        str(path.relative_to(exported))
        for path in exported.rglob("*")
        if path.is_file() and path.parent.name != "variables"
    }
    assert files == {
        "saved_model.pb",
        "assets/vocabulary.txt",
        "assets.extra/requirements.json",
    }
    words = (exported / "assets/vocabulary.txt").read_text().split()
    assert words == ["good", "bad", "food", "n't", "."]
    requirements = json.loads(
        (exported / "assets.extra/requirements.json").read_text()
    )
    (exported.parent / "ordinary").mkdir()
    ordinary = (exported.parent / "ordinary").stat().st_mode
    assert exported.stat().st_mode == ordinary
    assert requirements.pop("keras_selfattn")
    assert requirements == {
        "keras": keras.__version__,
        "op_libraries": [],
        "tensorflow": tf.__version__,
        "tensorflow_text": None,
    }
    # Each weight once.
    names = tf.train.list_variables(str(exported / "variables/variables"))
    assert len(names) == 1 + len(model.trainable_variables)


def test_graph_holds_no_path(exported):
    graph = (exported / "saved_model.pb").read_bytes()
    assert tempfile.gettempdir().encode() + b"/" not in graph
    assert b"site-packages" not in graph
    package = pathlib.Path(serving.__file__).parent
    assert str(package).encode() not in graph


def test_tables_of_other_vocabularies_have_other_names(exported, tmp_path):
    def name(folder):
        (name,) = {
            node.attr["shared_name"].s.decode()
            for node in serving._nodes(graph_of(folder))
            if node.op == "HashTableV2"
        }
        return name

    same = serving.export(tiny_classifier(), tmp_path / "same")
    words = [".", "n't", "food", "bad", "good"]
    other = serving.export(tiny_classifier(words), tmp_path / "other")
    assert name(same) == name(exported)
    assert name(other) != name(exported)
    # A table that is not from a file has a counter for a name, which another
    # process gives to another table.
    graphs = [tf.Graph() for _ in range(2)]
    names = set()
    for graph in graphs:
        with graph.as_default():
            tf.raw_ops.HashTableV2(
                key_dtype=tf.int64, value_dtype=tf.int64, shared_name="12"
            )
        graph_def = graph.as_graph_def()
        serving._rename_tables(graph_def, "digest")
        names.add(graph_def.node[0].attr["shared_name"].s)
    assert len(names) == 2


def test_needs_text_ops(tmp_path, monkeypatch):
    tensorflow_text = pytest.importorskip("tensorflow_text")
    model = tiny_classifier(implementation="tensorflow_text")
    folder = serving.export(model, tmp_path)
    served = serving.load_savedmodel(folder)
    assert served.requirements["op_libraries"] == [
        "python/ops/_regex_split_ops.so"
    ]
    version = served.requirements["tensorflow_text"]
    assert version == tensorflow_text.__version__
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(ImportError, match="tensorflow-text") as error:
        serving.load_savedmodel(folder)
    assert "\n" not in str(error.value)


def test_cudnn_stays_out(tmp_path):
    model = tiny_classifier(encoder="bilstm", units=2)
    (encoder,) = (x for x in model.layers if isinstance(x, StackedBiLSTM))
    (both,) = encoder.directions
    recurrent = [both.forward_layer, both.backward_layer]
    for layer in recurrent:
        layer.use_cudnn = True
    folder = serving.export(model, tmp_path)
    assert not [n for n in serving._nodes(graph_of(folder)) if "Cudnn" in n.op]
    assert [layer.use_cudnn for layer in recurrent] == [True, True]


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_reduced_precision(tmp_path, dtype):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        model = tiny_classifier()
    finally:
        keras.config.set_dtype_policy(before)
    folder = serving.export(model, tmp_path)
    assert serving.load_savedmodel(folder).embed(["good"]).dtype == "float32"


def test_existing_version_is_kept(tmp_path):
    model = tiny_classifier()
    (tmp_path / "2").mkdir()
    with pytest.raises(ValueError, match="2 exists already"):
        serving.export(model, tmp_path, version=2)
    assert not list((tmp_path / "2").iterdir())


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, True, None])
def test_version_is_a_positive_int(tmp_path, version):
    with pytest.raises(ValueError, match="positive int"):
        serving.export(tiny_classifier(), tmp_path, version)


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("kept")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="can be written") as error:
            serving.export(tiny_classifier(), folder)
        assert "\n" not in str(error.value)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: tf.ensure_shape(
                tf.numpy_function(lambda x: x, [x], x.dtype), x.shape
            ),
            "no Python function",
        ),
        (tf.function(lambda x: x**1, jit_compile=True), "compiled by XLA"),
        (
            lambda x: tf.nn.softmax(x + keras.random.normal(tf.shape(x))),
            "gives other",
        ),
    ],
)
def test_nothing_stays_of_a_refused_model(tmp_path, function, message):
    model = ending_in(function)
    with pytest.raises(RuntimeError, match=message):
        serving.export(model, tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_be_served(tmp_path):
    for attribute in ("preprocessor", "labels"):
        model = tiny_classifier()
        setattr(model, attribute, None)
        with pytest.raises(ValueError, match=f"needs `{attribute}`"):
            serving.export(model, tmp_path)
    model = tiny_classifier()
    model.labels = ["one"]
    with pytest.raises(ValueError, match="3 classes.*Received 1"):
        serving.export(model, tmp_path)
    model = tiny_classifier(activation=None)
    with pytest.raises(ValueError, match="must give probabilities"):
        serving.export(model, tmp_path)
    pair = keras.Input((None,), dtype="int32", name="premise_token_ids")
    model = keras.Model(pair, pair)
    model.preprocessor = tiny_classifier().preprocessor
    model.labels = ["a"]
    with pytest.raises(ValueError, match="premise_token_ids"):
        serving.export(model, tmp_path)


def test_no_texts(served):
    for texts in ([], "good", b"good", [1], [None]):
        with pytest.raises(ValueError, match="must be a list"):
            served.predict(texts)
    for function in served.signatures.values():
        with pytest.raises(tf.errors.InvalidArgumentError, match="one row"):
            function(text=tf.constant([], tf.string))


def test_newest_version_is_loaded(exported, tmp_path):
    for version in ("9", "10", "old11"):
        shutil.copytree(exported, tmp_path / version)
    assert serving.load_savedmodel(tmp_path).folder == tmp_path / "10"
    path = str(tmp_path / "9")
    assert serving.load_savedmodel(path).folder == tmp_path / "9"


def test_wrong_paths(exported, tmp_path):
    (tmp_path / "one" / "1").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for name in ("nowhere", "one", "file"):
        with pytest.raises(ValueError, match="Expected the folder") as error:
            serving.load_savedmodel(tmp_path / name)
        assert "\n" not in str(error.value)

    foreign = tmp_path / "foreign"
    shutil.copytree(exported, foreign)
    shutil.rmtree(foreign / "assets.extra")
    with pytest.raises(ValueError, match="not a SavedModel of"):
        serving.load_savedmodel(foreign)

    for broken in ("saved_model.pb", "variables/variables.index"):
        folder = tmp_path / broken.replace("/", "_")
        shutil.copytree(exported, folder)
        (folder / broken).write_bytes(b"\x00broken")
        with pytest.raises(ValueError, match="not a complete") as error:
            serving.load_savedmodel(folder)
        assert "\n" not in str(error.value)

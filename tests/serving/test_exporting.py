import json
import logging
import pathlib
import shutil
import subprocess
import sys
import tempfile

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_selfattn import serving
from keras_selfattn import training
from keras_selfattn.layers import StackedBiLSTM
from keras_selfattn.serving import graph
from keras_selfattn.text import TextPreprocessor
from tests.serving.families import FAMILIES
from tests.serving.families import exported as exported_family
from tests.serving.families import rows_of
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


STRANGE = tf.Variable(1.0)


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
    for name in (
        *("preprocessor", "labels", "sides", "gives_logits"),
        *("attention_model", "embedding_model"),
    ):
        setattr(model, name, getattr(classifier, name))
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


def test_in_the_scope_of_a_strategy(tmp_path):
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = tiny_classifier()
        served = serving.load_savedmodel(serving.export(model, tmp_path))
        _, probabilities = served.predict(TEXTS)
    expected = model(model.preprocess(TEXTS))
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_logits_are_served_as_probabilities(tmp_path):
    model = tiny_classifier(activation=None)
    features = model.preprocess(TEXTS)
    expected = tf.nn.softmax(model(features))
    for number, written in enumerate(
        [model, serving.reduce_precision(model, "int8")], start=1
    ):
        folder = serving.export(written, tmp_path, number)
        _, probabilities = serving.load_savedmodel(folder).predict(TEXTS)
        np.testing.assert_allclose(
            probabilities, expected, atol=1e-6 if number == 1 else 0.02
        )


def test_folder(exported, model):
    files = {
        str(path.relative_to(exported))
        for path in exported.rglob("*")
        if path.is_file() and path.parent.name != "variables"
    }
    assert files == {
        "checksums.json",
        "saved_model.pb",
        "assets/vocabulary.txt",
        "assets.extra/model_card.md",
        "assets.extra/requirements.json",
        "assets.extra/tf_serving_warmup_requests",
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


@pytest.mark.slow
def test_no_path_and_no_training_text_is_kept(tmp_path):
    texts = [
        (f"The pizza was {word}, said guest{row} of tableTwelve.", word)
        for row in range(20)
        for word in ("good", "bad")
    ]
    vectors = tmp_path / "word_vectors.txt"
    vectors.write_text("good 0.1 0.2\nbad 0.3 0.4\n")
    model = training.train(
        "lin2017_yelp",
        texts,
        texts[:6],
        tmp_path / "run",
        vectors=vectors,
        model_overrides={
            "embedding_dim": 2,
            "units": 2,
            "attention_dim": 2,
            "num_heads": 1,
            "hidden_units": 2,
            # Of them, too, only the vocabulary is kept.
            "character_vocabulary_size": 12,
        },
        training_overrides={"epochs": 1, "min_count": 3},
        verbose=0,
    )
    folder = serving.export(model, tmp_path / "served")
    words = (folder / "assets/vocabulary.txt").read_text().split()
    assert {"good", "pizza", "tabletwelve"} <= set(words)
    for path in folder.rglob("*"):
        kept = path.read_bytes() if path.is_file() else b""
        for text in (
            b"guest1",
            b"pizza was",
            bytes(tmp_path),
            tempfile.gettempdir().encode() + b"/",
            b"site-packages",
            bytes(pathlib.Path(serving.__file__).parents[2]),
        ):
            assert text not in kept, path


def test_tables_of_other_vocabularies_have_other_names(exported, tmp_path):
    def name(folder):
        (name,) = {
            node.attr["shared_name"].s.decode()
            for node in graph.nodes(graph_of(folder))
            if node.op == "HashTableV2"
        }
        return name

    same = serving.export(tiny_classifier(), tmp_path / "same")
    words = [".", "n't", "food", "bad", "good"]
    other = serving.export(tiny_classifier(words), tmp_path / "other")
    assert name(same) == name(exported)
    assert name(other) != name(exported)


def test_tables_that_are_from_no_file_are_named_by_content():
    names = []
    for digest in ("one", "one", "other"):
        random = tf.Graph()
        with random.as_default():
            for _ in range(2):
                tf.lookup.StaticHashTable(
                    tf.lookup.KeyValueTensorInitializer([1], [2]), 0
                )
        graph_def = random.as_graph_def()
        graph.rename_tables(graph_def, digest)
        names.append(
            [
                node.attr["shared_name"].s
                for node in graph_def.node
                if node.op == "HashTableV2"
            ]
        )
    same, again, other = names
    assert same == again
    assert len({*same, *other}) == 4


def test_loading_warns_of_nothing(exported, caplog):
    with caplog.at_level(logging.WARNING):
        tf.saved_model.load(str(exported))
    assert caplog.messages == []


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
    assert not [n for n in graph.nodes(graph_of(folder)) if "Cudnn" in n.op]
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
    with pytest.raises(ValueError, match="`version` must be an integer of 1"):
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
            lambda x: tf.nn.softmax(x + tf.random.normal(tf.shape(x))),
            "gives other",
        ),
        # By less than weights of fewer bits may differ.
        (
            lambda x: tf.nn.softmax(
                x + tf.random.normal(tf.shape(x), stddev=1e-3)
            ),
            "gives other",
        ),
        (lambda x: x * STRANGE, "no weight of the model"),
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
    model = ending_in(lambda x: x)
    model.labels = ["one"]
    with pytest.raises(ValueError, match="3 classes.*Received: 1"):
        serving.export(model, tmp_path)
    model = ending_in(lambda x: 2 * x)
    with pytest.raises(ValueError, match="must give probabilities"):
        serving.export(model, tmp_path)
    unknown = keras.Input((None,), dtype="int32", name="sentence_ids")
    model = keras.Model(unknown, 2 * unknown)
    model.preprocessor = tiny_classifier().preprocessor
    model.labels = ["a"]
    with pytest.raises(ValueError, match="needs `sides`"):
        serving.export(model, tmp_path)
    model.sides = ("",)
    model.gives_logits = False
    with pytest.raises(ValueError, match="sentence_ids"):
        serving.export(model, tmp_path)


def test_no_texts(served):
    for texts in ([], "good", b"good", [1], [None], [("a", "b")]):
        with pytest.raises(ValueError, match="must be a list|Expected a list"):
            served.predict(texts)
    for function in served.signatures.values():
        with pytest.raises(tf.errors.InvalidArgumentError, match="one row"):
            function(text=tf.constant([], tf.string))


def test_unknown_signatures(served):
    with pytest.raises(ValueError, match="'attend'.*Received: 'align'"):
        served.align(["good"])


def test_a_large_batch(served):
    texts = [TEXTS[i % len(TEXTS)] for i in range(4096)]
    few = served.predict(TEXTS)[1]
    many = served.predict(texts)[1]
    np.testing.assert_allclose(many, np.tile(few, (1024, 1)), atol=1e-6)


@pytest.mark.parametrize("family", ["pair", "decomposable"])
def test_pairs(family):
    model, folder = exported_family(family)
    served = serving.load_savedmodel(folder)
    pairs = rows_of(model)
    features = {}
    for side, texts in zip(
        ("premise", "hypothesis"), zip(*pairs, strict=True), strict=True
    ):
        for name, ids in model.preprocessor(tf.constant(texts)).items():
            features[f"{side}_{name}"] = ids
    _, probabilities = served.predict(pairs)
    np.testing.assert_allclose(probabilities, model(features), atol=1e-6)
    aligned = served.align(pairs)
    scores = model.attention_model()(features)
    for side, expected in zip(("premise", "hypothesis"), scores, strict=True):
        np.testing.assert_allclose(
            aligned[f"{side}_scores"], expected, atol=1e-6
        )
        column = int(side == "hypothesis")
        tokens = model.preprocessor.tokenize([row[column] for row in pairs])
        assert aligned[f"{side}_tokens"] == [
            [token.decode("utf-8", "replace") for token in row]
            for row in tokens.to_list()
        ]
    if family == "pair":
        for embedding, expected in zip(
            served.embed(pairs), model.embedding_model()(features), strict=True
        ):
            np.testing.assert_allclose(embedding, expected, atol=1e-6)
    else:
        assert "embed" not in served.signatures
        within = model.explanation_model()(features)["intra_sentence_scores"]
        for side, expected in zip(
            ("premise", "hypothesis"), within, strict=True
        ):
            np.testing.assert_allclose(
                aligned[f"{side}_intra_scores"], expected, atol=1e-6
            )
    for i, pair in enumerate(pairs):
        np.testing.assert_allclose(
            served.predict([pair])[1][0], probabilities[i], atol=1e-6
        )
    with pytest.raises(ValueError, match="pair of str"):
        served.predict(["a single text"])


@pytest.mark.parametrize("family", FAMILIES)
def test_warmup_requests(family):
    prediction_log_pb2 = pytest.importorskip(
        "tensorflow_serving.apis.prediction_log_pb2"
    )
    _, folder = exported_family(family)
    served = serving.load_savedmodel(folder)
    warm = set()
    for record in tf.data.TFRecordDataset(
        str(folder / "assets.extra" / "tf_serving_warmup_requests")
    ):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        inputs = {
            name: tf.constant(tf.make_ndarray(tensor))
            for name, tensor in request.inputs.items()
        }
        name = request.model_spec.signature_name
        assert served.signatures[name](**inputs)
        warm.add(name)
    assert warm == set(served.signatures)


def test_each_text_is_tokenized_once(exported):
    """The graph tokenizes for the ids and for the tokens; it runs once."""
    v1 = tf.compat.v1
    with v1.Session(graph=tf.Graph()) as session:
        meta_graph = v1.saved_model.load(session, ["serve"], str(exported))
        attend = meta_graph.signature_def["attend"]
        trace = v1.RunMetadata()
        session.run(
            {key: tensor.name for key, tensor in attend.outputs.items()},
            {attend.inputs["text"].name: TEXTS},
            options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE),
            run_metadata=trace,
        )
    ran = [
        node.timeline_label
        for device in trace.step_stats.dev_stats
        for node in device.node_stats
    ]
    assert len([x for x in ran if "= UnicodeTranscode(" in x]) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_all_signatures_are_one_trace(family):
    model, folder = exported_family(family)
    ops = [node.op for node in graph.nodes(graph_of(folder))]
    assert ops.count("UnicodeTranscode") == len(model.sides)


def test_a_model_is_traced_once(monkeypatch, tmp_path):
    tokenize = TextPreprocessor.tokenize
    traced = []

    def counted(self, texts):
        traced.append(not tf.executing_eagerly())
        return tokenize(self, texts)

    monkeypatch.setattr(TextPreprocessor, "tokenize", counted)
    serving.export(tiny_classifier(), tmp_path)
    assert sum(traced) == 1


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path):
    code = (
        "import sys; from keras_selfattn import serving;"
        "from tests.tiny_classifier import tiny_classifier;"
        "model = tiny_classifier(characters='abc');"
        "serving.export(model, sys.argv[1])"
    )
    contents = []
    for name in ("first", "second"):
        subprocess.run(
            [sys.executable, "-c", code, tmp_path / name], check=True
        )
        contents.append(
            {
                path.relative_to(tmp_path / name): path.read_bytes()
                for path in (tmp_path / name).rglob("*")
                if path.is_file()
            }
        )
    first, second = contents
    assert len(first) == 8
    assert first == second


def test_newest_version_is_loaded(exported, tmp_path):
    for version in ("9", "10", "old11"):
        shutil.copytree(exported, tmp_path / version)
    assert serving.load_savedmodel(tmp_path).folder == tmp_path / "10"
    path = str(tmp_path / "9")
    assert serving.load_savedmodel(path).folder == tmp_path / "9"
    assert serving.ServedModel(path).folder == tmp_path / "9"


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
    (foreign / "checksums.json").unlink()
    with pytest.raises(ValueError, match="not a SavedModel of"):
        serving.load_savedmodel(foreign)

    for broken in ("saved_model.pb", "variables/variables.index"):
        folder = tmp_path / broken.replace("/", "_")
        shutil.copytree(exported, folder)
        (folder / broken).write_bytes(b"\x00broken")
        with pytest.raises(ValueError, match=f"{broken} is not the file"):
            serving.load_savedmodel(folder)
        with pytest.raises(ValueError, match="not a complete") as error:
            serving.load_savedmodel(folder, verify=False)
        assert "\n" not in str(error.value)

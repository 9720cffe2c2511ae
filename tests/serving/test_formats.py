import json
import re
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import serving
from keras_selfattn.layers import CharacterCNN
from keras_selfattn.layers import StackedBiLSTM
from keras_selfattn.models import from_preset
from keras_selfattn.models.portable import without_cudnn
from keras_selfattn.serving.format_card import format_card
from keras_selfattn.text import TextPreprocessor
from tests.serving.families import FAMILIES
from tests.serving.families import small_classifier
from tests.tiny_classifier import tiny_classifier


def onnx_answers(folder, features):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    inputs = {
        tensor.name: np.asarray(features[tensor.name])
        for tensor in session.get_inputs()
    }
    return session.run(None, inputs)[0]


def openvino_answers(folder, features):
    core = pytest.importorskip("openvino").Core()
    compiled = core.compile_model(
        folder / "model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    # One name each: a client that asks for any gets that of the ids.
    assert [tensor.names for tensor in compiled.inputs] == [
        {tensor.any_name} for tensor in compiled.inputs
    ]
    inputs = {
        tensor.any_name: np.asarray(features[tensor.any_name])
        for tensor in compiled.inputs
    }
    return compiled(inputs)[0]


def litert_answers(folder, features):
    interpreter = tf.lite.Interpreter(str(folder / "model.tflite"))
    run = interpreter.get_signature_runner()
    inputs = {name: np.asarray(ids) for name, ids in features.items()}
    return run(**inputs)["probabilities"]


# Of Keras's code for the converter, on a NumPy newer than it.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_onnx_answers_equal_keras(tmp_path, family):
    pytest.importorskip("tf2onnx")
    name, overrides = FAMILIES[family]
    model = small_classifier(name, **overrides)
    folder = serving.export_onnx(model, tmp_path / "new" / "onnx")
    assert json.loads((folder / "labels.json").read_text()) == model.labels
    preprocessor = TextPreprocessor.load(folder)
    for batch in (["the food"], ["the view was great .", "", "bad food"]):
        rows = batch
        if family != "single":
            rows = list(zip(batch, batch[::-1], strict=True))
        features = model.preprocess(rows)
        np.testing.assert_allclose(
            onnx_answers(folder, features), model(features), rtol=0, atol=1e-6
        )
        if family == "single":
            for name, ids in preprocessor(batch).items():
                np.testing.assert_array_equal(ids, features[name])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_openvino_answers_equal_keras(tmp_path, family):
    pytest.importorskip("openvino")
    name, overrides = FAMILIES[family]
    model = small_classifier(name, **overrides)
    folder = serving.export_openvino(model, tmp_path / "new")
    for batch in (["the food"], ["the view was great .", "", "bad food"]):
        rows = batch
        if family != "single":
            rows = list(zip(batch, batch[::-1], strict=True))
        features = model.preprocess(rows)
        answers = openvino_answers(folder, features)
        np.testing.assert_allclose(answers, model(features), rtol=0, atol=1e-6)
    if family == "decomposable":
        reduced = serving.reduce_precision(model, "int8")
        folder = serving.export_openvino(reduced, tmp_path / "int8")
        answers = openvino_answers(folder, features)
        expected = reduced(features)
        np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-6)


# The interpreter's home is moving to a package of its own.
@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_litert_answers_equal_keras(tmp_path, family):
    name, overrides = FAMILIES[family]
    model = small_classifier(name, **overrides)
    folder = serving.export_litert(model, tmp_path / "new")
    for batch in (["the food"], ["the view was great .", "", "bad food"]):
        rows = batch
        if family != "single":
            rows = list(zip(batch, batch[::-1], strict=True))
        features = model.preprocess(rows)
        answers = litert_answers(folder, features)
        np.testing.assert_allclose(answers, model(features), rtol=0, atol=1e-6)


FORMATS = {
    "onnx": (serving.export_onnx, onnx_answers),
    "openvino": (serving.export_openvino, openvino_answers),
    "litert": (serving.export_litert, litert_answers),
}
TEXTS = ["good food.", "", "It isn't bad at all"]


# Of Keras's code for the converter, on a NumPy newer than it; and the
# interpreter's home is moving to a package of its own.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_int8_logits_of_a_loaded_model(tmp_path, name):
    export, answers = FORMATS[name]
    model = tiny_classifier(encoder="bilstm", units=2, activation=None)
    model.set_weights([4 * weight for weight in model.get_weights()])
    model.save_to_preset(tmp_path / "model")
    loaded = from_preset(tmp_path / "model")
    reduced = serving.reduce_precision(loaded, "int8")
    folder = export(reduced, tmp_path / "new")
    features = model.preprocess(TEXTS)
    rounded = tf.nn.softmax(reduced(features))
    assert np.abs(rounded - tf.nn.softmax(model(features))).max() > 1e-4
    np.testing.assert_allclose(
        answers(folder, features), rounded, rtol=0, atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_onnx_of_a_loaded_model_and_of_a_clone(tmp_path):
    pytest.importorskip("tf2onnx")
    model = tiny_classifier()
    model.save_to_preset(tmp_path / "model")
    loaded = from_preset(tmp_path / "model")
    clone = keras.models.clone_model(loaded)
    clone.set_weights(loaded.get_weights())
    features = model.preprocess(TEXTS)
    for name, made in {"loaded": loaded, "clone": clone}.items():
        folder = serving.export_onnx(made, tmp_path / name)
        np.testing.assert_allclose(
            onnx_answers(folder, features), model(features), rtol=0, atol=1e-6
        )


# Of Keras's quantizers, on a NumPy newer than they are.
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_what_formats_cannot_compute(tmp_path):
    bfloat16 = serving.reduce_precision(tiny_classifier(), "bfloat16")
    for name, (export, _) in FORMATS.items():
        with pytest.raises(
            ValueError, match="in bfloat16; savedmodel can."
        ) as e:
            export(bfloat16, tmp_path / name)
        assert "\n" not in str(e.value)
    for mode, able, refusing in (
        ("int8", "savedmodel and onnx", ("openvino", "litert")),
        ("float8", "savedmodel", FORMATS),
    ):
        quantized = tiny_classifier()
        with pytest.warns(UserWarning, match="left these layers"):
            quantized.quantize(mode)
        for name in refusing:
            with pytest.raises(ValueError, match=f"in {mode}; {able} can. "):
                FORMATS[name][0](quantized, tmp_path / name)
    with pytest.raises(ValueError, match="in float64; savedmodel and onnx and"):
        serving.export_litert(tiny_classifier(dtype="float64"), tmp_path / "f")

    class Shouted(TextPreprocessor):
        pass

    model = tiny_classifier()
    model.preprocessor = Shouted(model.preprocessor.get_vocabulary()[2:])
    for export, _ in FORMATS.values():
        with pytest.raises(ValueError, match="no code.* Received: a Shouted"):
            export(model, tmp_path / "new")
    assert not list(tmp_path.iterdir())


# Of Keras's code for the converter, on a NumPy newer than it.
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_onnx_of_float64_runs(tmp_path):
    pytest.importorskip("tf2onnx")
    model = tiny_classifier(characters="abd", dtype="float64")
    folder = serving.export_onnx(model, tmp_path / "new")
    features = model.preprocess(TEXTS)
    np.testing.assert_allclose(
        onnx_answers(folder, features), model(features), rtol=0, atol=1e-6
    )


def onnx_names(folder):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    return [
        {tensor.name for tensor in tensors}
        for tensors in (session.get_inputs(), session.get_outputs())
    ]


def openvino_names(folder):
    model = (
        pytest.importorskip("openvino").Core().read_model(folder / "model.xml")
    )
    return [
        set.union(*(port.names for port in ports))
        for ports in (model.inputs, model.outputs)
    ]


def litert_names(folder):
    interpreter = tf.lite.Interpreter(str(folder / "model.tflite"))
    names = interpreter.get_signature_list()["serving_default"]
    return [set(names["inputs"]), set(names["outputs"])]


NAMES = {
    "onnx": onnx_names,
    "openvino": openvino_names,
    "litert": litert_names,
}


# Of Keras's code for the converter, on a NumPy newer than it; and the
# interpreter's home is moving to a package of its own.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
@pytest.mark.parametrize("name", NAMES)
def test_a_client_needs_no_more_than_the_folder(tmp_path, name):
    model = tiny_classifier(characters="abd")
    folder = FORMATS[name][0](model, tmp_path / "new")
    inputs, outputs = NAMES[name](folder)
    assert (inputs, outputs) == ({"token_ids", "char_ids"}, {"probabilities"})
    card = (folder / "model_card.md").read_text(encoding="utf-8")
    assert card.startswith("# sentence")
    for part in (
        "| input | `token_ids` | int32 | (batch, words) |",
        "| input | `char_ids` | int32 | (batch, words, 6) |",
        "| output | `probabilities` | float32 | (batch, 3) |",
    ):
        assert part in card
    # The files that it names are there.
    for file in set(re.findall(r"`(\w+\.\w+)`", card)):
        assert (folder / file).is_file(), file
    # And its rule for the ids of words is the preprocessor's.
    preprocessor = TextPreprocessor.load(folder)
    words = (folder / "vocabulary.txt").read_text().split()
    assert "1 a word out of the vocabulary; 2 is the word of the" in card
    ids = preprocessor([f"{words[0]} xyz"])["token_ids"].numpy().tolist()
    assert ids == [[2, 1]]


def test_the_card_of_a_pair():
    model = small_classifier(*FAMILIES["decomposable"][:1])
    card = format_card("# A card\n", model, "model.onnx", "it")
    assert card.startswith("# A card\n\n## Format\n\n`model.onnx` runs in it")
    assert "`premise_token_ids`" in card
    assert "of a side; `premise_` or `hypothesis_` comes before" in card
    buckets = model.preprocessor.num_oov_indices
    words = model.preprocessor.get_vocabulary()
    assert f"{1 + buckets} is `[NULL]`" in card
    assert words[1 + buckets] == "[NULL]"
    assert f"{2 + buckets} is the word of the first line" in card


# Of Keras's code for the converter, on a NumPy newer than it.
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_keras_exports_what_onnx_runtime_takes(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    model = tiny_classifier(encoder="bilstm", units=2, characters="abd")
    features = model.preprocess(TEXTS)
    for exported in (model, model.attention_model()):
        # Keras exports a model after its first call alone.
        expected = exported(features)
        path = str(tmp_path / f"{exported.name}.onnx")
        exported.export(path, format="onnx", verbose=False)
        session = onnxruntime.InferenceSession(path)
        ids = {name: np.asarray(each) for name, each in features.items()}
        np.testing.assert_allclose(
            session.run(None, ids)[0], expected, rtol=0, atol=1e-6
        )


def test_faster_code_comes_back():
    model = tiny_classifier(encoder="bilstm", units=2, characters="abd")
    (words,) = (x for x in model.layers if isinstance(x, CharacterCNN))
    (encoder,) = (x for x in model.layers if isinstance(x, StackedBiLSTM))
    lstm = encoder.directions[0].forward_layer
    for portable in (False, True):
        with without_cudnn(model, portable=portable):
            assert encoder.implementation == ("keras" if portable else "auto")
            assert words.encodes_words_once is not portable
            assert lstm.use_cudnn is False
        assert encoder.implementation == lstm.use_cudnn == "auto"
        assert words.encodes_words_once


def test_openvino_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(ImportError, match=r"keras_selfattn\[formats\]"):
        serving.export_openvino(tiny_classifier(), tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_onnx_without_the_converter(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    with pytest.raises(ImportError, match=r"keras_selfattn\[formats\]"):
        serving.export_onnx(tiny_classifier(), tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_onnx_errors(tmp_path):
    pytest.importorskip("tf2onnx")
    with pytest.raises(ValueError, match="exists already"):
        serving.export_onnx(tiny_classifier(), tmp_path)
    model = tiny_classifier()
    model.labels = None
    with pytest.raises(ValueError, match="needs `labels`"):
        serving.export_onnx(model, tmp_path / "new")
    assert not list(tmp_path.iterdir())

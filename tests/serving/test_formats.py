import json
import sys

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import serving
from keras_selfattn.layers import CharacterCNN
from keras_selfattn.layers import StackedBiLSTM
from keras_selfattn.serving.recurrent import without_cudnn
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
    inputs = {
        tensor.any_name: np.asarray(features[tensor.any_name])
        for tensor in compiled.inputs
    }
    return compiled(inputs)[0]


def litert_answers(folder, features):
    interpreter = tf.lite.Interpreter(str(folder / "model.tflite"))
    run = interpreter.get_signature_runner()
    answers = []
    for row in range(len(next(iter(features.values())))):
        inputs = {n: ids.numpy()[row : row + 1] for n, ids in features.items()}
        answers.append(run(**inputs)["probabilities"])
    return np.concatenate(answers)


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


def test_faster_code_comes_back():
    model = tiny_classifier(encoder="bilstm", units=2, characters="abd")
    (words,) = (x for x in model.layers if isinstance(x, CharacterCNN))
    (encoder,) = (x for x in model.layers if isinstance(x, StackedBiLSTM))
    lstm = encoder.directions[0].forward_layer
    for portable in (False, True):
        with without_cudnn(model, portable=portable):
            assert encoder.use_cudnn == (False if portable else "auto")
            assert words.finds_distinct_words is not portable
            assert lstm.use_cudnn is False
        assert encoder.use_cudnn == lstm.use_cudnn == "auto"
        assert words.finds_distinct_words


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

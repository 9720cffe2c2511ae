import json
import sys

import numpy as np
import pytest

from keras_selfattn import serving
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

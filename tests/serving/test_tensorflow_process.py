"""Exports of models that run on JAX and torch."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import keras
import numpy as np
import pytest

from keras_selfattn import serving
from keras_selfattn.serving import tensorflow_process
from keras_selfattn.serving.tensorflow_process import in_tensorflow
from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without
from tests.serving.test_formats import onnx_answers
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food.", "", "It isn't bad \U0001f600 at all", "food\ud83d"]

OTHER_BACKEND = f"""
import json, pathlib, sys, keras, numpy as np
from keras_selfattn import cli, evaluation, serving, visualization
from tests.tiny_classifier import tiny_classifier
folder, backend = pathlib.Path(sys.argv[1]), sys.argv[2]
assert keras.backend.backend() == backend
texts = {TEXTS!r}
model = tiny_classifier(
    encoder="bilstm", units=2, characters="adfgo", activation=None
)
reduced = serving.reduce_precision(model, "int8")
answers = {{}}
for number, asked in enumerate([model, reduced], start=1):
    ((_, probabilities),) = evaluation.predict(asked, texts)
    answers[number] = np.asarray(probabilities).tolist()
    written = serving.export(asked, folder / "served", number, card="Mine.")
    assert written == folder / "served" / str(number)
    _, same = serving.load_savedmodel(written).predict(texts)
    np.testing.assert_allclose(same, probabilities, rtol=0, atol=1e-5)
serving.export_onnx(model, folder / "onnx")
(folder / "answers.json").write_text(json.dumps(answers))
explained = [list(e.probabilities) for e in visualization.explain(model, texts)]
np.testing.assert_allclose(explained, answers[1], rtol=0, atol=1e-5)
records = [(text, "two") for text in texts]
comparison = serving.compare(model, reduced, records)
assert comparison.rows == 4 and 0 < comparison.largest_difference < 0.05
try:
    serving.export_litert(
        serving.reduce_precision(model, "bfloat16"), folder / "new"
    )
except ValueError as error:
    assert "in bfloat16" in str(error)
model.save_to_preset(folder / "model")
assert cli.main(["export", str(folder / "model"), str(folder / "again")]) == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", OTHERS)
def test_other_backends(tmp_path, backend):
    skip_without(backend)
    printed = python(backend, "-c", OTHER_BACKEND, tmp_path, backend)
    # What the other process said to itself stays there.
    assert printed == f"{tmp_path / 'again' / '1'}\n"
    answers = json.loads((tmp_path / "answers.json").read_text())
    for number, path in {1: "served/1", 2: "served/2"}.items():
        served = serving.load_savedmodel(tmp_path / path)
        _, probabilities = served.predict(TEXTS)
        np.testing.assert_allclose(
            probabilities, answers[str(number)], rtol=0, atol=1e-5
        )
    _, probabilities = serving.load_savedmodel(tmp_path / "again").predict(
        TEXTS
    )
    np.testing.assert_allclose(probabilities, answers["1"], atol=1e-5)
    model = tiny_classifier(characters="adfgo")
    onnx = onnx_answers(tmp_path / "onnx", model.preprocess(TEXTS))
    np.testing.assert_allclose(onnx, answers["1"], rtol=0, atol=1e-5)
    card = tmp_path / "served/1/assets.extra/model_card.md"
    assert card.read_text() == "Mine."
    assert not (tmp_path / "new").exists()


def fail(model, folder, name):
    assert keras.backend.backend() == "tensorflow"
    if name == "OddError":
        raise OddError
    raise ValueError(f"Of the model {model.name}:\nno {name} in {folder}")


class OddError(Exception):
    pass


def die(model, folder):
    print("the last words", file=sys.stderr, flush=True)
    os._exit(3)


def go_on(model, folder):
    with tempfile.TemporaryDirectory():
        (folder / "process").write_text(str(os.getpid()))
        time.sleep(300)


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Has the next calls made by a process of their own."""
    monkeypatch.setattr(tensorflow_process, "is_at_hand", lambda: False)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield
    assert not list(temporary.glob("export_*"))


@pytest.mark.slow
def test_errors_come_back(elsewhere, tmp_path):
    model = tiny_classifier()
    with pytest.raises(ValueError) as raised:
        in_tensorflow(fail, model, tmp_path, name="word")
    assert str(raised.value) == (
        f"Of the model {model.name}:\nno word in {tmp_path}"
    )
    with pytest.raises(RuntimeError, match="^OddError"):
        in_tensorflow(fail, model, tmp_path, name="OddError")
    with pytest.raises(RuntimeError, match="code 3: .*the last words$"):
        in_tensorflow(die, model, tmp_path)


def is_running(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("It took more than a minute")


class Interruption(BaseException):
    pass


@pytest.mark.slow
def test_an_interruption_ends_the_process(elsewhere, tmp_path):
    file = tmp_path / "process"

    def interrupt(*_):
        if file.exists() and file.read_text():
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Interruption

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    try:
        with pytest.raises(Interruption):
            in_tensorflow(go_on, tiny_classifier(), tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not is_running(int(file.read_text()))


@pytest.mark.slow
def test_a_killed_process_leaves_none_behind(tmp_path):
    code = (
        "import pathlib, sys;"
        "from keras_selfattn.serving import tensorflow_process;"
        "from tests.serving.test_tensorflow_process import go_on;"
        "from tests.tiny_classifier import tiny_classifier;"
        "tensorflow_process.is_at_hand = lambda: False;"
        "tensorflow_process.in_tensorflow("
        "go_on, tiny_classifier(), pathlib.Path(sys.argv[1]))"
    )
    file = tmp_path / "process"
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path],
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        wait_for(lambda: file.exists() and file.read_text())
        process.kill()
    wait_for(lambda: not is_running(int(file.read_text())))


def test_models_that_cannot_be_handed_on(elsewhere, tmp_path):
    model = tiny_classifier()
    with pytest.raises(ValueError, match="Received: View"):
        in_tensorflow(fail, model.attention_model(), tmp_path)

    class Mine(type(model)):
        pass

    mine = Mine.from_config(model.get_config())
    with pytest.raises(ValueError, match="Received: Mine"):
        in_tensorflow(fail, mine, tmp_path)

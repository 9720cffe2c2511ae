"""An exported model answers a C program as it answers Keras."""

import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import serving
from tests.models.small import presets_by_graph
from tests.native import client
from tests.serving.families import FAMILIES
from tests.serving.families import PAIRS
from tests.serving.families import TEXTS
from tests.serving.families import exported
from tests.serving.families import keras_answers
from tests.serving.families import rows_of
from tests.serving.families import small_classifier


def assert_equal(outputs, expected):
    assert outputs.keys() == expected.keys()
    for key, reference in expected.items():
        assert outputs[key].shape == reference.shape, key
        if reference.dtype == np.float32:
            np.testing.assert_allclose(
                outputs[key], reference, rtol=0, atol=1e-6, err_msg=str(key)
            )
        else:
            assert outputs[key].tolist() == reference.tolist(), key


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_equal_keras(family):
    model, folder = exported(family)
    rows = rows_of(model)
    outputs = client.Request(folder, rows).run()
    assert_equal(outputs, keras_answers(model, rows))


# Each pooling is once in the graphs: of a pair those of a text again.
GRAPHS = [
    name
    for name in presets_by_graph()
    if name.removeprefix("chen2018_snli_") not in ("max", "mean", "last")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(tmp_path, name):
    model = small_classifier(name)
    rows = rows_of(model)
    outputs = client.Request(serving.export(model, tmp_path), rows).run()
    assert_equal(outputs, keras_answers(model, rows))


@pytest.mark.slow
def test_decomposable_attention_with_characters(tmp_path):
    model = small_classifier(
        "parikh2016_snli_intra", character_vocabulary_size=7
    )
    folder = serving.export(model, tmp_path)
    outputs = client.Request(folder, PAIRS).run()
    assert_equal(outputs, keras_answers(model, PAIRS))


def test_core_tensorflow_alone(tmp_path):
    model = small_classifier(
        "lin2017_cnn_max_yelp", "tensorflow", activation=None
    )
    folder = serving.export(model, tmp_path)
    outputs = client.Request(folder, TEXTS).run()
    sums = outputs["serving_default", "probabilities"].sum(axis=-1)
    np.testing.assert_allclose(sums, 1, atol=1e-5)
    assert_equal(outputs, keras_answers(model, TEXTS))


def test_threads():
    model, folder = exported("decomposable")
    outputs = client.Request(folder, PAIRS, threads=8).run()
    assert_equal(outputs, keras_answers(model, PAIRS))


@pytest.mark.slow
def test_a_newer_version_appears(tmp_path):
    model, folder = exported("decomposable")
    newer = small_classifier("parikh2016_snli_intra")
    newer.set_weights([0.9 * weight for weight in newer.get_weights()])
    request = client.Request(folder, PAIRS, threads=3, newer=tmp_path / "2")
    with subprocess.Popen(
        request.command, stdout=subprocess.PIPE, text=True
    ) as process:
        assert_equal(request.parse(process.stdout), keras_answers(model, PAIRS))
        # Its threads answer from the old version by now.
        serving.export(newer, tmp_path, version=2)
        assert_equal(request.parse(process.stdout), keras_answers(newer, PAIRS))
        assert process.wait(timeout=300) == 0


def test_empty_batch_is_refused():
    for family, message in (
        ("single", "text must have at least one row"),
        ("decomposable", "premise and hypothesis must have at least one row"),
    ):
        model, folder = exported(family)
        request = client.Request(folder, rows_of(model))
        for file in client.write_texts(rows_of(model)):
            file.write_bytes(b"")
        with pytest.raises(RuntimeError, match=message):
            request.run()


def test_sides_of_different_rows_are_refused():
    _, folder = exported("decomposable")
    request = client.Request(folder, PAIRS)
    client.write_texts(TEXTS[:3])
    with pytest.raises(RuntimeError, match="must have as many rows"):
        request.run()


def test_no_python_in_the_process():
    if shutil.which("ldd") is None:
        pytest.skip("there is no ldd")
    libraries = subprocess.run(
        ["ldd", client.program()], capture_output=True, text=True, check=True
    ).stdout
    assert "libtensorflow_cc" in libraries
    assert "python3" not in libraries.replace(tf.sysconfig.get_lib(), "")

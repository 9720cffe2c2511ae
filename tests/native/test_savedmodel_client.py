"""An exported model answers a C program as it answers Keras."""

import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_selfattn import serving
from tests.tiny_classifier import tiny_classifier

SOURCE = pathlib.Path(__file__).parent / "savedmodel_client.c"
TEXTS = (
    b"The food wasn't good, but the view was great!",
    b"",
    b" \n\t ",
    "great \U0001f600\U0001f44d\U0001f3fd 食物".encode(),
    b"good \xff\xfe\xc3( food",
    b"good\x00food",
    b"bad " * 60,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = pathlib.Path(tf.sysconfig.get_lib())
    libraries = [
        folder / "libtensorflow_cc.so.2",
        folder / "libtensorflow_framework.so.2",
    ]
    if not all(path.exists() for path in libraries):
        pytest.skip("this TensorFlow comes without its C library")
    program = tmp_path_factory.mktemp("native") / "savedmodel_client"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    include = ["-I", tf.sysconfig.get_include()]
    command = [compiler, *flags, *include, SOURCE, "-o", program, *libraries]
    subprocess.run([*command, f"-Wl,-rpath,{folder}"], check=True)
    return program


def signatures(folder):
    saved_model = saved_model_pb2.SavedModel.FromString(
        (folder / "saved_model.pb").read_bytes()
    )
    return saved_model.meta_graphs[0].signature_def


def run(client, folder, texts, names):
    """Returns by signature and output name the arrays the program prints."""
    texts_file = client.parent / "texts"
    texts_file.write_bytes(
        b"".join(struct.pack("=Q", len(text)) + text for text in texts)
    )
    command = [client, folder, texts_file]
    for library in serving.load_savedmodel(folder).requirements["op_libraries"]:
        import tensorflow_text

        command += ["-l", pathlib.Path(tensorflow_text.__path__[0]) / library]
    keys = []
    for name in names:
        signature = signatures(folder)[name]
        command += ["-s", signature.inputs["text"].name]
        for key, tensor in signature.outputs.items():
            command.append(tensor.name)
            keys.append((name, key))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    lines = iter(done.stdout.splitlines())
    return {key: parse(next(lines), next(lines)) for key in keys}


def parse(header, values):
    dtype, *shape = header.split()
    if dtype == "string":
        rows = [bytes.fromhex(value[1:]) for value in values.split()]
        array = np.array(rows, dtype=object)
    else:
        array = np.array([float(value) for value in values.split()])
    return array.reshape([int(size) for size in shape])


@pytest.mark.parametrize(
    ("implementation", "characters"),
    [("tensorflow_text", None), ("tensorflow", "abdfgo食")],
)
def test_native_answers_equal_keras(
    client, tmp_path, implementation, characters
):
    if implementation == "tensorflow_text":
        pytest.importorskip("tensorflow_text")
    model = tiny_classifier(
        implementation=implementation,
        characters=characters,
        encoder="bilstm",
        units=2,
    )
    folder = serving.export(model, tmp_path / "served")
    outputs = run(client, folder, TEXTS, serving.SIGNATURES)

    texts = tf.constant(TEXTS)
    features = model.preprocessor(texts)
    probabilities = model(features).numpy()
    for key, expected in {
        ("serving_default", "probabilities"): probabilities,
        ("attend", "scores"): model.attention_model()(features).numpy(),
        ("embed", "embedding"): model.embedding_model()(features).numpy(),
    }.items():
        assert outputs[key].shape == expected.shape
        np.testing.assert_allclose(outputs[key], expected, rtol=0, atol=1e-6)
    labels = [model.labels[i].encode() for i in probabilities.argmax(-1)]
    assert outputs["serving_default", "label"].tolist() == labels
    tokens = model.preprocessor.tokenize(texts).to_tensor("").numpy()
    assert outputs["attend", "tokens"].tolist() == tokens.tolist()


def test_empty_batch_is_refused(client, tmp_path):
    folder = serving.export(tiny_classifier(), tmp_path / "served")
    with pytest.raises(RuntimeError, match="at least one row"):
        run(client, folder, [], ["serving_default"])


def test_no_python_in_the_process(client):
    if shutil.which("ldd") is None:
        pytest.skip("there is no ldd")
    libraries = subprocess.run(
        ["ldd", client], capture_output=True, text=True, check=True
    ).stdout
    assert "libtensorflow_cc" in libraries
    assert "python3" not in libraries.replace(tf.sysconfig.get_lib(), "")

"""Whether the ONNX graph that is made by rules answers as the model does."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers
from keras_selfattn import serving
from keras_selfattn.serving import formats
from keras_selfattn.serving import word_tables
from tests.models.small import small_preset
from tests.serving.padded import MODELS
from tests.serving.padded import keras_answers
from tests.serving.padded import paddings
from tests.serving.padded import small_model
from tests.tiny_classifier import tiny_classifier

translating = pytest.importorskip(
    "keras_selfattn.serving.onnx_graph.translating"
)
onnxruntime = pytest.importorskip("onnxruntime")


def answers(made, ids):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run(None, dict(ids))[0]


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_the_model(name):
    model = small_model(name)
    made = translating.translate(model)
    for ids in paddings(model):
        np.testing.assert_allclose(
            answers(made, ids), keras_answers(model, ids), rtol=0, atol=2e-6
        )


@pytest.mark.parametrize("name", ["characters, shortcuts", "heuristic"])
def test_an_lstm_is_one_node(name):
    model = small_model(name)
    # The number of inputs with lengths, and without.
    for gives_lengths, inputs in ((True, 5), (False, 4)):
        made = translating.translate(model, gives_lengths)
        lstms = [n for n in made.graph.node if n.op_type == "LSTM"]
        # One for each layer of each sentence.
        assert [len([*filter(None, n.input)]) for n in lstms] == [inputs] * 2
        assert not {"Loop", "Scan"} & {n.op_type for n in made.graph.node}
        for ids in paddings(model):
            np.testing.assert_allclose(
                answers(made, ids), keras_answers(model, ids), atol=2e-6
            )


@pytest.mark.parametrize("name", ["decomposable", "decomposable, exact match"])
def test_what_depends_on_a_word_alone_is_a_table(monkeypatch, name):
    model = small_model(name)

    def shapes():
        made = translating.translate(model)
        return made, [tuple(each.dims) for each in made.graph.initializer]

    made, tables = shapes()
    attention = model.get_layer("decomposable_attention")
    kernels = [tuple(kernel.shape) for kernel in attention.attend[0]]
    assert not set(kernels) & set(tables)
    monkeypatch.setattr(word_tables, "_LARGEST", 0)
    computed, weights = shapes()
    assert set(kernels) < set(weights)
    for ids in paddings(model):
        np.testing.assert_allclose(
            answers(made, ids), answers(computed, ids), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize(
    "name",
    [
        "characters, shortcuts",
        "pruned",
        "convolution of 3",
        "n-grams, characters",
    ],
)
def test_int8_weights_are_stored_as_they_are(name):
    model = small_model(name)
    reduced = serving.reduce_precision(model, "int8")
    made = translating.translate(reduced)
    ids = paddings(model)[1]
    expected = keras_answers(reduced, ids)
    np.testing.assert_allclose(answers(made, ids), expected, rtol=0, atol=2e-6)
    assert np.abs(expected - keras_answers(model, ids)).max() > 1e-5
    matrices = [x for x in made.graph.initializer if x.data_type == 3]
    assert sum(np.prod(x.dims) for x in matrices) == sum(
        np.prod(weight.shape)
        for weight in model.weights
        if len(weight.shape) > 1 and "bias" not in weight.name
    )


def test_what_has_no_rule():
    half = small_preset("lin2017_cnn_max_age", dtype="mixed_float16")
    with pytest.raises(translating.NoRule, match="float16"):
        translating.translate(half)
    model = small_model("convolution of 3")
    model.get_layer("hidden_1").activation = keras.activations.gelu
    with pytest.raises(translating.NoRule, match="gelu has no rule"):
        translating.translate(model)


class OwnLayer(keras.layers.Layer):
    def call(self, inputs):
        return inputs


def without_mask(model):
    words = layers.WordEmbedding(9, 4)(model.input["token_ids"])
    return layers.MaskedMeanPooling()(ops.abs(words))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda model: OwnLayer()(model.output), "OwnLayer has no rule"),
        (lambda model: 0.5 * model.output, "Mul of a constant has no rule"),
        (without_mask, "MaskedMeanPooling without a mask"),
    ],
)
def test_what_users_have_built(change, message):
    model = small_model("convolution of 3")
    own = keras.Model(model.input, change(model))
    own.sides, own.labels = model.sides, model.labels
    own.gives_logits = False
    with pytest.raises(translating.NoRule, match=message):
        translating.translate(own)


# Of Keras's code for the converter, on a NumPy newer than it.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.slow
def test_what_has_no_rule_is_converted(tmp_path):
    pytest.importorskip("tf2onnx")
    model = tiny_classifier()
    model.get_layer("hidden_1").activation = keras.activations.tanh
    texts = ["good food.", "", "It isn't bad at all"]
    ids = {name: x.numpy() for name, x in model.preprocess(texts).items()}
    folder = serving.export_onnx(model, tmp_path / "onnx")
    session = onnxruntime.InferenceSession(folder / formats.ONNX_FILE)
    np.testing.assert_allclose(
        session.run(["probabilities"], ids)[0], model(ids), rtol=0, atol=1e-6
    )
    openvino = pytest.importorskip("openvino")
    folder = serving.export_openvino(model, tmp_path / "openvino")
    compiled = openvino.Core().compile_model(
        folder / formats.OPENVINO_FILE,
        "CPU",
        {"INFERENCE_PRECISION_HINT": "f32"},
    )
    np.testing.assert_allclose(
        compiled(ids)["probabilities"], model(ids), rtol=0, atol=1e-6
    )

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import evaluation
from keras_selfattn import faithfulness
from keras_selfattn import serving
from keras_selfattn import visualization
from keras_selfattn.cli import main
from keras_selfattn.serving.checks import compute_types
from keras_selfattn.serving.int8 import int8_matrix
from keras_selfattn.serving.int8 import is_matrix
from keras_selfattn.serving.int8 import quantize
from keras_selfattn.serving.reduced_precision import Comparison
from tests.serving.families import small_classifier
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food.", "", "It isn't bad at all", "food"]


@pytest.fixture(scope="module")
def model():
    return tiny_classifier(characters="adfgo", ngram_buckets=64)


def size(folder):
    return (folder / "variables/variables.data-00000-of-00001").stat().st_size


def weights_by_type(folder):
    counts = {}
    for _, shape, dtype in [
        (name, shape, tf.train.load_variable(path, name).dtype.name)
        for path in [str(folder / "variables/variables")]
        for name, shape in tf.train.list_variables(path)
        if not name.startswith("_")
    ]:
        counts[dtype] = counts.get(dtype, 0) + int(np.prod(shape))
    return counts


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_export(model, tmp_path, precision):
    before = keras.config.dtype_policy()
    weights = model.get_weights()
    reduced = serving.reduce_precision(model, precision)
    folder = serving.export(reduced, tmp_path)
    served = serving.load_savedmodel(folder)
    labels, probabilities = served.predict(TEXTS)
    assert probabilities.dtype == np.float32
    expected = model(model.preprocess(TEXTS)).numpy()
    np.testing.assert_allclose(probabilities, expected, atol=0.02)
    assert np.abs(probabilities - expected).max() > 0
    _, scores = served.attend(TEXTS)
    features = model.preprocess(TEXTS)
    np.testing.assert_allclose(
        scores, model.attention_model()(features), atol=0.02
    )
    np.testing.assert_allclose(
        served.embed(TEXTS), model.embedding_model()(features), atol=0.02
    )
    # The model itself is as before.
    assert keras.config.dtype_policy() == before
    for weight, old in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(weight, old)
    card = (folder / "assets.extra/model_card.md").read_text()
    assert f"| Precision | {precision} |" in card
    counts = weights_by_type(folder)
    biases = sum(w.size for w in weights if w.ndim == 1)
    if precision == "int8":
        assert counts["int8"] == model.count_params() - biases
    else:
        # All but the softmax's layer, which stays float32.
        last = 6 * 3 + 3
        assert counts["float32"] == last
        assert counts["bfloat16"] == model.count_params() - last


@pytest.mark.parametrize("activation", ["softmax", None])
@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_every_way_of_asking(precision, activation):
    model = tiny_classifier(encoder="bilstm", units=2, activation=activation)
    # So that rounding shows, while not every probability is near 1.
    model.set_weights([6 * weight for weight in model.get_weights()])
    reduced = serving.reduce_precision(model, precision)
    features = reduced.preprocess(TEXTS)
    outputs = np.array(reduced(features))
    # A product of half floats depends on what it is merged with.
    tolerance = {"bfloat16": 1e-3, "int8": 1e-6}[precision]
    assert np.abs(outputs - model(features)).max() > 3 * tolerance

    probabilities = outputs
    if activation is None:
        probabilities = np.array(tf.nn.softmax(outputs))
    answers = {
        "predict": reduced.predict(features, verbose=0),
        "predict_on_batch": reduced.predict_on_batch(features),
        "explanation_model": reduced.explanation_model()(features)["outputs"],
    }
    for name, answer in answers.items():
        np.testing.assert_allclose(
            answer, outputs, rtol=0, atol=tolerance, err_msg=name
        )
    answers = {
        "evaluation": [p for _, p in evaluation.predict(reduced, TEXTS)][0],
        "explain": [
            explanation.probabilities
            for explanation in visualization.explain(reduced, TEXTS)
        ],
    }
    for name, answer in answers.items():
        np.testing.assert_allclose(
            answer, probabilities, rtol=0, atol=tolerance, err_msg=name
        )

    ids = np.array([0, 2, 1, 1])
    records = [
        (text, model.labels[i]) for text, i in zip(TEXTS, ids, strict=True)
    ]
    accuracy = (outputs.argmax(axis=-1) == ids).mean()
    assert evaluation.evaluate(reduced, records).accuracy == accuracy
    entropy = keras.metrics.SparseCategoricalCrossentropy(
        name="entropy", from_logits=activation is None
    )
    reduced.compile(metrics=[entropy])
    expected = -np.log(probabilities[np.arange(4), ids]).mean()
    for evaluate in (reduced.evaluate, reduced.test_on_batch):
        more = {} if evaluate == reduced.test_on_batch else {"verbose": 0}
        found = evaluate(features, ids, return_dict=True, **more)
        assert found["entropy"] == pytest.approx(expected, abs=10 * tolerance)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_what_a_reduced_model_refuses(model, tmp_path, precision):
    reduced = serving.reduce_precision(model, precision)
    kind = {"bfloat16": "Bfloat16", "int8": "Int8"}[precision]
    assert type(reduced).__name__ == f"{kind}SentenceClassifier"
    before = reduced.get_weights()
    reduced.compile("sgd", "sparse_categorical_crossentropy")
    features = reduced.preprocess(TEXTS)
    labels = np.array([0, 1, 2, 0])
    for name, call in {
        "fit": lambda: reduced.fit(features, labels),
        "train_on_batch": lambda: reduced.train_on_batch(features, labels),
        "save_to_preset": lambda: reduced.save_to_preset(tmp_path / "new"),
        "save": lambda: reduced.save(tmp_path / "new.keras"),
        "save_weights": lambda: reduced.save_weights(tmp_path / "w.weights.h5"),
        "load_weights": lambda: reduced.load_weights(tmp_path / "w.weights.h5"),
        "set_weights": lambda: reduced.set_weights(before),
        "quantize": lambda: reduced.quantize("int8"),
        "get_config": reduced.get_config,
    }.items():
        with pytest.raises(ValueError, match=f"`{name}` is for") as error:
            call()
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=precision):
        serving.reduce_precision(reduced, "int8")
    with pytest.raises(ValueError, match="is not cloned"):
        keras.models.clone_model(reduced)
    for weight, old in zip(reduced.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, old)
    assert not reduced.trainable_weights
    assert not (tmp_path / "new").exists()


def test_faithfulness_of_a_reduced_model(model):
    reduced = serving.reduce_precision(model, "int8")
    records = [(text, model.labels[0]) for text in TEXTS]
    result = faithfulness.measure(reduced, records)
    expected = evaluation.evaluate(reduced, records).accuracy
    assert result.accuracy == expected
    assert np.isfinite(result.losses["gradient x input", 0.5].sufficiency)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_a_reduced_model_is_reduced_to_itself(model, precision):
    reduced = serving.reduce_precision(model, precision)
    again = serving.reduce_precision(reduced.in_float32(), precision)
    for weight, same in zip(
        reduced.get_weights(), again.get_weights(), strict=True
    ):
        np.testing.assert_allclose(same, weight, rtol=1e-6)


@pytest.mark.parametrize(
    "dtype", ["mixed_float16", "mixed_bfloat16", "float16", "float64"]
)
def test_int8_multiplies_in_float32(dtype):
    model = tiny_classifier(characters="adfgo", ngram_buckets=64, dtype=dtype)
    reduced = serving.reduce_precision(model, "int8")
    assert compute_types(reduced) == {"float32"}
    features = model.preprocess(TEXTS)
    np.testing.assert_allclose(reduced(features), model(features), atol=0.02)
    again = serving.reduce_precision(reduced.in_float32(), "int8")
    np.testing.assert_allclose(again(features), reduced(features), atol=1e-6)


def test_only_classifiers_are_reduced(model):
    with pytest.raises(ValueError, match="Received: View"):
        serving.reduce_precision(model.attention_model(), "int8")


def test_int8_says_what_it_skips(model):
    reduced = serving.reduce_precision(model, "int8")
    assert sorted(reduced.quantized + reduced.skipped) == sorted(
        weight.path for weight in model.weights
    )
    assert all("bias" in path for path in reduced.skipped)
    for layer in ("word_vectors", "character_cnn", "conv", "self_attention"):
        assert any(layer in path for path in reduced.quantized), layer


# Of Keras's quantizers, on a NumPy newer than they are.
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_keras_quantize_says_what_it_leaves(tmp_path):
    model = tiny_classifier(characters="adfgo")
    features = model.preprocess(TEXTS)
    before = model(features).numpy()
    with pytest.warns(UserWarning, match="left these layers") as warned:
        model.quantize("int8")
    (message,) = (str(w.message) for w in warned if w.category is UserWarning)
    floats = [w for w in model.weights if w.dtype != "int8"]
    for layer in model.layers:
        has_matrix = any(
            weight.path.startswith(f"{layer.path}/") and is_matrix(weight)
            for weight in floats
        )
        assert (f" {layer.name}" in message) == has_matrix, layer.name
    for name in ("word_vectors", "character_cnn", "structured_self_attention"):
        assert name in message
    for name in ("hidden_1", "probabilities"):
        assert name not in message
    np.testing.assert_allclose(model(features), before, atol=0.05)
    for save in (
        lambda: model.save_to_preset(tmp_path / "new" / "preset"),
        lambda: model.save(tmp_path / "new.keras"),
        lambda: serving.reduce_precision(model, "int8"),
    ):
        with pytest.raises(ValueError, match="quantized model"):
            save()
    assert not (tmp_path / "new").exists()


def test_int8_weights_are_within_half_a_step():
    weight = keras.Variable(np.random.default_rng(0).normal(size=(3, 7, 5)))
    matrix = int8_matrix(weight)
    largest = np.abs(weight.numpy()).max(axis=-2, keepdims=True)
    difference = np.abs(matrix.in_float32().numpy() - weight.numpy())
    assert (difference <= largest / 127 * 0.501).all()
    values, scale = matrix.variables
    assert values.dtype == tf.int8
    # Rounded values are rounded to themselves.
    again, same_scale = quantize(matrix.in_float32(), axis=-2)
    np.testing.assert_array_equal(again, values)
    np.testing.assert_allclose(same_scale, scale, rtol=1e-6)


def test_int8_padding_stays_zero(model):
    reduced = serving.reduce_precision(model, "int8")
    features = model.preprocess(TEXTS)
    padded = {
        name: np.pad(ids, [(0, 0), (0, 3)] + [(0, 0)] * (ids.ndim - 2))
        for name, ids in features.items()
    }
    np.testing.assert_allclose(
        reduced(padded), reduced(features), rtol=0, atol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, precision",
    [
        ("chen2018_snli", "int8"),
        ("lin2017_snli_pruned", "bfloat16"),
        ("parikh2016_snli_intra", "int8"),
        ("parikh2016_snli_intra", "bfloat16"),
    ],
)
def test_pairs(tmp_path, name, precision):
    model = small_classifier(name)
    reduced = serving.reduce_precision(model, precision)
    served = serving.load_savedmodel(serving.export(reduced, tmp_path))
    pairs = [("good food", "the view"), ("", "bad")]
    np.testing.assert_allclose(
        served.predict(pairs)[1], model(model.preprocess(pairs)), atol=0.05
    )


def test_comparison(model):
    reduced = serving.reduce_precision(model, "int8")
    labels = [
        model.labels[i]
        for i in model(model.preprocess(TEXTS)).numpy().argmax(axis=-1)
    ]
    # One of four labels is made wrong.
    wrong = next(label for label in model.labels if label != labels[0])
    records = list(zip(TEXTS, [wrong, *labels[1:]], strict=True))
    comparison = serving.compare(model, reduced, records, batch_size=3)
    assert comparison.rows == 4
    assert comparison.accuracy == 0.75
    difference = np.abs(
        model(model.preprocess(TEXTS)) - reduced(model.preprocess(TEXTS))
    ).max()
    assert comparison.largest_difference == pytest.approx(difference, abs=1e-6)
    with pytest.raises(ValueError, match="nothing to compare"):
        serving.compare(model, reduced, [])
    with pytest.raises(ValueError, match="label of text 2.*Received: 'three'"):
        serving.compare(model, reduced, [records[0], ("good", "three")])


@pytest.mark.parametrize("rows", [100, 300, 2900])
def test_too_much_lost(rows):
    def comparison(right):
        return Comparison(rows, 0.38, right / rows, 0.99, 0.1)

    right = round(0.38 * rows)
    comparison(right - rows // 100).check()
    with pytest.raises(ValueError, match="may cost 1% of accuracy at most"):
        comparison(right - rows // 100 - 1).check()


def test_unknown_precision(model):
    with pytest.raises(ValueError, match="'bfloat16', 'int8'.*'int4'"):
        serving.reduce_precision(model, "int4")


def test_command(model, tmp_path, capsys):
    model.save_to_preset(tmp_path / "model")
    check = tmp_path / "check.jsonl"
    texts = [text for text in TEXTS if text]
    answers = model(model.preprocess(texts)).numpy().argmax(axis=-1)
    rows = [
        {"text": text, "label": model.labels[answer]}
        for text, answer in zip(texts, answers, strict=True)
    ]
    check.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["export", str(tmp_path / "model"), str(tmp_path / "served")]
    more = ["--reduced-precision=int8", f"--check={check}"]
    assert main([*arguments, *more]) == 0
    shown, path = capsys.readouterr().out.splitlines()
    assert "in float32 100.00%" in shown
    assert "of 3 texts" in shown
    assert "int8" in weights_by_type(tmp_path / "served" / "1")
    assert path == str(tmp_path / "served" / "1")
    card = (tmp_path / "served/1/assets.extra/model_card.md").read_text()
    assert shown in card
    assert main([*arguments, "--reduced-precision=int8"]) == 2
    assert "--check" in capsys.readouterr().err

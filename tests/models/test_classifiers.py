"""What every preset's model must do, at small sizes.

What holds for each option of the models is in `tests/conformance/models`.
"""

import json

import keras
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn.text import TextPreprocessor
from tests.models.small import CLASSES
from tests.models.small import inputs_for
from tests.models.small import small_preset


@pytest.fixture(params=models.list_presets(), scope="module")
def model(request):
    keras.utils.set_random_seed(0)
    return small_preset(request.param)


def assert_close(received, expected):
    for x, y in zip(
        keras.tree.flatten(received), keras.tree.flatten(expected), strict=True
    ):
        np.testing.assert_allclose(
            keras.ops.convert_to_numpy(x),
            keras.ops.convert_to_numpy(y),
            rtol=1e-4,
            atol=1e-6,
        )


def test_probabilities(model):
    outputs = model(inputs_for(model))
    assert outputs.shape == (3, CLASSES)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
    sums = keras.ops.convert_to_numpy(outputs).sum(axis=-1)
    np.testing.assert_allclose(sums, 1, rtol=1e-5)


def test_sides_begin_the_names_of_the_inputs(model):
    kinds = {name.removeprefix(model.sides[-1]) for name in model.input}
    kinds &= {"token_ids", "char_ids"}
    assert "token_ids" in kinds
    assert set(model.input) == {s + kind for s in model.sides for kind in kinds}


def test_attention_scores_sum_to_one_over_the_words(model):
    inputs = inputs_for(model)
    scores = keras.tree.flatten(model.attention_model()(inputs))
    axis = 2
    for side, score in enumerate(scores):
        sums = keras.ops.convert_to_numpy(score).sum(axis=axis)
        if isinstance(model, models.DecomposableClassifier):
            name = ("premise_token_ids", "hypothesis_token_ids")[side]
            expected = (inputs[name] != 0).astype("float32")
        else:
            expected = np.ones_like(sums)
        np.testing.assert_allclose(sums, expected, rtol=1e-5)


def test_summary_names_the_parts_of_the_paper():
    lines = []
    small_preset("lin2017_yelp").summary(
        print_fn=lambda text, **kwargs: lines.append(text), line_length=120
    )
    text = "\n".join(lines)
    for name in (
        "word_vectors",
        "bilstm",
        "structured_self_attention",
        "sentence_embedding",
        "hidden_1",
        "probabilities",
    ):
        assert name in text
    assert "word vectors            66" in lines[-1]
    assert "pooling            50" in lines[-1]


def test_preset_folder(tmp_path):
    model = small_preset("chen2018_snli")
    model.labels = ["no", "maybe", "yes"]
    model.training_record = {"seed": 3}
    model.save_to_preset(tmp_path / "saved")
    copy = models.from_preset(tmp_path / "saved")
    assert type(copy) is type(model)
    assert copy.labels == model.labels
    assert copy.training_record == {"seed": 3}
    inputs = inputs_for(model, batch=2, steps=(6, 3))
    assert_close(copy(inputs), model(inputs))
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    assert json.loads((tmp_path / "saved" / "config.json").read_text())


def test_one_training_step(model):
    # Tracing would take most of the time; the conformance tests do.
    model.compile("sgd", "sparse_categorical_crossentropy", run_eagerly=True)
    inputs = inputs_for(model)
    before = [w.numpy() for w in model.trainable_weights]
    assert np.isfinite(model.train_on_batch(inputs, np.array([0, 1, 2])))
    changed = [
        (w.numpy() != old).any()
        for w, old in zip(model.trainable_weights, before, strict=True)
    ]
    for weight, has_changed in zip(
        model.trainable_weights, changed, strict=True
    ):
        # This bias cancels in the softmax over the steps.
        assert has_changed or weight.path.endswith("score_bias"), weight.path
    assert all(np.isfinite(w.numpy()).all() for w in model.weights)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_weights_of_any_float_type_are_trained(dtype):
    # TensorFlow adds up losses and penalties of one type alone.
    keras.utils.set_random_seed(0)
    arguments = {"vocabulary_size": 9, "num_classes": 3, "embedding_dim": 4}
    arguments |= {"encoder": "cnn", "units": 4, "attention_dim": 3}
    arguments |= {"num_heads": 2, "hidden_units": 5, "dropout": 0.0}
    model = models.SentenceClassifier(**arguments, l2=0.5, dtype=dtype)
    model.compile("sgd", "sparse_categorical_crossentropy")
    ids, classes = np.array([[3, 8, 1], [5, 2, 0]]), np.array([0, 2])
    squares = [
        np.square(layer.kernel.numpy().astype("float32")).sum()
        for layer in (model.get_layer("hidden_1"), model.layers[-1])
    ]
    with_l2 = model.test_on_batch({"token_ids": ids}, classes)
    without = models.SentenceClassifier(**arguments, l2=0.0, dtype=dtype)
    without.set_weights(model.get_weights())
    without.compile("sgd", "sparse_categorical_crossentropy")
    loss = without.test_on_batch({"token_ids": ids}, classes)
    np.testing.assert_allclose(with_l2 - loss, 0.5 * sum(squares), rtol=1e-5)
    assert np.isfinite(model.train_on_batch({"token_ids": ids}, classes))


def test_a_preprocessor_does_not_keep_xla_away():
    model = small_preset("lin2017_yelp", lstm_implementation="keras")
    model.preprocessor = TextPreprocessor(["good", "food"])
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=True)
    assert model.jit_compile
    loss = model.train_on_batch(inputs_for(model), np.array([0, 1, 2]))
    assert np.isfinite(loss)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("lin2017_yelp", {"pooling": "sum"}, "pooling='sum'"),
        ("lin2017_yelp", {"encoder": "gru"}, "encoder='gru'"),
        ("lin2017_yelp", {"hidden_units": [0]}, "hidden_units=0"),
        ("lin2017_cnn_max_yelp", {"units": [3]}, r"units=\[3\]"),
        ("lin2017_snli", {"interaction": "sum"}, "interaction='sum'"),
        ("parikh2016_snli", {"aggregate_units": 0}, "aggregate_units=0"),
        ("parikh2016_snli", {"activation": "sigmoid"}, "activation='sigmoid'"),
    ],
)
def test_wrong_arguments(name, change, message):
    with pytest.raises(ValueError, match=message):
        small_preset(name, **change)


def test_a_preset_folder_never_replaces_another_folder(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(ValueError, match="photos"):
        small_preset("lin2017_yelp").save_to_preset(tmp_path / "photos")


def test_a_broken_preset_folder(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match="config.json: malformed JSON"):
        models.from_preset(tmp_path)


def test_a_folder_takes_no_further_arguments(tmp_path):
    small_preset("lin2017_yelp").save_to_preset(tmp_path / "saved")
    with pytest.raises(ValueError, match="no arguments but its name"):
        models.from_preset(tmp_path / "saved", num_classes=3)

"""What every preset's model must do, at small sizes."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.text import TextPreprocessor
from tests.models.small import CLASSES
from tests.models.small import inputs_for
from tests.models.small import small_preset


@pytest.fixture(params=models.list_presets(), scope="module")
def model(request):
    keras.utils.set_random_seed(0)
    return small_preset(request.param)


def padded(inputs, more=3):
    return {
        name: np.pad(ids, [(0, 0), (0, more)] + [(0, 0)] * (ids.ndim - 2))
        for name, ids in inputs.items()
    }


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
    assert outputs.dtype == "float32"
    np.testing.assert_allclose(outputs.numpy().sum(axis=-1), 1, rtol=1e-5)


def test_sides_begin_the_names_of_the_inputs(model):
    kinds = {name.removeprefix(model.sides[-1]) for name in model.input}
    kinds &= {"token_ids", "char_ids"}
    assert "token_ids" in kinds
    assert set(model.input) == {s + kind for s in model.sides for kind in kinds}


def test_padding_changes_nothing(model):
    inputs = inputs_for(model)
    plain = model(inputs)
    losses = [float(loss) for loss in model.losses]
    assert_close(model(padded(inputs)), plain)
    assert_close([float(loss) for loss in model.losses], losses)
    # A row alone, without its padding, is what it is in the batch.
    row = {}
    for name, ids in inputs.items():
        kept = (ids[1].reshape(len(ids[1]), -1) != 0).any(axis=1).sum()
        row[name] = ids[1:2, :kept]
    assert_close(model(row), plain[1:2])


def test_attention_scores_sum_to_one_over_the_words(model):
    inputs = inputs_for(model)
    scores = keras.tree.flatten(model.attention_model()(inputs))
    axis = 2
    for side, score in enumerate(scores):
        sums = score.numpy().sum(axis=axis)
        if isinstance(model, models.DecomposableClassifier):
            name = ("premise_token_ids", "hypothesis_token_ids")[side]
            expected = (inputs[name] != 0).astype("float32")
        else:
            expected = np.ones_like(sums)
        np.testing.assert_allclose(sums, expected, rtol=1e-5)


def test_parameter_counts_add_up(model):
    assert sum(model.parameter_counts().values()) == model.count_params()


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


def test_preset_folder(model, tmp_path):
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


def test_keras_file(model, tmp_path):
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    inputs = inputs_for(model, batch=2, steps=(6, 3))
    assert_close(copy(inputs), model(inputs))


def test_one_training_step(model):
    model.compile("sgd", "sparse_categorical_crossentropy")
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


@pytest.mark.parametrize(
    "name",
    ["lin2017_yelp", "lin2017_snli_pruned", "chen2018_snli", "parikh2016_snli"],
)
def test_xla_gives_the_same(name):
    arguments = {} if name.startswith("parikh") else {"use_cudnn": False}
    model = small_preset(name, **arguments)
    inputs = inputs_for(model)
    compiled = tf.function(model, jit_compile=True)
    tensors = {name: tf.constant(ids) for name, ids in inputs.items()}
    assert_close(compiled(tensors), model(inputs))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize(
    "name", ["lin2017_yelp", "chen2018_snli", "parikh2016_snli_intra"]
)
def test_half_precision(name, policy):
    keras.config.set_dtype_policy(policy)
    try:
        model = small_preset(name)
        inputs = inputs_for(model)
        outputs = model(inputs)
        assert outputs.dtype == "float32"
        model.compile("sgd", "sparse_categorical_crossentropy")
        assert np.isfinite(model.train_on_batch(inputs, np.array([0, 1, 2])))
    finally:
        keras.config.set_dtype_policy("float32")


def test_a_preprocessor_does_not_keep_xla_away():
    model = small_preset("lin2017_yelp", use_cudnn=False)
    model.preprocessor = TextPreprocessor(["good", "food"])
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=True)
    assert model.jit_compile
    loss = model.train_on_batch(inputs_for(model), np.array([0, 1, 2]))
    assert np.isfinite(loss)


def test_logits():
    model = small_preset("lin2017_yelp", activation=None)
    probabilities = small_preset("lin2017_yelp")
    probabilities.set_weights(model.get_weights())
    inputs = inputs_for(model)
    assert_close(tf.nn.softmax(model(inputs)), probabilities(inputs))


def test_both_sentences_of_a_pair_count_in_the_penalty():
    model = small_preset("lin2017_snli")
    inputs = inputs_for(model)
    model(inputs)
    total = float(sum(model.losses))
    scores = model.attention_model()(inputs)
    expected = 0.0
    for matrix in scores:
        overlap = np.einsum("brn,bsn->brs", matrix, matrix) - np.eye(2)
        expected += 0.3 * np.square(overlap).sum(axis=(1, 2)).mean()
    np.testing.assert_allclose(total, expected, rtol=1e-5)


def test_the_parameter_penalty_of_a_pair_counts_once():
    model = small_preset("chen2018_snli", margin=50.0)
    model(inputs_for(model))
    kernel = model.get_layer("generalized_pooling_of_both").layer.hidden_kernel
    first, second = kernel.numpy()
    expected = 1e-2 * (50.0 - np.square(first - second).sum())
    np.testing.assert_allclose(float(sum(model.losses)), expected, rtol=1e-4)


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
    with pytest.raises(ValueError, match="config.json is not the config"):
        models.from_preset(tmp_path)


def test_a_folder_takes_no_further_arguments(tmp_path):
    small_preset("lin2017_yelp").save_to_preset(tmp_path / "saved")
    with pytest.raises(ValueError, match="no arguments but its name"):
        models.from_preset(tmp_path / "saved", num_classes=3)

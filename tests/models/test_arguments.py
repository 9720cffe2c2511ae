"""Arguments of classifiers: refused, ignored by none, and kept."""

import inspect
import json

import keras
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.models import arguments
from keras_selfattn.reproduction.tables import TABLES
from tests.models.small import inputs_for

WORDS = {"vocabulary_size": 11, "num_classes": 2, "embedding_dim": 4}
SIZES = {
    "SentenceClassifier": {**WORDS, "units": 3},
    "SentencePairClassifier": {**WORDS, "units": 3, "interaction_units": 3},
    "DecomposableClassifier": {
        **WORDS,
        "projection_dim": 4,
        "attend_units": [5],
        "compare_units": [6],
        "aggregate_units": [7],
    },
}
OF_ALL = ("name", "dtype", "trainable", "preprocessor", "labels")
SENTENCE = SIZES["SentenceClassifier"]
HEADS = {"attention_dim": 5, "num_heads": 2}
MAX = {**SENTENCE, "pooling": "max", "hidden_units": 3}


def make(class_name="SentenceClassifier", **changes):
    return getattr(models, class_name)(**{**SIZES[class_name], **changes})


@pytest.mark.parametrize("class_name", SIZES)
@pytest.mark.parametrize("name", ["num_head", "droput", "seed", "inputs"])
def test_there_is_no_such_argument(class_name, name):
    with pytest.raises(ValueError) as error:
        make(class_name, **{name: 0.9})
    taken = inspect.signature(getattr(models, class_name)).parameters
    assert str(error.value) == (
        f"{class_name} has no argument {name!r}. It takes: "
        f"{', '.join([*list(taken)[:-1], *OF_ALL])}"
    )


def test_an_argument_of_another_class():
    with pytest.raises(ValueError, match="has no argument 'units'"):
        make("DecomposableClassifier", units=0)
    with pytest.raises(ValueError, match="has no argument 'interaction'"):
        make(interaction="gated")


@pytest.mark.parametrize("given", [(), (9,), (9,) * 40])
def test_too_few_or_too_many(given):
    with pytest.raises(ValueError, match="SentenceClassifier: .*argument"):
        models.SentenceClassifier(*given)


IDLE = [
    ({"pooling": "max"}, {"attention_penalty": 5}),
    ({"pooling": "mean"}, {"num_heads": 3}),
    ({"pooling": "last"}, {"attention_dim": 3}),
    ({"pooling": "max"}, {"embedding_penalty": 0.1}),
    ({"pooling": "structured"}, {"parameter_penalty": 0.1}),
    ({"pooling": "structured"}, {"embedding_penalty": 0.1}),
    ({"pooling": "structured"}, {"margin": 2.0}),
    ({"pooling": "generalized", "attention_penalty": 0}, {"margin": 2.0}),
    ({}, {"kernel_size": 5}),
    ({"encoder": "cnn"}, {"lstm_implementation": "cudnn"}),
    ({"row_units": 2}, {"hidden_units": 5}),
    ({"column_units": 2}, {"hidden_shortcut": True}),
]


@pytest.mark.parametrize(("model", "idle"), IDLE)
def test_what_changes_nothing_is_refused(model, idle):
    (name,) = idle
    message = f"`{name}` changes nothing with .*Received: {name}="
    with pytest.raises(ValueError, match=message):
        make(**model, **idle)


@pytest.mark.parametrize(
    ("class_name", "model", "idle"),
    [
        (
            "SentencePairClassifier",
            {"interaction": "heuristic"},
            {"interaction_units": 5},
        ),
        ("DecomposableClassifier", {}, {"max_distance": 5}),
    ],
)
def test_what_changes_nothing_in_pairs(class_name, model, idle):
    with pytest.raises(ValueError, match=f"`{next(iter(idle))}` changes"):
        make(class_name, **model, **idle)


def test_values_that_ask_for_nothing_go_with_any_model():
    model = models.SentenceClassifier(
        **MAX,
        attention_penalty=0.0,
        parameter_penalty=0,
        hidden_shortcut=False,
        encoder="cnn",
        lstm_implementation="keras",
    )
    assert model.get_config()["attention_penalty"] == 0.0


def test_a_wrong_choice_is_told_before_what_goes_with_it():
    with pytest.raises(ValueError, match="`pooling` must be one of"):
        make(pooling="sum", num_heads=3)
    with pytest.raises(ValueError, match="`encoder` must be one of"):
        make(encoder="gru", kernel_size=3)


@pytest.mark.parametrize("name", models.list_presets())
def test_presets_fill_in_no_more_than_applies(name):
    preset = models.get_preset(name)
    model_class = getattr(models, preset.class_name)
    kept = arguments.applying(model_class, preset.model)
    arguments.check(model_class, {**kept, **WORDS, "name": name})
    assert "pooling" in kept or preset.class_name == "DecomposableClassifier"


def test_overrides_of_a_preset():
    sizes = {"vocabulary_size": 9, "num_classes": 2, "units": 3}
    model = models.from_preset(
        "lin2017_yelp", **sizes, pooling="max", hidden_units=3
    )
    assert "num_heads" not in model.get_config()
    model = models.from_preset(
        "lin2017_yelp", **sizes, **HEADS, row_units=2, pooling="generalized"
    )
    assert "hidden_units" not in model.get_config()
    for overrides in (
        {"pooling": "max", "num_heads": 2},
        {"row_units": 2, "hidden_units": 3},
        {"droput": 0.5},
    ):
        with pytest.raises(ValueError, match=r"changes nothing|no argument"):
            models.from_preset("lin2017_yelp", **sizes, **overrides)
        with pytest.raises(ValueError, match=r"changes nothing|no argument"):
            training.check_model_arguments("lin2017_yelp", overrides)


def test_rows_of_the_papers_tables_give_nothing_idle():
    for table in TABLES.values():
        for row in table.rows:
            for preset in map(models.get_preset, row.presets.values()):
                model_class = getattr(models, preset.class_name)
                values = arguments.applying(
                    model_class,
                    {**preset.model, **row.overrides},
                    given=row.overrides,
                )
                arguments.check(model_class, values)


def test_a_search_may_fix_what_only_some_trials_take():
    pytest.importorskip("keras_tuner")
    from keras_selfattn import tuning

    sizes = {"vocabulary_size": 9, "num_classes": 2, "units": 3}
    search = tuning.SentenceHyperModel(
        "lin2017_yelp",
        **sizes,
        **HEADS,
        hidden_units=3,
        pooling=["max", "structured"],
        papers_space=False,
    )
    hp = search_values(search, pooling="max")
    assert "num_heads" not in search.build(hp).get_config()
    hp = search_values(search, pooling="structured")
    assert search.build(hp).get_config()["num_heads"] == 2
    for idle in ({"num_heads": 2}, {"num_heads": [2, 3]}):
        with pytest.raises(ValueError, match="`num_heads` changes nothing in"):
            tuning.SentenceHyperModel(
                "lin2017_yelp", **sizes, **idle, pooling="max"
            )


def search_values(search, **values):
    import keras_tuner

    hp = keras_tuner.HyperParameters()
    search.settings(hp)
    hp.values.update(values)
    return hp


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, "much"])
@pytest.mark.parametrize(
    ("class_name", "name", "model"),
    [
        ("SentenceClassifier", "dropout", {}),
        ("SentenceClassifier", "encoder_dropout", {}),
        ("SentenceClassifier", "l2", {}),
        ("SentenceClassifier", "attention_penalty", {}),
        ("SentencePairClassifier", "margin", {"pooling": "generalized"}),
        (
            "SentencePairClassifier",
            "parameter_penalty",
            {"pooling": "generalized"},
        ),
        ("DecomposableClassifier", "initializer_stddev", {}),
        ("DecomposableClassifier", "dropout", {}),
    ],
)
def test_numbers_out_of_range(class_name, name, model, value):
    with pytest.raises(ValueError, match=f"`{name}` must be.*{name}="):
        make(class_name, **model, **{name: value})


@pytest.mark.parametrize(
    ("class_name", "name", "value"),
    [
        ("SentenceClassifier", "vocabulary_size", 0),
        ("SentenceClassifier", "num_classes", 2.0),
        ("SentenceClassifier", "embedding_dim", True),
        ("SentenceClassifier", "units", 0),
        ("SentenceClassifier", "num_heads", 0),
        ("SentenceClassifier", "trainable_embeddings", "no"),
        ("SentenceClassifier", "hidden_shortcut", 3),
        # Such a model could be trained, and not be saved.
        ("SentenceClassifier", "hidden_shortcut", np.True_),
        ("DecomposableClassifier", "projection_dim", 0),
        ("DecomposableClassifier", "attend_units", [0]),
        ("DecomposableClassifier", "attend_units", []),
        ("SentencePairClassifier", "interaction_units", 0),
        ("SentenceClassifier", "character_vocabulary_size", 0),
        ("SentenceClassifier", "lstm_implementation", "xla"),
        ("DecomposableClassifier", "exact_match", "yes"),
        ("DecomposableClassifier", "intra_sentence", "yes"),
        ("SentenceClassifier", "dtype", "int8"),
        ("SentenceClassifier", "dtype", "float31"),
        ("SentenceClassifier", "dtype", 16),
        ("SentenceClassifier", "trainable", "no"),
        ("SentenceClassifier", "embeddings_initializer", np.zeros((9, 4))),
        ("SentenceClassifier", "embeddings_initializer", np.zeros),
    ],
)
def test_values_that_cannot_be(class_name, name, value):
    with pytest.raises(ValueError, match=f"^`{name}` must "):
        make(class_name, **{name: value})


def test_a_kernel_size_that_cannot_be():
    with pytest.raises(ValueError, match="`kernel_size` must be"):
        make(encoder="cnn", kernel_size=0)


@pytest.fixture(params=SIZES, scope="module")
def half(request):
    """A frozen model of half precision, with an initializer object."""
    keras.utils.set_random_seed(0)
    return make(
        request.param,
        dtype="mixed_bfloat16",
        trainable=False,
        name="half",
        embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3),
    )


def copies(model, folder):
    text = json.dumps(model.get_config())
    yield type(model).from_config(json.loads(text))
    yield keras.models.clone_model(model)
    model.save_to_preset(folder / "saved")
    yield models.from_preset(folder / "saved")
    model.save(folder / "model.keras")
    yield keras.saving.load_model(folder / "model.keras")


def test_dtype_and_trainable_are_kept_by_every_copy(half, tmp_path):
    assert keras.config.dtype_policy().name == "float32"
    for model in (half, *copies(half, tmp_path)):
        assert type(model) is type(half)
        assert model.name == "half"
        assert model.dtype_policy.name == "mixed_bfloat16"
        *layers, last = [layer for layer in model.layers if layer.weights]
        policies = {layer.dtype_policy.name for layer in layers}
        assert policies == {"mixed_bfloat16"}
        assert last.dtype_policy.name == "float32"
        assert not model.trainable
        assert model.weights
        assert not model.trainable_weights
        assert model.get_config() == half.get_config()
    inputs = inputs_for(half)
    received, expected = (
        keras.ops.convert_to_numpy(each(inputs)) for each in (model, half)
    )
    np.testing.assert_array_equal(received, expected)


def test_a_model_keeps_the_policy_it_was_made_under():
    keras.config.set_dtype_policy("mixed_float16")
    try:
        config = make().get_config()
    finally:
        keras.config.set_dtype_policy("float32")
    assert config["dtype"] == "mixed_float16"
    model = models.SentenceClassifier.from_config(config)
    assert model.dtype_policy.name == "mixed_float16"


def test_word_vectors_that_were_fixed_since():
    model = make()
    model.get_layer("word_vectors").trainable = False
    copy = models.SentenceClassifier.from_config(model.get_config())
    assert not copy.get_layer("word_vectors").trainable
    assert copy.get_layer("bilstm").trainable


def test_one_initializer_gives_each_model_values_of_its_own():
    initializer = keras.initializers.RandomNormal()
    first, second = (
        make(embeddings_initializer=initializer).get_layer("word_vectors")
        for _ in range(2)
    )
    assert not np.allclose(first.embeddings, second.embeddings)
    seeded = keras.initializers.RandomNormal(seed=4)
    first, second = (
        make(embeddings_initializer=seeded).get_layer("word_vectors")
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.embeddings, second.embeddings)


def test_an_initializer_in_the_settings_of_a_training(tmp_path):
    model = training.train(
        "lin2017_bilstm_max_yelp",
        [("good food", "a"), ("bad food", "b")] * 4,
        [("good", "a")],
        tmp_path / "run",
        model_overrides={
            "units": 3,
            "hidden_units": 4,
            "embedding_dim": 5,
            "embeddings_initializer": keras.initializers.RandomNormal(),
            "dtype": keras.DTypePolicy("mixed_bfloat16"),
        },
        training_overrides={"epochs": 1, "batch_size": 8},
        verbose=0,
    )
    config = model.get_config()
    assert config["dtype"] == "mixed_bfloat16"
    assert config["embeddings_initializer"]["class_name"] == "RandomNormal"


def test_configurations_of_before_still_load(tmp_path):
    """They had every argument, and neither `dtype` nor `trainable`."""
    model = models.SentenceClassifier(**MAX)
    model.save_to_preset(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    saved = json.loads(path.read_text())
    for name in ("dtype", "trainable"):
        del saved["config"][name]
    saved["config"].update(
        attention_dim=350,
        num_heads=30,
        attention_penalty=1.0,
        margin=1.0,
        kernel_size=3,
    )
    path.write_text(json.dumps(saved))
    (tmp_path / "model" / "checksums.json").unlink()
    copy = models.from_preset(tmp_path / "model")
    assert copy.get_config() == model.get_config()
    saved["config"]["num_head"] = 3
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="has no argument 'num_head'"):
        models.from_preset(tmp_path / "model")

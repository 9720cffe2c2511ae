"""What a `.keras` file and a clone keep of a classifier."""

import subprocess
import sys
import zipfile

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import models
from keras_selfattn.text import TextPreprocessor
from tests.models.small import inputs_for
from tests.models.small import small_preset
from tests.models.test_classifiers import assert_close

TEXTS = ["Good food!", "n't"]
PAIRS = [("Good food!", "food"), ("n't", "Good")]


def with_texts(name):
    keras.utils.set_random_seed(0)
    preprocessor = TextPreprocessor(
        ["good", "food", "n't", "it's"],
        lowercase=True,
        max_tokens=7,
        prepend_null=name.startswith("parikh"),
        characters="odfgn" if name.startswith("chen") else None,
    )
    model = small_preset(name)
    model.preprocessor = preprocessor
    model.labels = [True, "no", 3]
    model.training_record = {"seed": 3}
    return model


@pytest.fixture(
    params=[
        "lin2017_yelp_pruned",
        "lin2017_cnn_max_yelp",
        "chen2018_snli",
        "parikh2016_snli_intra",
    ],
    scope="module",
)
def model(request):
    return with_texts(request.param)


def texts_for(model):
    return TEXTS if len(model.sides) == 1 else PAIRS


def assert_same(copy, model):
    assert type(copy) is type(model)
    assert copy.labels == model.labels
    assert list(map(type, copy.labels)) == list(map(type, model.labels))
    assert copy.get_config() == model.get_config()
    assert copy.parameter_counts() == model.parameter_counts()
    vocabulary = model.preprocessor.get_vocabulary()
    assert copy.preprocessor.get_vocabulary() == vocabulary
    inputs = model.preprocess(texts_for(model))
    assert_close(copy.preprocess(texts_for(model)), inputs)
    for view in (
        lambda x: x,
        lambda x: x.attention_model(),
        lambda x: x.explanation_model(),
        lambda x: x.embedding_model(),
    ):
        assert_close(view(copy)(inputs), view(model)(inputs))
    assert_close(copy.losses, model.losses)


def test_a_keras_file_keeps_labels_and_preprocessor(model, tmp_path):
    path = tmp_path / "model.keras"
    model.save(path)
    copy = keras.saving.load_model(path, safe_mode=True)
    assert_same(copy, model)
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n.startswith("assets/")]
        assert sorted(names) == [
            "assets/preprocessor.json",
            "assets/preprocessor/vocabulary.txt",
            "assets/training.json",
            "assets/vocabulary.txt",
        ]
        words = archive.read("assets/vocabulary.txt").decode()
    assert words.split() == ["good", "food", "n't", "it's"]
    assert copy.training_record == {"seed": 3}


def test_a_keras_file_with_the_vocabulary_where_keras_has_it(tmp_path):
    model = with_texts("lin2017_cnn_max_yelp")
    model.save(tmp_path / "model.keras")
    with (
        zipfile.ZipFile(tmp_path / "model.keras") as archive,
        zipfile.ZipFile(tmp_path / "older.keras", "w") as older,
    ):
        for name in archive.namelist():
            if name not in ("assets/vocabulary.txt", "assets/training.json"):
                older.writestr(name, archive.read(name))
    copy = keras.saving.load_model(tmp_path / "older.keras")
    assert_same(copy, model)


def test_a_keras_file_without_texts(tmp_path):
    model = small_preset("lin2017_yelp")
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy.labels is None
    assert copy.preprocessor is None


def test_a_keras_file_in_another_process(tmp_path):
    model = with_texts("lin2017_cnn_max_yelp")
    model.save(tmp_path / "model.keras")
    script = (
        "import sys, keras, keras_selfattn\n"
        "model = keras.saving.load_model(sys.argv[1])\n"
        "print(model.labels, model.preprocess(['food'])['token_ids'].shape)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "model.keras"],
        capture_output=True,
        text=True,
    )
    assert run.stdout.startswith("[True, 'no', 3] (1, 1)"), run.stderr


def test_a_preprocessor_that_was_loaded_keeps_no_xla_away(tmp_path):
    model = with_texts("lin2017_cnn_max_yelp")
    model.save(tmp_path / "model.keras")
    model = keras.saving.load_model(tmp_path / "model.keras")
    for each in (model, keras.models.clone_model(model)):
        each.compile("sgd", "sparse_categorical_crossentropy", jit_compile=True)
        assert each.jit_compile
        loss = each.train_on_batch(inputs_for(each), np.array([0, 1, 2]))
        assert np.isfinite(loss)


def test_a_clone_is_a_classifier(model):
    clone = keras.models.clone_model(model)
    assert not {id(w) for w in clone.weights} & {id(w) for w in model.weights}
    clone.set_weights(model.get_weights())
    assert_same(clone, model)
    assert clone.training_record == {"seed": 3}
    # Which is what a classifier can do more than its graph.
    again = keras.models.clone_model(clone)
    again.set_weights(model.get_weights())
    assert_same(again, model)


def test_a_clone_of_the_same_layers_shares_their_weights(model):
    clone = keras.models.clone_model(model, clone_function=lambda layer: layer)
    assert_same(clone, model)
    assert all(
        one is other
        for one, other in zip(clone.weights, model.weights, strict=True)
    )


def test_a_clone_of_other_layers_is_the_graph_it_was_asked_for():
    model = with_texts("lin2017_yelp")

    def tanh(layer):
        config = layer.get_config()
        if config.get("activation") == "relu":
            config["activation"] = "tanh"
        return type(layer).from_config(config)

    class Denser(keras.layers.Dense):
        def call(self, inputs, training=None):
            return 2 * super().call(inputs, training)

    def denser(layer):
        is_dense = type(layer) is keras.layers.Dense
        layer_class = Denser if is_dense else type(layer)
        return layer_class.from_config(layer.get_config())

    def doubled(layer, *arguments, **options):
        outputs = layer(*arguments, **options)
        return outputs * 2 if layer.name == "hidden_1" else outputs

    for clone in (
        keras.models.clone_model(model, clone_function=tanh),
        keras.models.clone_model(model, clone_function=denser),
        keras.models.clone_model(model, call_function=doubled),
    ):
        assert type(clone) is type(keras.Model(model.input, model.output))
        clone.set_weights(model.get_weights())
        inputs = inputs_for(model)
        assert not np.allclose(clone(inputs), model(inputs))


def test_a_clone_of_a_compiled_model_is_compiled():
    model = with_texts("lin2017_cnn_max_yelp")
    model.compile("sgd", "sparse_categorical_crossentropy")
    clone = keras.models.clone_model(model)
    assert np.isfinite(
        clone.train_on_batch(inputs_for(clone), np.array([0, 1, 2]))
    )


def test_a_subclass_is_cloned_as_itself():
    class Named(type(small_preset("lin2017_cnn_max_yelp"))):
        pass

    model = Named.from_config(small_preset("lin2017_cnn_max_yelp").get_config())
    assert type(keras.models.clone_model(model)) is Named


@pytest.mark.parametrize(
    "name, fixed",
    [
        ("lin2017_yelp", lambda model: model.get_layer("bilstm")),
        # The layer of a wrapper.
        pytest.param(
            "chen2018_snli",
            lambda model: model.get_layer("generalized_pooling_of_both").layer,
            marks=pytest.mark.slow,
        ),
        ("parikh2016_snli", lambda model: model.get_layer("probabilities")),
    ],
)
def test_what_is_not_trained_stays_so(name, fixed, tmp_path):
    model = with_texts(name)
    before = len(model.trainable_weights)
    fixed(model).trainable = False
    model.preprocessor = None
    expected = [weight.path for weight in model.trainable_weights]
    assert 0 < len(expected) < before
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(inputs_for(model), np.array([0, 1, 2]), verbose=0)
    model.save(tmp_path / "model.keras")
    model.save_to_preset(tmp_path / "model")
    copies = [
        keras.saving.load_model(tmp_path / "model.keras"),
        type(model)(**model.get_config()),
        models.from_preset(tmp_path / "model"),
        keras.models.clone_model(model),
        keras.models.clone_model(keras.models.clone_model(model)),
    ]
    for copy in copies:
        found = [weight.path for weight in copy.trainable_weights]
        assert len(found) == len(expected)
        assert copy.get_config() == model.get_config()
    # With the optimizer's state, which is that of these weights alone.
    steps = [each.optimizer.iterations for each in (copies[0], model)]
    assert int(steps[0]) == int(steps[1]) == 1
    for one, other in zip(
        copies[0].optimizer.variables, model.optimizer.variables, strict=True
    ):
        np.testing.assert_array_equal(
            ops.convert_to_numpy(one), ops.convert_to_numpy(other)
        )


def test_a_configuration_keeps_the_labels():
    model = with_texts("lin2017_cnn_max_yelp")
    copy = type(model).from_config(model.get_config())
    assert copy.labels == model.labels
    assert copy.preprocessor is None


@pytest.mark.parametrize("name", ["model.h5", "model.hdf5"])
def test_a_file_that_keeps_no_preprocessor(tmp_path, name):
    model = with_texts("lin2017_yelp")
    with pytest.raises(ValueError, match=rf"`\.keras`.*{name}"):
        model.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "model.keras")

import dataclasses

import keras
import keras_tuner
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import tuning
from keras_selfattn import zoo
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.training import values
from tests.data.test_cutting import is_tuned
from tests.tuning.texts import TINY
from tests.tuning.texts import TINY_MODEL
from tests.tuning.texts import rows

WORDS = ["the", "food", "was", "good", "nice", "great", "bad", "poor", "awful"]


def make(**arguments):
    sizes = {"vocabulary_size": 11, "num_classes": 2}
    given = {**sizes, "papers_space": False, **TINY, **arguments}
    return tuning.SentenceHyperModel("lin2017_yelp", **given)


def encode(size):
    return EncodedDataset.from_texts(
        rows(size), TextPreprocessor(WORDS), labels=["bad", "good"]
    )


def built(hypermodel, **values):
    hp = keras_tuner.HyperParameters()
    # What is not among them comes to its default.
    hp.values.update(values)
    return hp, hypermodel.build(hp)


@pytest.mark.parametrize(
    "hypermodel_class, preset, expected",
    [
        (
            tuning.SentenceHyperModel,
            "lin2017_yelp",
            {
                "row_units": "null",
                "column_units": "null",
                "dropout": 0.5,
                "batch_size": 32,
                "pooling": "structured",
                "structured_attention_dim": 350,
                "structured_attention_penalty": 1.0,
                "structured_num_heads": 30,
                "optimizer": "sgd",
                "sgd_learning_rate": 0.06,
            },
        ),
        (
            tuning.SentencePairHyperModel,
            "chen2018_snli",
            {
                "interaction": "heuristic",
                "row_units": "null",
                "column_units": "null",
                "dropout": 0.0,
                "batch_size": 128,
                "pooling": "generalized",
                "generalized_attention_dim": 600,
                "margin": 1.0,
                "parameter_penalty": 0.01,
                "embedding_penalty": 0.0,
                "generalized_attention_penalty": 0.0,
                "generalized_num_heads": 5,
                "optimizer": "adam",
                "adam_learning_rate": 0.0004,
            },
        ),
        (
            tuning.DecomposableHyperModel,
            "parikh2016_snli_intra",
            {
                "projection_dim": 200,
                "intra_sentence": "true",
                "max_distance": 10,
                "dropout": 0.2,
                "batch_size": 4,
                "optimizer": "adagrad",
                "adagrad_learning_rate": 0.025,
            },
        ),
        (
            tuning.SentenceHyperModel,
            zoo.get_recipe("own_texts"),
            {
                "num_heads": 8,
                "encoder_dropout": 0.4,
                "units": 100,
                "learning_rate": 0.002,
            },
        ),
        (
            tuning.DecomposableHyperModel,
            zoo.get_recipe("own_pairs"),
            {"dropout": 0.2, "embedding_dim": 100, "learning_rate": 0.001},
        ),
        (
            # A recipe without a search space has the papers'.
            tuning.DecomposableHyperModel,
            zoo.get_recipe("snli_decomposable"),
            {
                "projection_dim": 200,
                "intra_sentence": "false",
                "dropout": 0.2,
                "batch_size": 64,
                "optimizer": "adam",
                "adam_learning_rate": 0.001,
            },
        ),
    ],
)
def test_default_hyperparameters(hypermodel_class, preset, expected):
    hypermodel = hypermodel_class(preset, 11, 3)
    hp = keras_tuner.HyperParameters()
    settings = hypermodel.settings(hp)
    assert hp.values == expected
    # They are the preset's own values, or the recipe's.
    values = preset
    if isinstance(preset, str):
        values = models.get_preset(preset)
    for name, value in values.model.items():
        assert settings["model"][name] == value, name
    for name, value in values.training.items():
        assert settings["training"][name] == value, name


def test_the_ranges_of_a_recipe():
    recipe = zoo.get_recipe("own_texts_vectors")
    codes = {
        choice.name: choice.codes
        for choice in tuning.SentenceHyperModel(recipe, 11, 5).choices
    }
    assert {n: sorted(v) for n, v in codes.items()} == {
        name: sorted(values) for name, values in recipe.search.items()
    }
    # What is given takes their place, and none is left without an effect.
    hypermodel = tuning.SentenceHyperModel(
        recipe, 11, 5, units=[3, 5], pooling="max", learning_rate=0.01
    )
    codes = {choice.name: choice.codes for choice in hypermodel.choices}
    assert codes == {"encoder_dropout": [0.2, 0.4, 0.6], "units": [3, 5]}
    settings = hypermodel.first_settings()
    assert settings["training"]["learning_rate"] == 0.01
    # Its rates are for its optimizer.
    hypermodel = tuning.SentenceHyperModel(
        recipe, 11, 5, optimizer=["sgd", "adam"]
    )
    hp = keras_tuner.HyperParameters()
    hp.values["optimizer"] = "sgd"
    settings = hypermodel.settings(hp)
    assert "learning_rate" not in hp.values
    assert settings["training"]["learning_rate"] == 0.01
    assert "global_clipnorm" in settings["training"]
    # Nothing but what is given.
    hypermodel = tuning.SentenceHyperModel(
        recipe, 11, 5, units=[3, 5], papers_space=False
    )
    assert [choice.name for choice in hypermodel.choices] == ["units"]


def test_the_papers_own_ranges():
    hypermodel = tuning.SentenceHyperModel("lin2017_age", 11, 5)
    codes = {choice.name: choice.codes for choice in hypermodel.choices}
    assert codes["batch_size"] == [16, 32, 50, 128]
    assert codes["structured_num_heads"] == [1, 5, 10, 20, 30]
    assert codes["generalized_num_heads"] == [1, 3, 5, 7, 9]
    assert codes["parameter_penalty"] == [0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
    assert codes["row_units"] == ["null", "25", "150", "300"]
    assert codes["adagrad_learning_rate"] == [0.01, 0.025, 0.05]
    assert "units" not in codes


def test_a_value_of_the_preset_joins_the_range():
    hypermodel = tuning.DecomposableHyperModel(
        "parikh2016_snli", 11, 3, optimizer="sgd"
    )
    codes = {choice.name: choice.codes for choice in hypermodel.choices}
    # 0.05 is the preset's with Adagrad, not with SGD.
    assert codes["learning_rate"] == [0.02, 0.06, 0.2]
    assert hypermodel.first_values()["learning_rate"] == 0.06


def test_a_list_is_searched_and_anything_else_fixed():
    hypermodel = tuning.SentencePairHyperModel(
        "chen2018_snli",
        11,
        3,
        units=[(8, 9), (5,)],
        hidden_units=(6, 7),
        pooling="max",
        learning_rate=[1e-3, 4e-4],
        dropout=0.25,
    )
    hp = keras_tuner.HyperParameters()
    settings = hypermodel.settings(hp)
    # Of the pooling's arguments none has an effect.
    assert list(hp.values) == [
        "interaction",
        "row_units",
        "column_units",
        "batch_size",
        "optimizer",
        "learning_rate",
        "units",
    ]
    # The preset's own where it is in the list, the first one otherwise.
    assert hp.values["learning_rate"] == 4e-4
    assert settings["model"]["units"] == [8, 9]
    assert settings["model"]["hidden_units"] == [6, 7]
    assert settings["model"]["dropout"] == 0.25


@pytest.mark.parametrize("preset_class", [tuple, list])
@pytest.mark.parametrize("value_class", [tuple, list])
def test_the_preset_s_own_value_among_several_numbers(
    preset_class, value_class
):
    recipe = zoo.Recipe(
        "chen2018_snli", model={"units": preset_class([600, 600, 600])}
    )
    own, other = value_class([600, 600, 600]), value_class([300])
    hypermodel = tuning.SentencePairHyperModel(
        recipe, 11, 3, units=[other, own]
    )
    settings = hypermodel.first_settings()
    assert settings["model"]["units"] == [600, 600, 600]


def test_a_recipe_s_range_of_several_numbers():
    recipe = zoo.Recipe("chen2018_snli", search={"units": [(300,), [600] * 3]})
    hypermodel = tuning.SentencePairHyperModel(recipe, 11, 3)
    (choice,) = hypermodel.choices
    assert choice.codes == ["[300]", "[600, 600, 600]"]
    settings = hypermodel.first_settings()
    assert settings["model"]["units"] == [600, 600, 600]


def test_the_effect_of_a_condition():
    hypermodel = make(pooling=["max", "structured"], num_heads=[2, 3])
    hp, model = built(hypermodel)
    assert hp.values == {"pooling": "structured", "num_heads": 2}
    assert model.get_config()["num_heads"] == 2
    hp, model = built(hypermodel, pooling="max")
    assert hp.values == {"pooling": "max"}
    assert model.get_config()["pooling"] == "max"


def test_another_optimizer_does_without_what_it_does_not_take():
    hypermodel = tuning.DecomposableHyperModel(
        "parikh2016_snli",
        11,
        3,
        embedding_dim=4,
        projection_dim=3,
        attend_units=(2,),
        compare_units=(5,),
        aggregate_units=(6,),
    )
    hp, model = built(hypermodel, optimizer="adam", adam_learning_rate=2e-3)
    assert isinstance(model.optimizer, keras.optimizers.Adam)
    assert float(model.optimizer.learning_rate) == pytest.approx(2e-3)
    hp, model = built(hypermodel)
    assert model.optimizer.get_config()["initial_accumulator_value"] == 0.1


def test_with_another_optimizer_the_rate_is_its_own():
    hypermodel = make(optimizer="adam")
    assert hypermodel.first_settings()["training"]["learning_rate"] == 0.001
    # In the papers' space it is still searched.
    hypermodel = make(optimizer="adam", papers_space=True)
    codes = {choice.name: choice.codes for choice in hypermodel.choices}
    assert codes["learning_rate"] == [4e-4, 1e-3, 2e-3]


def test_training_values_that_the_preset_does_not_name():
    preset = models.get_preset("lin2017_yelp")
    overrides = {
        "optimizer": "adam",
        "beta_1": 0.8,
        "global_clipnorm": 2.0,
        "num_oov_indices": 3,
        "prepend_null": True,
        "steps_per_execution": 2,
        "ema_momentum": 0.9,
    }
    hypermodel = make(**overrides)
    settings = hypermodel.first_settings()
    assert settings["training"] == training.training_values(preset, overrides)
    assert "beta_1" not in settings["model"]
    _, model = built(hypermodel)
    assert model.optimizer.beta_1 == 0.8


def test_an_argument_of_an_optimizer_is_searched_where_it_has_an_effect():
    hypermodel = make(
        optimizer=["sgd", "adam"],
        beta_1=[0.8, 0.9],
        weight_decay=[0.1, None],
        epsilon=1e-3,
    )
    hp, model = built(hypermodel)
    assert hp.values == {"optimizer": "sgd", "weight_decay": "null"}
    hp, model = built(hypermodel, optimizer="adam")
    # Keras's own, where it is among the values.
    assert hp.values["beta_1"] == 0.9
    assert model.optimizer.epsilon == 1e-3
    hp, model = built(hypermodel, optimizer="adam", beta_1=0.8)
    assert model.optimizer.beta_1 == 0.8


def test_vectors_are_in_the_model():
    matrix = np.arange(66, dtype="float32").reshape(11, 6)
    has_vector = np.arange(11) > 1
    _, model = built(make(vectors=(matrix, has_vector)))
    table = model.get_layer("word_vectors").embeddings
    np.testing.assert_array_equal(array(table)[2:], matrix[2:])


def test_the_same_seed_gives_the_same_model():
    weights = [
        np.concatenate(
            [w.ravel() for w in built(make(seed=s))[1].get_weights()]
        )
        for s in (3, 3, 4)
    ]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


class Batches(keras.callbacks.Callback):
    """Counts the batches of an epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count = batch + 1


def arrays(size):
    (batch,) = encode(size).batches(size)
    return batch


@pytest.fixture
def datasets(monkeypatch):
    """The datasets that Keras's `fit` gets for training and for dev."""
    received, fit = [], keras.Model.fit

    def kept(model, x, *args, validation_data=None, **arguments):
        received.extend([x, validation_data])
        arguments["validation_data"] = validation_data
        return fit(model, x, *args, **arguments)

    monkeypatch.setattr(keras.Model, "fit", kept)
    return received


@pytest.mark.parametrize("kind", ["encoded", "batched", "arrays"])
def test_the_batch_size_of_the_trial_counts(kind, datasets):
    hypermodel = make(batch_size=[4, 6], steps_per_execution=1)
    hp, model = built(hypermodel, batch_size=6)
    if kind == "encoded":
        data, dev = (encode(14),), encode(5)
    elif kind == "batched":
        data = (encode(14).batches(3),)
        dev = encode(5).batches(2)
    else:
        data, dev = arrays(14), arrays(5)
    counted = Batches()
    history = hypermodel.fit(
        hp,
        model,
        *data,
        validation_data=dev,
        epochs=1,
        callbacks=[counted],
        verbose=0,
    )
    assert counted.count == 3
    assert "val_accuracy" in history.history
    if kind != "arrays":
        assert not any(map(is_tuned, datasets))


KINDS = ["encoded", "batched", "arrays", "texts", "dataset of texts"]


def given_as(kind, size):
    """A hypermodel's arguments that make it read texts, and texts for it."""
    if kind == "encoded":
        return {}, (encode(size),)
    if kind == "batched":
        return {}, (encode(size).batches(3),)
    if kind == "arrays":
        return {}, arrays(size)
    reading = {
        "vocabulary_size": None,
        "num_classes": None,
        "preprocessor": TextPreprocessor(WORDS),
        "labels": ["bad", "good"],
    }
    columns = tuple(map(list, zip(*rows(size), strict=True)))
    if kind == "texts":
        return reading, columns
    return reading, (tf.data.Dataset.from_tensor_slices(columns).batch(3),)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_doubles_its_batch_as_training_does(kind, monkeypatch):
    monkeypatch.setattr(values, "_LONG_EPOCH", 3)
    reading, data = given_as(kind, 8)
    hypermodel = make(
        batch_size=2, max_batch_size=8, steps_per_execution=1, **reading
    )
    hp, model = built(hypermodel)
    counted = Batches()
    hypermodel.fit(hp, model, *data, epochs=1, callbacks=[counted], verbose=0)
    assert counted.count == 2


def test_rows_are_shuffled_anew_each_epoch_and_alike_each_time():
    hypermodel = make()

    class Orders(EncodedDataset):
        def batches(self, *args, **kwargs):
            dataset = super().batches(*args, **kwargs)
            self.plan = dataset.plan
            return dataset

    data = encode(9)
    data.__class__ = Orders
    hp, model = built(hypermodel)
    fit = {"validation_data": encode(4), "verbose": 0}
    hypermodel.fit(hp, model, data, epochs=3, initial_epoch=2, **fit)
    # The third epoch was the last one, also where it was the only one.
    assert data.plan.epoch == 3


def trained_epochs(hypermodel, epochs, **values):
    """The values of a trial, and in how many of the epochs it is trained."""
    hp, model = built(hypermodel, **values)
    history = hypermodel.fit(
        hp,
        model,
        encode(8),
        validation_data=encode(4),
        verbose=0,
        epochs=epochs,
    )
    return hp, len(history.epoch)


@pytest.mark.slow
def test_a_trial_stops_early_but_for_the_first_one():
    hypermodel = make(learning_rate=[1e-9, 2e-9])
    assert trained_epochs(hypermodel, 6)[1] == 6
    assert trained_epochs(hypermodel, 6, learning_rate=2e-9)[1] == 4


def test_a_patience_that_is_given_holds_for_the_first_trial_too():
    hypermodel = make(learning_rate=[1e-9, 2e-9], patience=1)
    assert hypermodel.first_settings()["training"]["patience"] == 1
    for rate in (1e-9, 2e-9):
        assert trained_epochs(hypermodel, 4, learning_rate=rate)[1] == 2


@pytest.mark.parametrize("characters, size", [("abcdef", 8), (None, None)])
def test_a_recipe_has_the_characters_of_the_preprocessor(characters, size):
    hypermodel = tuning.SentenceHyperModel(
        zoo.get_recipe("own_texts"),
        preprocessor=TextPreprocessor(WORDS, characters=characters),
        labels=["bad", "good"],
        ngram_buckets=16,
        **TINY,
    )
    _, model = built(hypermodel)
    assert model.get_config()["character_vocabulary_size"] == size


@pytest.mark.parametrize(
    "given, patience, epochs",
    [({}, 2, 3), ({"patience": 1}, 1, 2), ({"patience": None}, None, 5)],
)
def test_a_trial_stops_where_the_recipe_says(given, patience, epochs):
    recipe = zoo.Recipe(
        "lin2017_yelp",
        model=TINY_MODEL,
        training={"optimizer": "adam", "patience": 2},
        search={"learning_rate": [1e-9, 2e-9]},
    )
    hypermodel = tuning.SentenceHyperModel(recipe, 11, 2, **given)
    for rate in (1e-9, 2e-9):
        hp, trained = trained_epochs(hypermodel, 5, learning_rate=rate)
        assert trained == epochs
        # So that training with a trial's values ends there too.
        values = hypermodel.settings(hp)["training"]
        assert values["patience"] == patience
    assert recipe.training["patience"] == 2


def test_nan_fails_the_trial():
    hypermodel = make()
    hp, model = built(hypermodel)
    model.get_layer("word_vectors").embeddings.assign(np.full((11, 6), np.nan))
    with pytest.raises(keras_tuner.errors.FailedTrialError, match="NaN"):
        hypermodel.fit(
            hp, model, encode(8), validation_data=encode(4), verbose=0
        )


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        tf.errors.ResourceExhaustedError(None, None, ""),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_a_lack_of_memory_fails_the_trial(error):
    class Greedy(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            raise error

    hypermodel = make()
    hp, model = built(hypermodel)
    with pytest.raises(
        keras_tuner.errors.FailedTrialError, match="out of memory"
    ):
        hypermodel.fit(
            hp, model, encode(8), callbacks=[Greedy()], epochs=1, verbose=0
        )


def test_averaged_weights_are_those_that_are_evaluated_and_kept():
    hypermodel = make(ema_momentum=0.9, learning_rate=0.1, batch_size=2)

    class Kept(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.last = self.model.get_weights()

        def on_epoch_end(self, epoch, logs=None):
            self.kept = self.model.get_weights()

    seen = Kept()
    hp, model = built(hypermodel)
    hypermodel.fit(
        hp,
        model,
        encode(8),
        validation_data=encode(4),
        callbacks=[seen],
        epochs=1,
        verbose=0,
    )
    # Keras leaves the averages in the model once it is done.
    averages = model.get_weights()
    for kept, last, average in zip(seen.kept, seen.last, averages, strict=True):
        np.testing.assert_array_equal(kept, average)
        assert not np.array_equal(kept, last)


@pytest.mark.parametrize("kind", KINDS)
def test_averages_reach_over_epochs_in_a_trial(kind):
    reading, data = given_as(kind, 8)
    hypermodel = make(ema_epochs=3, batch_size=2, **reading)
    hp, model = built(hypermodel)
    hypermodel.fit(hp, model, *data, epochs=1, verbose=0)
    assert model.optimizer.use_ema
    assert model.optimizer.ema_momentum == 11 / 12


@pytest.mark.parametrize("kind", ["arrays", "texts"])
def test_averages_reach_over_the_rows_that_are_trained_on(kind):
    reading, data = given_as(kind, 8)
    hypermodel = make(ema_epochs=3, batch_size=2, **reading)
    hp, model = built(hypermodel)
    more = {"validation_split": 0.5, "epochs": 1, "verbose": 0}
    hypermodel.fit(hp, model, *data, **more)
    assert model.optimizer.ema_momentum == 5 / 6


def test_rows_of_soft_labels_are_counted():
    hypermodel = make(batch_size=2, ema_epochs=3)
    hp, model = built(hypermodel)
    model.compile(model.optimizer, "categorical_crossentropy")
    data = encode(8).batches(4).map(lambda x, y: (x, tf.one_hot(y, 2)))
    hypermodel.fit(hp, model, data, epochs=1, verbose=0)
    assert model.optimizer.ema_momentum == 11 / 12


class OwnBatches(keras.utils.PyDataset):
    def __init__(self, batches):
        super().__init__()
        self.batches = list(batches)

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        return self.batches[index]


def as_loader(batches):
    loading = pytest.importorskip("torch.utils.data")
    return loading.DataLoader(OwnBatches(batches), batch_size=None)


def generated(batches):
    return (batch for batch in batches)


@pytest.mark.parametrize("as_data", [OwnBatches, generated, as_loader])
def test_data_of_batches_of_its_own(as_data):
    batches = [
        ({"token_ids": array(x["token_ids"])}, array(y))
        for x, y in encode(6).batches(2)
    ]
    hypermodel = make(max_batch_size=8, steps_per_execution=1)
    hp, model = built(hypermodel)
    counted = Batches()
    hypermodel.fit(
        hp,
        model,
        as_data(batches),
        validation_data=arrays(4),
        callbacks=[counted],
        epochs=1,
        steps_per_epoch=3,
        shuffle=False,
        verbose=0,
    )
    assert counted.count == 3
    hypermodel = make(ema_epochs=3)
    hp, model = built(hypermodel)
    with pytest.raises(ValueError, match="`ema_epochs`.*of type "):
        hypermodel.fit(hp, model, as_data(batches), verbose=0)


@pytest.mark.parametrize("kind", ["arrays", "texts"])
def test_data_without_labels(kind):
    reading, data = given_as(kind, 8)
    hypermodel = make(**reading)
    hp, model = built(hypermodel)
    with pytest.raises(ValueError, match="`y`.*Received: y=None"):
        hypermodel.fit(hp, model, data[0])


def test_the_batch_size_is_no_argument_of_the_search():
    hypermodel = make(batch_size=4)
    hp, model = built(hypermodel)
    with pytest.raises(ValueError, match="the hypermodel.*batch_size=64"):
        hypermodel.fit(hp, model, *arrays(8), batch_size=64)


def test_a_recipe_that_needs_vectors_has_them():
    recipe = zoo.get_recipe("own_texts_vectors")
    learning = dataclasses.replace(recipe, training={"learn_vectors": 5})
    for asked, message in ((recipe, "pretrained"), (learning, "texts")):
        hypermodel = tuning.SentenceHyperModel(
            asked,
            preprocessor=TextPreprocessor(WORDS),
            labels=["bad", "good"],
        )
        with pytest.raises(ValueError, match=f"{message}.*vectors=None"):
            built(hypermodel)


def test_the_learning_rate_falls_in_a_trial():
    hypermodel = make(decay_epochs=2, learning_rate=0.1)
    hp, model = built(hypermodel)
    history = hypermodel.fit(
        hp, model, encode(8), validation_data=encode(4), epochs=2, verbose=0
    )
    assert history.history["learning_rate"] == pytest.approx([0.1, 0.05])


def test_wrong_arguments():
    with pytest.raises(ValueError, match="preset of Decomposable.*lin2017"):
        tuning.DecomposableHyperModel("lin2017_yelp", 11, 2)
    with pytest.raises(ValueError, match="'heads'.*num_heads"):
        make(heads=[1, 2])
    with pytest.raises(ValueError, match="'max_tokens' is the same in all"):
        make(max_tokens=[10, 20])
    with pytest.raises(ValueError, match="'min_count' is the same in all"):
        make(min_count=[1, 2])
    with pytest.raises(ValueError, match="'patience' is the same in all"):
        make(patience=[1, 2])
    with pytest.raises(ValueError, match="patience=0"):
        make(patience=0)
    with pytest.raises(ValueError, match="one of 'sgd', 'adam'.*'lion'"):
        make(optimizer=["adam", "lion"])
    with pytest.raises(ValueError, match="batch_size=0"):
        make(batch_size=0)
    with pytest.raises(ValueError, match="batch_size=0"):
        make(batch_size=[4, 0])
    with pytest.raises(ValueError, match="optimizer adam.*'momentum'"):
        make(momentum=[0.5, 0.9])
    with pytest.raises(ValueError, match="beta_1='x'"):
        make(optimizer=["sgd", "adam"], beta_1=[0.9, "x"])
    with pytest.raises(ValueError, match="at least one value of 'units'"):
        make(units=[])
    with pytest.raises(ValueError, match="neither a preset"):
        tuning.SentenceHyperModel("lin2018", 11, 2)


def test_classes_of_the_same_share(monkeypatch):
    weights = []
    fit = keras.Model.fit

    def kept(*arguments, class_weight=None, **options):
        weights.append(class_weight)
        return fit(*arguments, class_weight=class_weight, **options)

    monkeypatch.setattr(keras.Model, "fit", kept)
    data = encode(12)
    for value in ("balanced", None):
        hypermodel = make(units=[4, 8], class_weight=value)
        hp, model = built(hypermodel)
        dev = {"validation_data": data, "epochs": 1, "verbose": 0}
        hypermodel.fit(hp, model, data, **dev)
    shares = np.bincount(data.labels) * list(weights[0].values())
    np.testing.assert_allclose(shares, len(data) / 2)
    assert weights[1] is None
    hypermodel = make(units=[4, 8], class_weight="balanced")
    hp, model = built(hypermodel)
    # Of another kind it would fail one trial after the other.
    with pytest.raises(
        keras_tuner.errors.FatalValueError,
        match="`class_weight`.*EncodedDataset",
    ):
        hypermodel.fit(hp, model, *arrays(4))


def test_trials_are_measured_by_accuracy():
    with pytest.raises(ValueError, match="`monitor` must be accuracy"):
        make(units=[4, 8], monitor="loss")


def test_trials_have_no_teachers():
    with pytest.raises(ValueError, match="`student_loss_weight`.*teachers"):
        make(units=[4, 8], student_loss_weight=0.5)

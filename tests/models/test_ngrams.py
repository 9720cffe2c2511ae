"""Wide and deep: n-grams beside the attention."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.models.restarting import restarted
from keras_selfattn.tuning import SentenceHyperModel
from tests.models.small import small_preset
from tests.tiny_classifier import tiny_classifier
from tests.training.small import SMALL
from tests.training.small import reviews
from tests.visualization.examples import decomposable

TEXTS = ["Good food.", "Bad.", "Bad food.", "n't good"]
LABELS = ["1", "two", "two", "1"]
PAIRS = [("A man .", "A dog ."), ("A dog", "dog"), ("man", "A man plays .")]
RELATIONS = ["neutral", "entailment", "neutral"]


def table_of(model):
    return ops.convert_to_numpy(model.get_layer("ngram_logits").table)


def linear(model, texts, labels):
    """The table that the linear model of texts fills."""
    layer = model.get_layer("ngram_logits")
    fresh = type(layer).from_config(layer.get_config())
    inputs = [ops.convert_to_numpy(x) for x in model.preprocess(texts).values()]
    shapes = [each.shape for each in inputs]
    single = len(inputs) == 1
    fresh.build(shapes[0] if single else shapes)
    numbers = np.array([model.labels.index(str(each)) for each in labels])
    fresh.adapt([(inputs[0] if single else inputs, numbers)])
    return ops.convert_to_numpy(fresh.table)


def fit(model, texts=TEXTS, labels=LABELS, verbose=0):
    model.compile(keras.optimizers.SGD(0.0), "sparse_categorical_crossentropy")
    model.fit(texts, labels, verbose=verbose)


@pytest.mark.parametrize("characters", [None, "adfgo"])
def test_fit_begins_with_the_linear_model(characters):
    model = tiny_classifier(ngram_buckets=64, characters=characters)
    assert not table_of(model).any()
    fit(model)
    expected = linear(model, TEXTS, LABELS)
    np.testing.assert_allclose(table_of(model), expected, rtol=1e-6)
    assert expected.any()


def test_what_weighs_nothing_teaches_nothing():
    model = tiny_classifier(ngram_buckets=64)
    expected = linear(model, TEXTS, LABELS)
    model.compile(keras.optimizers.SGD(0.0), "sparse_categorical_crossentropy")
    more = [f"{TEXTS[0]} {TEXTS[-1]}"] * 10
    weights = np.repeat([0.5, 0.0], [len(TEXTS), len(more)])
    labels = [*LABELS, *LABELS[-1:] * 10]
    model.fit([*TEXTS, *more], labels, sample_weight=weights, verbose=0)
    np.testing.assert_allclose(table_of(model), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "make, texts", [(tiny_classifier, TEXTS), (decomposable, PAIRS)]
)
def test_one_output_has_no_linear_model_to_begin_with(make, texts, capsys):
    config = make(ngram_buckets=64).get_config()
    labels = dict.fromkeys(("labels",))
    one = {"num_classes": 1, "activation": None}
    model = type(make()).from_config({**config, **labels, **one})
    model.preprocessor = make().preprocessor
    model.compile(keras.optimizers.SGD(0.0), "mse")
    values = [0.0, 1.0, 0.5, 1.0][: len(texts)]
    model.fit(texts, values, verbose=2)
    assert not table_of(model).any()
    assert "linear model" not in capsys.readouterr().out


def test_fit_of_pairs_begins_with_the_linear_model():
    model = decomposable(ngram_buckets=64, ambiguity_penalty=0.5)
    fit(model, PAIRS, RELATIONS)
    expected = linear(model, PAIRS, RELATIONS)
    np.testing.assert_allclose(table_of(model), expected, rtol=1e-6)
    assert expected.any()


@pytest.mark.parametrize(
    ("make", "texts", "labels", "said"),
    [
        (tiny_classifier, TEXTS, LABELS, "4 texts"),
        (decomposable, PAIRS, RELATIONS, "3 pairs"),
    ],
)
def test_the_first_fit_says_what_it_begins_with(
    make, texts, labels, said, capsys
):
    line = f"The n-grams begin as a linear model of {said}\n"
    model = make(ngram_buckets=64)
    fit(model, texts, labels, verbose=2)
    assert line in capsys.readouterr().out
    fit(model, texts, labels, verbose=2)
    assert "n-grams" not in capsys.readouterr().out
    fit(make(ngram_buckets=64), texts, labels)
    assert not capsys.readouterr().out


def test_a_table_that_was_trained_stays():
    model = tiny_classifier(ngram_buckets=64)
    model.get_layer("ngram_logits").table.assign(np.ones((64, 3)))
    fit(model)
    assert (table_of(model) == 1).all()


def test_a_run_begins_with_the_linear_model(tmp_path, capsys):
    rows = reviews(96, 1)
    values = {"optimizer": "sgd", "learning_rate": 1e-12, "epochs": 1}
    model = training.train(
        "lin2017_yelp",
        rows,
        reviews(40, 2),
        tmp_path / "run",
        model_overrides={**SMALL, "ngram_buckets": 4096},
        training_overrides=values,
        verbose=2,
    )
    line = "The n-grams begin as a linear model of 96 texts\n"
    assert line in capsys.readouterr().out
    texts, labels = zip(*rows, strict=True)
    expected = linear(model, list(texts), labels)
    np.testing.assert_allclose(table_of(model), expected, atol=1e-6)
    assert expected.any()


def test_trials_begin_with_the_linear_model():
    from keras_selfattn.data.batches import EncodedDataset

    origin = tiny_classifier(ngram_buckets=64)
    data = EncodedDataset.from_texts(
        zip(TEXTS, LABELS, strict=True),
        origin.preprocessor,
        labels=origin.labels,
    )
    hypermodel = SentenceHyperModel(
        "lin2017_yelp",
        preprocessor=origin.preprocessor,
        labels=origin.labels,
        papers_space=False,
        optimizer="sgd",
        learning_rate=1e-12,
        epochs=1,
        **SMALL,
        ngram_buckets=64,
    )
    import keras_tuner

    hp = keras_tuner.HyperParameters()
    model = hypermodel.build(hp)
    model.preprocessor, model.labels = origin.preprocessor, origin.labels
    hypermodel.fit(hp, model, data, verbose=0)
    expected = linear(model, TEXTS, LABELS)
    np.testing.assert_allclose(table_of(model), expected, atol=1e-6)


def test_shares_are_those_of_the_logits():
    model = tiny_classifier(ngram_buckets=64, activation=None)
    features = model.preprocess(TEXTS)
    before = ops.convert_to_numpy(model(features))
    layer = model.get_layer("ngram_logits")
    layer.table.assign(np.random.default_rng(0).normal(size=(64, 3)))
    shares = ops.convert_to_numpy(model.ngram_model()(features))
    after = ops.convert_to_numpy(model(features))
    np.testing.assert_allclose(
        after, before + shares.sum(axis=(1, 2)), rtol=1e-5, atol=1e-6
    )


def test_other_labels_have_a_table_of_their_own():
    model = tiny_classifier(ngram_buckets=64)
    fit(model)
    assert not table_of(restarted(model, ["no", "yes"])).any()
    np.testing.assert_array_equal(
        table_of(restarted(model, model.labels)), table_of(model)
    )


def test_characters_may_be_for_ngrams_alone():
    model = tiny_classifier(
        ngram_buckets=64, characters="adfgo", character_cnn=False
    )
    names = [layer.name for layer in model.layers]
    assert "character_cnn" not in names
    assert set(model.input) == {"token_ids", "char_ids"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ngram_buckets": 0}, "ngram_buckets=0"),
        ({"character_cnn": False}, "changes nothing.*ngram_buckets=None"),
        (
            {"character_cnn": False, "ngram_buckets": 9},
            "without `character_vocabulary_size`",
        ),
        ({"character_cnn": 1.5, "ngram_buckets": 9}, "character_cnn=1.5"),
        ({"ambiguity_penalty": 0.5}, "changes nothing.*ngram_buckets=None"),
        (
            {"ambiguity_penalty": -1, "ngram_buckets": 9},
            "0 or more.*ambiguity_penalty=-1",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        small_preset("lin2017_yelp", **arguments)


def test_sentences_that_are_read_by_themselves_have_none():
    with pytest.raises(ValueError, match="no argument 'ngram_buckets'"):
        small_preset("lin2017_snli", ngram_buckets=9)


def test_a_model_without_has_no_ngram_model():
    with pytest.raises(ValueError, match="has no n-grams"):
        tiny_classifier().ngram_model()


def test_saved_models_keep_the_table(tmp_path):
    model = tiny_classifier(ngram_buckets=64)
    fit(model)
    model.save_to_preset(tmp_path / "model")
    loaded = models.from_preset(tmp_path / "model")
    np.testing.assert_array_equal(table_of(loaded), table_of(model))
    np.testing.assert_allclose(
        loaded.predict(TEXTS, verbose=0),
        model.predict(TEXTS, verbose=0),
        rtol=1e-6,
    )

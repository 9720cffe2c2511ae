"""Keras's methods with raw texts, beside the same with ids."""

import inspect
import itertools
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.models import raw_texts
from keras_selfattn.text import TextPreprocessor
from tests.backend import tensorflow_only
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food .", "bad", "", "n't good , n't bad food", "Food ."] * 4
LABELS = (["two", "1", "gütig", "1", "two"] * 4)[: len(TEXTS)]
NUMBERS = np.array([["1", "two", "gütig"].index(label) for label in LABELS])
PAIRS = [(text, text[:4]) for text in TEXTS]


def compiled(model, metrics=("accuracy",), **arguments):
    loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=model.gives_logits
    )
    model.compile("sgd", loss, metrics=list(metrics), **arguments)
    return model


def decomposable(**changes):
    keras.utils.set_random_seed(1)
    preprocessor = TextPreprocessor(["good", "bad", "food", "."])
    arguments = {
        "preprocessor": preprocessor,
        "labels": ["no", "yes"],
        "embedding_dim": 4,
        "projection_dim": 3,
        "attend_units": [5],
        "compare_units": [6],
        "aggregate_units": [7],
        "dropout": 0.0,
    }
    return models.DecomposableClassifier(**{**arguments, **changes})


@pytest.fixture(scope="module")
def model():
    return compiled(tiny_classifier(dropout=0.0))


@pytest.fixture(scope="module")
def pair_model():
    return compiled(decomposable())


def by_ids(model, texts):
    ids = model.preprocess(texts)
    return keras.ops.convert_to_numpy(model(ids))


def slices(*data):
    return tf.data.Dataset.from_tensor_slices(
        data if len(data) > 1 else data[0]
    )


@pytest.mark.parametrize("batch_size", [None, 3, np.int64(3)])
@pytest.mark.parametrize(
    "make",
    [list, np.array, lambda texts: slices(texts).batch(7), slices],
)
def test_predict(model, make, batch_size):
    found = model.predict(make(TEXTS), batch_size=batch_size, verbose=0)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, by_ids(model, TEXTS), atol=1e-6)


def test_predict_pairs(pair_model):
    expected = by_ids(pair_model, PAIRS)
    columns = tuple(map(list, zip(*PAIRS, strict=True)))
    named = dict(zip(("premise", "hypothesis"), columns, strict=True))
    for data in (PAIRS, np.array(PAIRS), columns, named, slices(named)):
        found = pair_model.predict(data, verbose=0)
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("of_pairs", [False, True])
def test_one_batch_takes_no_files(model, pair_model, of_pairs, monkeypatch):
    model, texts = (pair_model, PAIRS) if of_pairs else (model, TEXTS)
    expected = [
        ask(texts, batch_size=3, verbose=0)
        for ask in (model.predict, model.encode)
    ]

    def fail(*arguments, **options):
        raise AssertionError("texts became ids on disk")

    labels = ["no", "yes"] * 10 if of_pairs else LABELS
    given = {"sample_weight": np.arange(20), "return_dict": True}
    figures = model.evaluate(texts, labels, 3, verbose=0, **given)
    monkeypatch.setattr(raw_texts, "encode", fail)
    found = model.evaluate(texts, labels, verbose=0, **given)
    assert found == pytest.approx(figures, rel=1e-5)
    for data in (texts, np.array(texts)):
        for size in (None, len(texts)):
            found = model.predict(data, batch_size=size, verbose=0)
            np.testing.assert_allclose(found, expected[0], atol=1e-6)
            found = model.encode(data, batch_size=size, verbose=0)
            np.testing.assert_allclose(found, expected[1], atol=1e-6)
    for ask in (model.predict, model.encode):
        with pytest.raises(AssertionError, match="on disk"):
            ask(texts, batch_size=len(texts) - 1, verbose=0)
        with pytest.raises(AssertionError, match="on disk"):
            ask(texts * 2, verbose=0)
    for ask, more in ((model.predict, []), (model.evaluate, [labels])):
        with pytest.raises(AssertionError, match="on disk"):
            ask(texts, *more, steps=1, verbose=0)


@pytest.mark.parametrize("method", ["predict", "predict_on_batch"])
def test_one_batch_has_one_of_a_few_widths(model, method, monkeypatch):
    # Each is compiled on JAX and, but for `predict_on_batch`, by `jit_compile`.
    widths = []

    def noting(self, x, **options):
        widths.append(x["token_ids"].shape[1])
        return np.zeros((1, 3))

    monkeypatch.setattr(keras.Model, method, noting)
    counts = [1, 7, 8, 9, 20, 600]
    for count in counts:
        getattr(model, method)(["good " * count])
    is_exact = method != "predict" and keras.backend.backend() != "jax"
    assert widths == (counts if is_exact else [8, 8, 8, 16, 24, 768])


def test_predict_on_batch_and_steps(model):
    expected = by_ids(model, TEXTS)
    found = model.predict_on_batch(np.array(TEXTS))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    found = model.predict(TEXTS, batch_size=2, steps=3, verbose=0)
    np.testing.assert_allclose(found, expected[:6], atol=1e-6)


def test_a_step_is_that_of_ids():
    expected = compiled(tiny_classifier(dropout=0.0))
    found = compiled(tiny_classifier(dropout=0.0))
    ids = expected.preprocess(TEXTS)
    weights = np.linspace(0.5, 2, len(TEXTS))
    more = {"sample_weight": weights, "return_dict": True}
    for method in ("train_on_batch", "test_on_batch", "train_on_batch"):
        before = getattr(expected, method)(ids, NUMBERS, **more)
        after = getattr(found, method)(TEXTS, LABELS, **more)
        assert set(after) == set(before) == {"loss", "accuracy"}
        for name, figure in before.items():
            np.testing.assert_allclose(after[name], figure, rtol=1e-5)
    heavier = weights * np.array([1.0, 3.0, 1.0])[NUMBERS]
    before = expected.train_on_batch(ids, NUMBERS, heavier)
    after = found.train_on_batch(np.array(TEXTS), LABELS, weights, {"two": 3.0})
    np.testing.assert_allclose(after, before, rtol=1e-5)
    for mine, other in zip(found.weights, expected.weights, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-5)


def test_a_step_of_a_model_without_labels_takes_numbers():
    model = compiled(tiny_classifier(dropout=0.0))
    expected = model.test_on_batch(TEXTS, LABELS)
    model.labels = None
    found = model.test_on_batch(TEXTS, NUMBERS)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    first = model.train_on_batch(TEXTS, NUMBERS, class_weight={1: 2.0})
    assert np.all(np.isfinite(first))
    with pytest.raises(ValueError, match="Unknown label of text 1: .*0, 1, 2"):
        model.train_on_batch(TEXTS, LABELS)


def test_a_call_takes_texts(model, pair_model):
    for each, texts in ((model, TEXTS), (pair_model, PAIRS)):
        expected = by_ids(each, texts)
        for made in (texts, np.array(texts)):
            found = keras.ops.convert_to_numpy(each(made, training=False))
            np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    "method",
    [
        *("fit", "evaluate", "predict"),
        *("predict_on_batch", "train_on_batch", "test_on_batch"),
    ],
)
def test_arguments_are_those_of_keras(method):
    ours, theirs = (
        inspect.signature(getattr(each, method)).parameters.values()
        for each in (models.SentenceClassifier, keras.Model)
    )
    assert [(p.name, p.default) for p in ours] == [
        (p.name, p.default) for p in theirs
    ]


@pytest.mark.parametrize("batch_size", [0, -1, -7, 2.5, "3"])
@pytest.mark.parametrize("method", ["fit", "evaluate", "predict", "encode"])
def test_a_batch_has_a_whole_number_of_texts(model, method, batch_size):
    labels = [LABELS] if method in ("fit", "evaluate") else []
    with pytest.raises(ValueError, match=f"batch_size={batch_size!r}"):
        getattr(model, method)(TEXTS, *labels, batch_size=batch_size, verbose=0)


def test_ids_go_on_working(model):
    ids = keras.tree.map_structure(np.asarray, model.preprocess(TEXTS))
    expected = model.predict(TEXTS, verbose=0)
    # Tensors of the backend too.
    tensors = keras.tree.map_structure(keras.ops.convert_to_tensor, ids)
    for each in (ids, tensors):
        found = model.predict(each, verbose=0)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(
        model.evaluate(ids, NUMBERS, verbose=0),
        model.evaluate(TEXTS, LABELS, verbose=0),
        rtol=1e-5,
    )


@pytest.mark.parametrize("labels", [LABELS, np.array(LABELS)])
def test_evaluate(model, labels):
    weights = np.linspace(0.5, 2, len(TEXTS))
    given = {
        "x": keras.tree.map_structure(np.asarray, model.preprocess(TEXTS)),
        "y": NUMBERS,
    }
    for more in ({}, {"sample_weight": weights}):
        more = {"batch_size": 5, "verbose": 0, "return_dict": True, **more}
        expected = model.evaluate(**given, **more)
        found = model.evaluate(TEXTS, labels, **more)
        assert found == pytest.approx(expected, rel=1e-5)
        if "sample_weight" in more:
            more.pop("sample_weight")
            dataset = slices(TEXTS, labels, weights)
            found = model.evaluate(dataset, **more)
            assert found == pytest.approx(expected, rel=1e-5)


def test_fit_is_that_of_ids():
    """Without shuffling, in batches as long as the texts."""
    expected = compiled(tiny_classifier(dropout=0.0))
    found = compiled(tiny_classifier(dropout=0.0))
    ids = keras.tree.map_structure(np.asarray, expected.preprocess(TEXTS))
    weights = np.linspace(0.5, 2, len(TEXTS))
    more = {
        **{"batch_size": 4, "epochs": 2, "verbose": 0, "shuffle": False},
        **{"validation_split": 0.25, "sample_weight": weights},
    }
    before = expected.fit(ids, NUMBERS, **more)
    history = found.fit(TEXTS, LABELS, **more)
    assert set(history.history) == set(before.history)
    for name, values in before.history.items():
        assert history.history[name] == pytest.approx(values, rel=1e-5)
    for mine, other in zip(found.weights, expected.weights, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-5)


@pytest.mark.parametrize("by", [{"two": 3.0, "1": 0.5}, {1: 3.0, 0: 0.5}])
def test_class_weights(by):
    numbered = {0: 0.5, 1: 3.0}
    weights = np.array([numbered.get(number, 1.0) for number in NUMBERS])
    losses = []
    for more in ({"class_weight": by}, {"sample_weight": weights}):
        if by == {1: 3.0, 0: 0.5}:
            labels = ["no", "yes", "maybe"]
        else:
            labels = ["1", "two", "gütig"]
        model = compiled(tiny_classifier(labels=labels, dropout=0.0))
        names = [labels[number] for number in NUMBERS]
        fitted = model.fit(TEXTS, names, shuffle=False, verbose=0, **more)
        losses += fitted.history["loss"]
    assert losses[0] == pytest.approx(losses[1])


def test_validation_data():
    model = compiled(tiny_classifier(dropout=0.0))
    ids = keras.tree.map_structure(np.asarray, model.preprocess(TEXTS[:5]))
    for data in (
        (TEXTS[:5], LABELS[:5]),
        slices(TEXTS[:5], LABELS[:5]),
        (ids, NUMBERS[:5]),
    ):
        fitted = model.fit(TEXTS, LABELS, validation_data=data, verbose=0)
        assert fitted.history["val_accuracy"] == pytest.approx(
            [model.evaluate(ids, NUMBERS[:5], verbose=0)[1]]
        )
    assert (
        "val_loss"
        in model.fit(
            {name: array for name, array in ids.items()},
            NUMBERS[:5],
            validation_data=(TEXTS[:5], LABELS[:5]),
            verbose=0,
        ).history
    )


@pytest.mark.parametrize("sizes", [(4, None), (None, 4), (7, 4)])
def test_batches_to_validate_on_are_of_their_size_or_that_of_training(sizes):
    model, seen = compiled(tiny_classifier()), []
    ids = keras.tree.map_structure(np.asarray, model.preprocess(TEXTS))
    count = keras.callbacks.LambdaCallback(
        on_test_batch_end=lambda batch, logs: seen.append("validated"),
    )
    own = (TEXTS, LABELS), (ids, NUMBERS)
    for data, validation_data in itertools.product(own, own):
        model.fit(
            *data,
            batch_size=sizes[0],
            validation_data=validation_data,
            validation_batch_size=sizes[1],
            callbacks=[count],
            verbose=0,
        )
        assert len(seen) == 5
        seen.clear()


def test_batches_are_of_32_texts_where_nothing_else_is_said(model):
    seen = []
    count = keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs: seen.append(count.params["steps"]),
        on_test_begin=lambda logs: seen.append(count.params["steps"]),
        on_predict_begin=lambda logs: seen.append(count.params["steps"]),
    )
    texts, labels = (TEXTS * 4)[:64], (LABELS * 4)[:64]
    quiet = {"callbacks": [count], "verbose": 0}
    model.fit(texts, labels, **quiet)
    model.evaluate(texts, labels, **quiet)
    model.predict(texts, **quiet)
    assert seen == [2, 2, 2]


def test_batches_are_those_of_a_dataset_where_nothing_else_is_said():
    model, seen = compiled(tiny_classifier()), []
    count = keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs: seen.append(count.params["steps"]),
        on_test_batch_end=lambda batch, logs: seen.append("validated"),
        on_predict_end=lambda logs: seen.append("predicted"),
    )
    rows = slices(TEXTS, LABELS)
    quiet = {"callbacks": [count], "verbose": 0}
    model.fit(rows.batch(7), **quiet)
    model.fit(rows, **quiet)
    model.fit(rows.batch(7), batch_size=4, **quiet)
    assert seen == [3, 1, 5]
    seen.clear()
    model.fit(TEXTS, LABELS, validation_data=rows.batch(10), **quiet)
    assert seen == [1, "validated", "validated"]
    seen.clear()
    model.evaluate(rows.batch(10), **quiet)
    assert seen == ["validated", "validated"]
    first = model.predict(slices(TEXTS).batch(7), steps=1, **quiet)
    assert len(first) == 7


@pytest.mark.parametrize("data", [(TEXTS, LABELS), (slices(TEXTS, LABELS),)])
def test_steps_of_epochs_go_through_the_texts_again(data):
    # As those on arrays do: five steps are a pass.
    model = compiled(tiny_classifier())
    model.fit(*data, batch_size=4, steps_per_epoch=3, epochs=4, verbose=0)
    assert int(model.optimizer.iterations) == 12


def test_a_seed_repeats_a_fit():
    def weights():
        keras.utils.set_random_seed(5)
        model = compiled(tiny_classifier())
        keras.utils.set_random_seed(5)
        model.fit(TEXTS, LABELS, batch_size=3, epochs=2, verbose=0)
        return model.get_weights()

    for first, second in zip(weights(), weights(), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (LABELS, ["1", "gütig", "two"]),
        (NUMBERS, [0, 1, 2]),
        ((NUMBERS + 3).tolist(), [3, 4, 5]),
        (np.minimum(NUMBERS, 1), [0, 1, 2]),
        # Each as it is, whatever the others are.
        ([*["1"] * 2, *[True, "b\0"] * 9], ["1", True, "b\0"]),
    ],
)
def test_labels_are_collected(labels, expected):
    model = compiled(tiny_classifier(labels=["a", "b", "c"]))
    model.labels = None
    model.fit(TEXTS, labels, verbose=0)
    assert model.labels == expected


@pytest.mark.parametrize(
    "missing", [float("nan"), None, np.datetime64("2020-01-01", "ns")]
)
def test_what_is_no_label_is_no_class(missing):
    model = compiled(tiny_classifier(labels=["a", "b"]))
    model.labels = None
    for labels in (
        [missing, "a"],
        np.array([missing, "a"], object),
        np.array([missing, missing]),
    ):
        with pytest.raises(ValueError, match="a label that is a string"):
            model.fit(["good", "bad"], labels, verbose=0)
        assert model.labels is None


@pytest.mark.parametrize(
    "given, message",
    [
        ({"sample_weight": [1.0]}, "as many weights as texts"),
        ({"class_weight": {"three": 1.0}}, "class weight.*'three'"),
        ({"validation_data": (["good"], ["three"])}, "'three'"),
        ({"validation_data": (TEXTS, LABELS, None, None)}, "Received: 4"),
        ({"validation_split": 2.0}, "validation_split=2.0"),
    ],
)
def test_a_fit_that_fails_collects_no_labels(given, message):
    model = compiled(tiny_classifier(dropout=0.0))
    model.labels = None
    with pytest.raises(ValueError, match=message):
        model.fit(TEXTS, LABELS, verbose=0, **given)
    assert model.labels is None


def test_an_evaluation_gives_a_model_no_labels():
    model = compiled(tiny_classifier(dropout=0.0))
    expected = model.evaluate(TEXTS, LABELS, verbose=0)
    model.labels = None
    with pytest.raises(ValueError, match="knows 0, 1, 2. Received: 'two'"):
        model.evaluate(TEXTS, LABELS, verbose=0)
    assert model.evaluate(TEXTS, NUMBERS, verbose=0) == expected
    assert model.labels is None


def test_arrays_in_the_place_of_labels():
    model = tiny_classifier(dropout=0.0)
    model.compile("sgd", "categorical_crossentropy")
    soft = np.eye(3)[NUMBERS]
    loss = model.evaluate(TEXTS, soft, verbose=0)
    model.compile("sgd", "sparse_categorical_crossentropy")
    assert model.evaluate(TEXTS, LABELS, verbose=0) == pytest.approx(loss)


def test_no_text_stays_on_disk(model, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model.fit(TEXTS, LABELS, verbose=0)
    model.predict(TEXTS, verbose=0)
    with pytest.raises(ValueError, match="Text 2 must be a string"):
        model.predict(["good", None], verbose=0)
    assert not list(tmp_path.glob("keras_selfattn_*"))


ASK = {
    "fit": lambda model, x: model.fit(x, ["1"], verbose=0),
    "evaluate": lambda model, x: model.evaluate(x, ["1"], verbose=0),
    "predict": lambda model, x: model.predict(x, verbose=0),
    "predict_on_batch": lambda model, x: model.predict_on_batch(x),
    "train_on_batch": lambda model, x: model.train_on_batch(x, ["1"]),
    "test_on_batch": lambda model, x: model.test_on_batch(x, ["1"]),
    "call": lambda model, x: model(x),
    "encode": lambda model, x: model.encode(x, verbose=0),
}
IDS = {"token_ids": np.array([[3, 99]])}


@pytest.mark.parametrize("method", ASK)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("good", "Expected a list of texts.*one string: 'good'"),
        (b"good", "Expected a list of texts.*one string"),
        (np.array("good"), "Expected a list of texts.*one string: 'good'"),
        (tf.constant("good"), "Expected a list of texts.*one string: b'good'"),
        ([], "Expected at least one text. Received: none"),
        (np.array([], str), "Expected at least one text. Received: none"),
        (None, "Expected a list of texts. Received: None"),
        (7, "Expected a list of texts. Received: 7"),
        ([None], "Text 1 must be a string. Received: None"),
        ([float("nan")], "Text 1 must be a string. Received: nan"),
        ([3], "Text 1 must be a string. Received: 3"),
        ([("good", "bad")], "Text 1 must be a string"),
    ],
)
def test_what_is_no_text_is_refused(model, method, x, message):
    with pytest.raises(ValueError, match=message):
        ASK[method](model, x)


class Batches(keras.utils.PyDataset):
    def __init__(self, texts):
        super().__init__()
        self.texts = texts

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.texts, NUMBERS[:2]


def generator(*elements):
    return (element for element in elements)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_streams_are_of_ids(model, method):
    texts = np.array(["good", "bad"])
    ids = keras.tree.map_structure(np.asarray, model.preprocess(texts))
    ask = getattr(model, method)
    for stream, name in (
        (Batches(texts), "a PyDataset"),
        (generator((texts, NUMBERS[:2])), "a generator"),
        (generator("good", "bad"), "a generator"),
    ):
        with pytest.raises(ValueError, match=f"a list, .*: {name} of texts"):
            ask(stream, verbose=0)
    with pytest.raises(ValueError, match=": a generator of texts"):
        model.fit(ids, NUMBERS[:2], validation_data=generator((texts, [1, 0])))
    size = {"steps": 2}
    if method == "fit":
        size = {"steps_per_epoch": 2, "shuffle": False}
    found = [
        ask(Batches(ids), verbose=0),
        ask(generator(*[(ids, NUMBERS[:2])] * 2), verbose=0, **size),
    ]
    if method == "predict":
        np.testing.assert_allclose(*found, rtol=1e-6)
        assert len(found[0]) == 4


@pytest.mark.parametrize("method", sorted({*ASK} - {"encode"}))
@pytest.mark.parametrize("ids", [[[3, 99]], [[-1, 2]]])
def test_ids_out_of_the_vocabulary(model, method, ids):
    with pytest.raises(ValueError, match="`token_ids` must be ids from 0 to 6"):
        ASK[method](model, {"token_ids": np.array(ids)})


@pytest.mark.parametrize(
    "texts, labels",
    [(TEXTS, LABELS), ({"token_ids": np.array([[2, 3]] * 20)}, NUMBERS)],
)
def test_ids_out_of_the_vocabulary_to_validate_on(model, texts, labels):
    others = {"token_ids": np.array([[3, 99]])}
    with pytest.raises(ValueError, match="`token_ids` must be ids from 0 to 6"):
        model.fit(texts, labels, validation_data=(others, NUMBERS[:1]))


@pytest.mark.parametrize(
    "method", ["fit", "evaluate", "train_on_batch", "test_on_batch"]
)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "with labels, `y`. Received: y=None"),
        (["1", "4"], "Unknown label of text 2.*1, two, gütig. Received: '4'"),
        (["1", None], "Unknown label of text 2"),
        (["1", float("nan")], "Unknown label of text 2"),
        (["1"], "as many labels as texts. Received: 1 for 2 texts"),
        ("1", "as many labels as texts. Received: one value for 2 texts"),
    ],
)
def test_wrong_labels(model, method, labels, message):
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(["good", "bad"], labels)


def test_wrong_values(model):
    for more, message in (
        ({"sample_weight": [1.0]}, "as many weights as texts"),
        ({"validation_split": 1.5}, "must be between 0 and 1"),
        ({"validation_split": 0.99}, "texts on both sides"),
        ({"class_weight": {"4": 1.0}}, "Unknown label of class weight 1"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(TEXTS, LABELS, verbose=0, **more)
    without = tiny_classifier()
    with pytest.raises(ValueError, match="a `compile` before `fit`"):
        without.fit(TEXTS, LABELS)
    without.preprocessor = None
    with pytest.raises(ValueError, match="only with a `preprocessor`"):
        without.predict(TEXTS)
    few = compiled(tiny_classifier())
    few.labels = None
    with pytest.raises(ValueError, match="has 3 classes.*of 2: no, yes"):
        few.fit(["a", "b"], ["no", "yes"])


def test_encode(model):
    ids = model.preprocess(TEXTS)
    rows = keras.ops.convert_to_numpy(model.embedding_model()(ids))
    rows = rows.reshape(len(TEXTS), -1)
    found = model.encode(TEXTS, batch_size=3, verbose=0)
    np.testing.assert_allclose(found, rows, atol=1e-5)
    found = model.encode(slices(TEXTS), normalize=True, verbose=0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    assert norms.max() > 0
    np.testing.assert_allclose(found * norms, rows, atol=1e-5)


def test_encode_pairs(pair_model):
    ids = pair_model.preprocess(PAIRS)
    rows = keras.ops.convert_to_numpy(pair_model.embedding_model()(ids))
    found = pair_model.encode(PAIRS, batch_size=3, verbose=0)
    np.testing.assert_allclose(found, rows, atol=1e-5)
    siamese = models.SentencePairClassifier(
        preprocessor=pair_model.preprocessor,
        labels=["no", "yes"],
        **{"embedding_dim": 4, "units": 3, "num_heads": 2, "attention_dim": 5},
        **{"interaction_units": 4, "hidden_units": 6},
    )
    found = siamese.encode(PAIRS, verbose=0)
    assert [each.shape for each in found] == [(len(PAIRS), 2 * 6)] * 2
    for rows, expected in zip(
        found,
        siamese.embedding_model()(siamese.preprocess(PAIRS)),
        strict=True,
    ):
        expected = keras.ops.convert_to_numpy(expected)
        np.testing.assert_allclose(
            rows, expected.reshape(len(PAIRS), -1), atol=1e-5
        )


@tensorflow_only
def test_strategies_of_several_devices_take_texts():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        model = compiled(tiny_classifier())
    model.fit(TEXTS, LABELS, batch_size=5, verbose=0)


@pytest.mark.parametrize("method", ["fit", "evaluate"])
def test_labels_and_weights_come_once(method):
    model = compiled(tiny_classifier(dropout=0.0))
    ones = np.ones(len(TEXTS))
    pairs = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS))
    three = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS, ones))
    ask = getattr(model, method)
    for given, message in (
        ({"x": pairs, "y": LABELS}, "its own takes no `y`"),
        ({"x": three, "sample_weight": ones}, "takes no `sample_weight`"),
    ):
        for dataset in (given["x"], given["x"].batch(3)):
            with pytest.raises(ValueError, match=message):
                ask(**{**given, "x": dataset}, verbose=0)
    # What only one of them has, goes with the other.
    ask(pairs, sample_weight=ones, verbose=0)


@pytest.mark.parametrize(
    "weights", [np.ones((1, 20)), np.ones((20, 2)), [[1.0, 2.0]] * 10]
)
def test_each_text_has_one_weight(model, weights):
    with pytest.raises(ValueError, match=r"weight.*Received: .* 20 texts"):
        model.evaluate(TEXTS, LABELS, sample_weight=weights, verbose=0)
    column = np.linspace(0, 1, 20)
    one, other = (
        model.evaluate(TEXTS, LABELS, sample_weight=each, verbose=0)
        for each in (column, column[:, None])
    )
    assert one == other


@pytest.mark.parametrize("method", ["fit", "train_on_batch"])
def test_a_class_of_ids_is_weighed_by_its_label_too(method):
    """A number is that of a class, as among the labels of ids."""
    model = compiled(tiny_classifier(labels=["a", "1", "2"], dropout=0.0))
    ids = keras.tree.map_structure(np.asarray, model.preprocess(TEXTS))
    weights, losses = model.get_weights(), []

    def train(class_weight):
        model.set_weights(weights)
        more = {"shuffle": False, "verbose": 0} if method == "fit" else {}
        trained = getattr(model, method)(
            ids, NUMBERS, class_weight=class_weight, **more
        )
        losses.append(
            trained.history["loss"] if method == "fit" else trained[0]
        )

    train({0: 0.5, 2: 3.0})
    train({"a": 0.5, "2": 3.0})
    train({"a": 0.5, np.int64(2): 3.0})
    np.testing.assert_allclose(losses[1:], losses[:1] * 2)
    for given, message in (
        ({"b": 1.0}, "Unknown label of class weight 1: .*Received: 'b'"),
        ({1: 2.0, "1": 3.0}, "must name each class once"),
    ):
        with pytest.raises(ValueError, match=message):
            train(given)


def test_a_class_has_one_weight():
    model = compiled(tiny_classifier(dropout=0.0))
    with pytest.raises(ValueError, match="must name each class once"):
        model.fit(TEXTS, LABELS, class_weight={1: 2.0, "1": 3.0}, verbose=0)


@pytest.mark.parametrize("class_weight", ["balanced", [1.0, 2.0]])
def test_a_class_weight_is_a_dictionary(class_weight):
    message = re.escape(f"Received: class_weight={class_weight!r}")
    model = compiled(tiny_classifier(dropout=0.0))
    for data in (TEXTS, model.preprocess(TEXTS)):
        for method in (model.fit, model.train_on_batch):
            with pytest.raises(ValueError, match=f"dictionary.*{message}"):
                method(data, np.array([1] * 20), class_weight=class_weight)


def one_output(**changes):
    arguments = {
        "num_classes": 1,
        "activation": None,
        "embedding_dim": 4,
        "units": 3,
        "pooling": "max",
        "hidden_units": 5,
        "dropout": 0.0,
        "l2": 0.0,
    }
    return models.SentenceClassifier(
        preprocessor=TextPreprocessor(["good", "bad"]),
        **{**arguments, **changes},
    )


@pytest.mark.parametrize("width", [0, 1])
@pytest.mark.parametrize("labels", [None, ["spam"]])
def test_a_loss_of_one_output_takes_its_values(width, labels):
    keras.utils.set_random_seed(0)
    model = one_output(labels=labels)
    model.compile("sgd", keras.losses.BinaryCrossentropy(from_logits=True))
    values = np.array([1.0, 0.0, 0.5, 1.0] * 5).reshape((20,) + (1,) * width)
    column = values.reshape(20, 1)
    expected = model.evaluate(model.preprocess(TEXTS), column, verbose=0)
    received = model.evaluate(TEXTS, values, verbose=0)
    np.testing.assert_allclose(received, expected, rtol=1e-5)
    assert np.isfinite(model.fit(TEXTS, values, verbose=0).history["loss"])
    assert model.labels == labels


def test_a_class_weight_of_one_output():
    keras.utils.set_random_seed(0)
    model = one_output()
    values = np.array([1, 0, 0, 1] * 5)
    weights = np.where(values == 1, 5.0, 1.0)
    losses = []
    for weighed in ({"class_weight": {1: 5.0}}, {"sample_weight": weights}):
        model.compile(keras.optimizers.SGD(0.0), "mse")
        losses += model.fit(
            TEXTS, values, shuffle=False, verbose=0, **weighed
        ).history["loss"]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    with pytest.raises(ValueError, match="the values 0 and 1. Received: a te"):
        model.fit(TEXTS, 0.5 * values, class_weight={1: 5.0}, verbose=0)


@pytest.mark.filterwarnings("ignore:You are using a softmax:UserWarning")
def test_a_class_that_is_a_number_is_no_value():
    model = one_output(activation="softmax", labels=[7])
    model.compile("sgd", "sparse_categorical_crossentropy")
    (loss,) = model.fit(TEXTS, [7] * 20, verbose=0).history["loss"]
    np.testing.assert_allclose(loss, 0.0, atol=1e-6)
    with pytest.raises(ValueError, match="the model knows 7. Received: 8"):
        model.fit(TEXTS, [8] * 20, verbose=0)


def test_texts_in_a_graph_go_through_the_preprocessor(model):
    strings = keras.Input((), dtype="string")
    with pytest.raises(ValueError, match=r"model\(model.preprocessor\(texts"):
        model(strings)
    if keras.backend.backend() == "tensorflow":
        traced = tf.function(lambda texts: model(texts))
        with pytest.raises(ValueError, match="Within a graph"):
            traced(tf.constant(TEXTS))


def test_a_call_takes_texts_by_their_name(model):
    by_name, expected = (
        keras.ops.convert_to_numpy(outputs)
        for outputs in (model(inputs=TEXTS), model(TEXTS))
    )
    np.testing.assert_array_equal(by_name, expected)


@pytest.mark.parametrize("method", ["predict", "predict_on_batch", "__call__"])
@pytest.mark.parametrize("name", ["premise_token_ids", "hypothesis_token_ids"])
def test_ids_of_pairs_out_of_the_vocabulary(pair_model, method, name):
    ids = {**pair_model.preprocess(PAIRS[:1]), name: np.array([[2, 6]])}
    with pytest.raises(ValueError, match=f"`{name}` must be ids from 0 to 5"):
        getattr(pair_model, method)(ids)


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_list_of_ids_out_of_the_vocabulary(pair_model, wrong):
    ids = [np.array([[2, 1]]), np.array([[1, 2]])]
    ids[wrong] = np.array([[2, 6]])
    side = ("hypothesis", "premise")[wrong]
    with pytest.raises(ValueError, match=f"`{side}_token_ids` must be ids"):
        pair_model.predict(ids, verbose=0)


def test_ids_that_are_no_numbers(model):
    ids = np.array([[1.0, np.nan]])
    with pytest.raises(ValueError, match="must be ids from 0.*Received: nan"):
        model.predict(ids, verbose=0)


def test_ids_of_characters_out_of_the_vocabulary():
    model = tiny_classifier(characters="adfgo")
    ids = {**model.preprocess(TEXTS[:1])}
    ids["char_ids"] = np.full((1, 3, 2), 99)
    with pytest.raises(ValueError, match="`char_ids` must be ids from 0 to 6"):
        model.predict(ids, verbose=0)

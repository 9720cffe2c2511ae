import warnings

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.training import values
from tests.training.small import SMALL
from tests.training.small import WITHOUT_WIDTH
from tests.training.small import assert_same_run
from tests.training.small import final_weights
from tests.training.small import reviews
from tests.training.small import train
from tests.training.small import train_pairs
from tests.training.small import write_vectors


def test_the_best_epoch_on_dev_is_kept(run):
    folder, model = run
    rows = (folder / "history.csv").read_text().splitlines()
    column = rows[0].split(",").index("val_accuracy")
    accuracies = [float(row.split(",")[column]) for row in rows[1:]]
    record = model.training_record
    assert record["dev_accuracy"] == max(accuracies)
    assert record["epoch"] == 1 + accuracies.index(max(accuracies))
    texts = [text for text, _ in reviews(40, 2)]
    answers = array(model(model.preprocess(texts))).argmax(axis=-1)
    right = [
        model.labels[answer] == label
        for answer, (_, label) in zip(answers, reviews(40, 2), strict=True)
    ]
    assert np.mean(right) == pytest.approx(record["dev_accuracy"])


def test_a_seed_repeats_the_run(run, tmp_path):
    train(tmp_path / "again")
    assert_same_run(run[0], tmp_path / "again")


def test_another_seed_gives_another_run(run, tmp_path):
    train(tmp_path / "other", seed=1)
    one, other = final_weights(run[0]), final_weights(tmp_path / "other")
    kernels = [i for i, array in enumerate(one) if array.ndim > 1]
    assert kernels
    assert all((one[i] != other[i]).any() for i in kernels)


@pytest.mark.slow
def test_the_rate_falls_along_a_half_cosine_resumed_or_not(tmp_path):
    def rates(name, **changes):
        seen = []
        callback = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: seen.append(logs["learning_rate"])
        )
        overrides = {"epochs": 4, "batch_size": 16, "decay_epochs": 3}
        train(
            tmp_path / name,
            training_overrides={**overrides, **changes},
            callbacks=[callback],
            resume=(tmp_path / name).exists(),
        )
        return seen

    # Of the preset's 0.06.
    expected = [0.06, 0.045, 0.015, 0.0]
    assert rates("whole") == pytest.approx(expected, abs=1e-8)
    assert rates("parts", epochs=2) == pytest.approx(expected[:2], abs=1e-8)
    assert rates("parts") == pytest.approx(expected[2:], abs=1e-8)
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("steps", [1, 5])
def test_steps_per_execution_changes_no_number(run, tmp_path, steps):
    train(
        tmp_path / "run",
        training_overrides={
            "epochs": 3,
            "batch_size": 16,
            "steps_per_execution": steps,
        },
    )
    assert_same_run(run[0], tmp_path / "run")


class CountedTexts:
    def __init__(self, rows):
        self.rows = rows
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        return iter(self.rows)


@pytest.mark.parametrize("preset", ["lin2017_yelp", "chen2018_yelp"])
def test_the_texts_are_read_twice_and_not_kept(tmp_path, preset):
    train_texts = CountedTexts(reviews(48, 1))
    dev_texts = CountedTexts(reviews(20, 2))
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    seen = {}

    class Look(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            for path in (tmp_path / "run" / "data").rglob("*.npy"):
                seen[path.relative_to(tmp_path / "run")] = np.load(path).shape

    training.train(
        preset,
        train_texts,
        dev_texts,
        tmp_path / "run",
        vectors=tmp_path / "vectors.txt",
        model_overrides={**WITHOUT_WIDTH, "hidden_units": 4}
        if preset == "lin2017_yelp"
        else {**WITHOUT_WIDTH, "hidden_units": [4, 4]},
        training_overrides={"epochs": 1, "batch_size": 24},
        callbacks=[Look()],
        verbose=0,
    )
    assert (train_texts.passes, dev_texts.passes) == (2, 1)
    shapes = {str(path): shape for path, shape in seen.items()}
    assert shapes["data/train/labels.npy"] == (48,)
    assert shapes["data/dev/labels.npy"] == (20,)
    assert ("data/train/char_ids.npy" in shapes) == (preset == "chen2018_yelp")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "checkpoint",
        "checksums.json",
        "history.csv",
        "model",
        "settings.json",
    ]


def test_a_loss_that_is_not_finite_ends_the_run(tmp_path):
    class Break(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                self.model.optimizer.learning_rate = np.nan

    # torch runs one step at a time.
    with pytest.raises(
        FloatingPointError,
        match="loss is nan by step (12, batch 6|8, batch 2) of epoch 2; what "
        "epoch 1 has left is in .*run/checkpoint",
    ):
        train(tmp_path / "run", callbacks=[Break()])
    model = models.from_preset(tmp_path / "run")
    assert model.training_record["epoch"] == 1
    assert all(np.isfinite(w).all() for w in model.get_weights())


def test_a_doubled_batch_trains_as_one_that_is_given(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(values, "_LONG_EPOCH", 3)
    doubled = {"epochs": 1, "batch_size": 10, "max_batch_size": 60}
    train(tmp_path / "doubled", training_overrides=doubled, verbose=2)
    assert "Batches of 40 texts, as there are 96" in capsys.readouterr().out
    given = {"epochs": 1, "batch_size": 40}
    train(tmp_path / "given", training_overrides=given, verbose=2)
    assert "Batches of" not in capsys.readouterr().out
    assert_same_run(tmp_path / "doubled", tmp_path / "given")


def test_more_weights_than_tokens(tmp_path):
    def run(name, **changes):
        return training.train(
            "lin2017_yelp",
            reviews(48, 1),
            reviews(20, 2),
            tmp_path / name,
            model_overrides={**SMALL, **changes},
            training_overrides={"epochs": 1, "batch_size": 16},
            verbose=0,
        )

    with warnings.catch_warnings(record=True) as said:
        warnings.filterwarnings("always", "The model has .* weights to train")
        model = run("large", hidden_units=900)
    tokens = sum(
        np.count_nonzero(model.preprocess([text])["token_ids"])
        for text, _ in reviews(48, 1)
    )
    weights = model.count_params()
    assert f"The model has {weights:,} weights" in str(said[0].message)
    assert f"texts have {tokens:,} tokens" in str(said[0].message)
    assert str(said[0].message).endswith("fixed pretrained word vectors help")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The model has .* weights to train")
        with pytest.raises(UserWarning, match="few texts, fewer units help$"):
            run("fixed", hidden_units=900, trainable_embeddings=False)
        model = run("small", trainable_embeddings=False, units=1)
    assert model.count_params() > tokens


def test_word_vectors_that_are_neither_given_nor_trained(tmp_path):
    words = "drawn at random.*--vectors.*trainable_embeddings=False"
    write_vectors(tmp_path / "vectors.txt", ["The"])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The word vectors stay as they are")
        with pytest.raises(UserWarning, match=words):
            train_pairs(tmp_path / "random")
        train_pairs(tmp_path / "trained", trainable_embeddings=True)
        train_pairs(
            tmp_path / "given",
            tmp_path / "vectors.txt",
            embedding_dim=3,
        )


def test_pairs(tmp_path):
    model = train_pairs(tmp_path / "run")
    assert isinstance(model, models.DecomposableClassifier)
    inputs = model.preprocess([("A dog .", "It runs .")])
    null = model.preprocessor.get_vocabulary().index("[NULL]")
    assert inputs["premise_token_ids"][0, 0] == null
    assert model.preprocessor.num_oov_indices == 100


def test_characters(tmp_path):
    model = training.train(
        "chen2018_yelp",
        reviews(48, 1),
        reviews(20, 2),
        tmp_path / "run",
        model_overrides={**SMALL, "hidden_units": [4, 4]},
        training_overrides={"epochs": 1, "batch_size": 16},
        verbose=0,
    )
    inputs = model.preprocess(["good food"])
    assert set(inputs) == {"token_ids", "char_ids"}
    assert model(inputs).shape == (1, 5)


def test_a_last_step_that_breaks_the_weights(tmp_path):
    class Break(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch + 1 < self.params["steps"]:
                return
            weight = self.model.trainable_weights[-1]
            weight.assign(np.full(weight.shape, np.nan, "float32"))

    with pytest.raises(
        FloatingPointError,
        match="loss is nan on dev after epoch 1; no epoch was good before",
    ):
        train(tmp_path / "run", callbacks=[Break()])
    assert not (tmp_path / "run" / "model").exists()


def test_a_batch_larger_than_the_corpus(tmp_path):
    texts = reviews(96, 1)
    labels = sorted({label for _, label in texts})
    first = [next(t for t in texts if t[1] == label) for label in labels]
    model = training.train(
        "lin2017_yelp",
        first[:2],
        first[:1],
        tmp_path / "run",
        model_overrides={**SMALL, "encoder": "cnn"},
        training_overrides={"epochs": 1, "batch_size": 500},
        verbose=0,
    )
    assert model.labels == labels[:2]

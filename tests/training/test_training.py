import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs
from tests.backend import tensorflow_only
from tests.models import paper_values
from tests.tiny_classifier import tiny_classifier

SMALL = {
    "embedding_dim": 8,
    "units": 6,
    "attention_dim": 5,
    "num_heads": 2,
    "attention_penalty": 0.01,
    "hidden_units": 8,
}


NAN = float("nan")


def reviews(size, seed):
    return [(r.text, r.label) for r in generate_reviews(size, seed=seed)]


def train(folder, **changes):
    arguments = {
        "model_overrides": SMALL,
        "training_overrides": {"epochs": 3, "batch_size": 16},
        "verbose": 0,
        **changes,
    }
    return training.train(
        "lin2017_yelp", reviews(96, 1), reviews(40, 2), folder, **arguments
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "run"
    return folder, train(folder)


def final_weights(folder):
    """All that changes in training, after the last epoch."""
    with np.load(folder / "checkpoint" / "variables.npz") as arrays:
        return [arrays[name] for name in arrays.files]


def assert_same_run(one, other):
    for first, second in zip(
        final_weights(one), final_weights(other), strict=True
    ):
        np.testing.assert_array_equal(first, second)
    history = training.HISTORY_FILE
    assert (one / history).read_text() == (other / history).read_text()


def test_a_run_s_folder(run):
    folder, model = run
    rows = (folder / "history.csv").read_text().splitlines()
    assert rows[0].startswith("epoch,accuracy,loss,val_accuracy,val_loss")
    assert len(rows) == 4
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["preset"] == "lin2017_yelp"
    assert settings["seed"] == 0
    assert settings["model"]["units"] == 6
    assert settings["training"]["learning_rate"] == 0.06
    assert (folder / "model" / "vocabulary.txt").exists()
    assert model.labels == ["1", "2", "3", "4", "5"]
    assert model.training_record["train_rows"] == 96


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


def test_only_an_epoch_better_than_all_before_is_kept(tmp_path):
    model = tiny_classifier()
    model.compile("sgd", "sparse_categorical_crossentropy")
    run = training.Run(tmp_path / "run", settings={})
    run.start()
    run.restore(model, {})
    epochs = []
    for accuracy in (0.5, 0.2, 0.3, 0.5, 0.6):
        run.keep(model, {"loss": 1.0, "val_accuracy": accuracy})
        epochs.append(model.training_record["epoch"])
    assert epochs == [1, 1, 1, 1, 5]


def test_a_seed_repeats_the_run(run, tmp_path):
    train(tmp_path / "again")
    assert_same_run(run[0], tmp_path / "again")


def test_another_seed_gives_another_run(run, tmp_path):
    train(tmp_path / "other", seed=1)
    one, other = final_weights(run[0]), final_weights(tmp_path / "other")
    kernels = [i for i, array in enumerate(one) if array.ndim > 1]
    assert kernels
    assert all((one[i] != other[i]).any() for i in kernels)


def test_a_resumed_run_ends_as_the_uninterrupted_one(run, tmp_path):
    folder = tmp_path / "resumed"
    short = {"epochs": 1, "batch_size": 16}
    train(folder, training_overrides=short)
    # Whatever ran in between must not matter.
    keras.utils.set_random_seed(99)
    train(folder, resume=True)
    assert_same_run(run[0], folder)


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


KILLED = """
import sys
import keras
from tests.training.test_training import train

class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("step", flush=True)

# A callback is called once in so many steps.
overrides = {"epochs": 3, "batch_size": 16, "steps_per_execution": 1}
train(sys.argv[1], callbacks=[Slow()], training_overrides=overrides)
"""


@pytest.mark.slow
@pytest.mark.parametrize("steps", [2, 9])
def test_a_killed_run_resumes_to_the_same_weights(run, tmp_path, steps):
    folder = tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    ) as process:
        lines = (line for line in process.stdout if line.startswith("step"))
        seen = len(list(itertools.islice(lines, steps)))
        process.kill()
    assert seen == steps
    assert process.returncode == -signal.SIGKILL
    train(folder, resume=True)
    assert_same_run(run[0], folder)


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


AVERAGED = {"epochs": 3, "batch_size": 16, "ema_momentum": 0.5}


@pytest.fixture(scope="module")
def averaged_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "averaged"
    return folder, train(folder, training_overrides=AVERAGED)


def test_averaging_changes_what_is_kept_and_not_how_it_learns(
    run, averaged_run
):
    plain, averaged = final_weights(run[0]), final_weights(averaged_run[0])
    # The averages come behind all that a plain run has.
    assert len(averaged) > len(plain)
    kernels = [i for i, array in enumerate(plain) if array.ndim > 1]
    for i in kernels:
        np.testing.assert_array_equal(plain[i], averaged[i])
    losses = [
        np.genfromtxt(folder / "history.csv", delimiter=",", names=True)
        for folder in (run[0], averaged_run[0])
    ]
    np.testing.assert_array_equal(losses[0]["loss"], losses[1]["loss"])
    assert (losses[0]["val_loss"] != losses[1]["val_loss"]).all()


def test_the_kept_model_has_the_averages_that_dev_chose(averaged_run):
    folder, model = averaged_run
    texts, labels = zip(*reviews(40, 2), strict=True)
    probabilities = array(model(model.preprocess(texts)))
    gold = [model.labels.index(label) for label in labels]
    loss = -np.log(probabilities[np.arange(40), gold]).mean()
    penalties = sum(float(array(loss)) for loss in model.losses)
    history = np.genfromtxt(folder / "history.csv", delimiter=",", names=True)
    epoch = model.training_record["epoch"] - 1
    accuracy = np.mean(probabilities.argmax(axis=-1) == gold)
    assert accuracy == pytest.approx(history["val_accuracy"][epoch])
    assert loss + penalties == pytest.approx(
        history["val_loss"][epoch], rel=0.02
    )


def test_the_average_is_the_equation(tmp_path):
    """One epoch of two steps: half the first weights, half the second."""
    steps = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            steps.append(self.model.get_weights())

    model = train(
        tmp_path / "run",
        training_overrides={
            "epochs": 1,
            "batch_size": 48,
            "ema_momentum": 0.5,
            "steps_per_execution": 1,
        },
        callbacks=[Watch()],
    )
    assert len(steps) == 2
    for first, second, kept in zip(*steps, model.get_weights(), strict=True):
        np.testing.assert_allclose(kept, (first + second) / 2, atol=1e-7)


def test_a_resumed_averaged_run(averaged_run, tmp_path):
    folder = tmp_path / "resumed"
    train(folder, training_overrides={**AVERAGED, "epochs": 1})
    keras.utils.set_random_seed(99)
    model = train(folder, training_overrides=AVERAGED, resume=True)
    assert_same_run(averaged_run[0], folder)
    for kept, resumed in zip(
        averaged_run[1].get_weights(), model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(kept, resumed)


def test_a_momentum_out_of_range(tmp_path):
    with pytest.raises(ValueError, match=r"ema_momentum.*Received.*1\.5"):
        train(tmp_path / "x", training_overrides={"ema_momentum": 1.5})
    assert not (tmp_path / "x").exists()


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
        "history.csv",
        "model",
        "settings.json",
    ]


def test_data_of_a_killed_run_are_not_used(run, tmp_path):
    folder = tmp_path / "killed"
    (folder / "data" / "train").mkdir(parents=True)
    (folder / "data" / "train" / "labels.npy").write_text("half")
    train(folder)
    assert_same_run(run[0], folder)
    (folder / "data").mkdir()
    train(folder, resume=True)
    assert not (folder / "data").exists()


def test_a_folder_is_not_overwritten(run):
    with pytest.raises(ValueError, match="must be new.*ask to resume"):
        train(run[0])


def test_nothing_to_resume(tmp_path):
    with pytest.raises(ValueError, match="no run to resume"):
        train(tmp_path / "none", resume=True)
    assert not (tmp_path / "none").exists()


def test_a_run_is_not_resumed_with_other_settings(run):
    with pytest.raises(ValueError, match="other values of: seed"):
        train(run[0], resume=True, seed=5)


def test_unknown_training_value(tmp_path):
    with pytest.raises(ValueError, match="'initial_accumulator_value'"):
        train(
            tmp_path / "x", training_overrides={"initial_accumulator_value": 1}
        )


@pytest.mark.parametrize(
    "name, value",
    [
        ("min_count", -1),
        ("min_count", "often"),
        ("decay_epochs", 0),
        ("batch_size", 0),
        ("batch_size", None),
        ("epochs", 0),
        ("epochs", 2.5),
        ("steps_per_execution", True),
        ("lowercase", "False"),
        ("prepend_null", 1),
        ("ema_momentum", "slow"),
        ("induce_vectors", "yes"),
        ("momentum", "fast"),
        ("momentum", 1.0),
        ("momentum", -0.1),
        ("momentum", NAN),
        ("momentum", None),
        ("nesterov", "yes"),
        ("nesterov", 1),
        ("learning_rate", None),
        ("learning_rate", NAN),
        ("learning_rate", math.inf),
        ("learning_rate", 0.0),
        ("learning_rate", -0.06),
        ("learning_rate", True),
        ("global_clipnorm", -0.5),
        ("clipnorm", 0),
        ("clipvalue", NAN),
        ("weight_decay", -1e-3),
        ("loss_scale_factor", 0.0),
        ("gradient_accumulation_steps", 1),
        ("gradient_accumulation_steps", 2.0),
        ("gradient_accumulation_steps", True),
        ("ema_momentum", 1.0),
        ("ema_momentum", NAN),
        ("optimizer", ["sgd"]),
    ],
)
def test_a_training_value_that_cannot_be(tmp_path, name, value):
    with pytest.raises(ValueError, match="must be.*Received") as raised:
        train(tmp_path / "x", training_overrides={name: value})
    assert name in str(raised.value)
    assert repr(value) in str(raised.value)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("optimizer", "name", "value"),
    [
        ("adam", "beta_1", 1.0),
        ("adam", "beta_2", NAN),
        ("adam", "epsilon", 0),
        ("adam", "amsgrad", 0),
        ("adagrad", "initial_accumulator_value", -0.1),
        ("adagrad", "epsilon", -1e-7),
    ],
)
def test_a_value_of_another_optimizer_that_cannot_be(optimizer, name, value):
    preset = models.get_preset("lin2017_yelp")
    with pytest.raises(ValueError, match=f"`{name}` must be.*{name}="):
        training.training_values(preset, {"optimizer": optimizer, name: value})


def test_values_at_the_end_of_their_range():
    preset = models.get_preset("lin2017_yelp")
    for values in (
        {"momentum": 0, "nesterov": True, "weight_decay": 0.0},
        {"clipnorm": None, "global_clipnorm": None, "clipvalue": 1},
        {"gradient_accumulation_steps": 2, "ema_momentum": 0.0},
        {"optimizer": "adagrad", "initial_accumulator_value": 0},
    ):
        training.training_values(preset, values)


@pytest.mark.parametrize(
    "argument, message",
    [
        ({"nonsense": 1}, "no argument 'nonsense'"),
        ({"units": -3}, "units=-3"),
        # The value that was given, not that of a smaller model.
        ({"dropout": 50}, "dropout=50"),
        ({"dropout": NAN}, "dropout=nan"),
        ({"pooling": "max", "num_heads": 3}, "`num_heads` changes nothing"),
    ],
)
def test_a_wrong_model_argument_is_told_before_the_texts_are_read(
    tmp_path, argument, message
):
    def texts():
        raise AssertionError("read")
        yield

    with pytest.raises(ValueError, match=message):
        training.train(
            "lin2017_yelp",
            texts(),
            texts(),
            tmp_path / "x",
            model_overrides=argument,
        )
    assert not (tmp_path / "x").exists()


def test_a_model_that_no_small_one_stands_for_is_still_built(monkeypatch):
    built = []

    def build(preset, vocabulary_size, num_classes, overrides):
        built.append(overrides.get("units"))
        if overrides["units"] < 9:
            raise ValueError("too small")

    monkeypatch.setattr(training, "build_model", build)
    training.check_model_arguments("lin2017_yelp", {"units": 20})
    assert built == [8, 20]


def test_an_argument_of_the_wrong_type(tmp_path):
    with pytest.raises(ValueError, match="a finite number.*stddev='x'"):
        train_pairs(tmp_path / "x", initializer_stddev="x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("size", [1, 2, "many"])
def test_too_few_characters(size):
    model = {"character_vocabulary_size": size}
    values = {"lowercase": False, "max_tokens": 9}
    with pytest.raises(ValueError, match=f"at least 3.*Received.*{size!r}"):
        training.make_preprocessor([("ab ab", "x")], values, None, model)


def test_texts_of_the_wrong_kind_or_of_one_label(tmp_path):
    pairs = [((text, text), label) for text, label in reviews(20, 1)]
    alike = [(text, "5") for text, _ in reviews(20, 1)]
    for texts, message in (
        (pairs, "takes single texts. Received pairs of texts"),
        (alike, "two labels or more. Received: '5'"),
    ):
        with pytest.raises(ValueError, match=message):
            training.train(
                "lin2017_yelp",
                texts,
                texts,
                tmp_path / "x",
                model_overrides=SMALL,
                verbose=0,
            )
        assert not (tmp_path / "x").exists()


def test_a_loss_that_is_not_finite_ends_the_run(tmp_path):
    class Break(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                self.model.optimizer.learning_rate = np.nan

    with pytest.raises(FloatingPointError, match="loss is nan in epoch 2"):
        train(tmp_path / "run", callbacks=[Break()])
    model = models.from_preset(tmp_path / "run")
    assert model.training_record["epoch"] == 1
    assert all(np.isfinite(w).all() for w in model.get_weights())


def with_words(texts, **words):
    return [
        (" ".join(words.get(word, word) for word in text.split(" ")), label)
        for text, label in texts
    ]


TRAIN, DEV = reviews(96, 1), reviews(40, 2)


@pytest.mark.parametrize(
    "train_texts, dev_texts",
    [
        (TRAIN[::-1], DEV),
        (TRAIN, DEV[:-1]),
        # Of the same lengths and labels.
        (with_words(TRAIN, the="was", was="the"), DEV),
        (TRAIN, with_words(DEV, the="was")),
        # And of the same ids.
        (with_words(TRAIN, was="wuz"), with_words(DEV, was="wuz")),
    ],
    ids=["order", "fewer", "train", "dev", "words"],
)
def test_a_run_is_not_resumed_with_other_texts(run, train_texts, dev_texts):
    with pytest.raises(ValueError, match="the texts it was started with"):
        training.train(
            "lin2017_yelp",
            train_texts,
            dev_texts,
            run[0],
            resume=True,
            model_overrides=SMALL,
            training_overrides={"epochs": 3, "batch_size": 16},
            verbose=0,
        )


def checkpoint_of(run, folder, forget=(), **changes):
    """A copy of a run whose checkpoint has another state."""
    shutil.copytree(run[0], folder)
    path = folder / "checkpoint" / "state.json"
    state = {**json.loads(path.read_text()), **changes}
    for name in forget:
        del state[name]
    path.write_text(json.dumps(state))
    return folder


# Runs were TensorFlow's alone at first.
@tensorflow_only
def test_a_checkpoint_from_before_there_were_checksums_of_texts(run, tmp_path):
    forget = ["texts", "backend"]
    folder = checkpoint_of(run, tmp_path / "run", forget)
    train(folder, resume=True)
    assert_same_run(run[0], folder)


def test_a_run_is_not_resumed_on_another_backend(run, tmp_path):
    folder = checkpoint_of(run, tmp_path / "run", backend="numpy")
    with pytest.raises(ValueError, match="set KERAS_BACKEND=numpy"):
        train(folder, resume=True)


def test_an_unknown_dev_label(tmp_path):
    with pytest.raises(ValueError, match="'9'"):
        training.train(
            "lin2017_yelp",
            reviews(20, 1),
            [("fine", "9")],
            tmp_path / "x",
            model_overrides=SMALL,
            verbose=0,
        )


def write_vectors(path, words):
    lines = [f"{word} {i}.0 0.5 -1.0" for i, word in enumerate(words)]
    path.write_text("\n".join(lines) + "\n")


WITHOUT_WIDTH = {k: v for k, v in SMALL.items() if k != "embedding_dim"}


def test_vectors_of_another_width(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    with pytest.raises(ValueError, match="have 3 numbers.*embedding_dim=8"):
        train(tmp_path / "run", vectors=tmp_path / "vectors.txt")
    assert not (tmp_path / "run").exists()


def test_pretrained_vectors_are_in_the_table(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was", "unseen"])
    model = train(
        tmp_path / "run",
        vectors=tmp_path / "vectors.txt",
        training_overrides={"epochs": 1, "batch_size": 96, "min_count": None},
        model_overrides={**WITHOUT_WIDTH, "trainable_embeddings": False},
    )
    words = model.preprocessor.get_vocabulary()
    assert sorted(words) == ["", "[UNK]", "food", "was"]
    table = array(model.get_layer("word_vectors").embeddings)
    np.testing.assert_allclose(table[words.index("was")], [1.0, 0.5, -1.0])
    assert model.get_layer("word_vectors").trainable_weights == []


FIXED = {**WITHOUT_WIDTH, "trainable_embeddings": False}


def test_fixed_vectors_are_not_in_the_checkpoint(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    arguments = {
        "vectors": tmp_path / "vectors.txt",
        "model_overrides": FIXED,
        "training_overrides": {"epochs": 1, "batch_size": 96},
    }
    model = train(tmp_path / "run", **arguments)
    shapes = [array.shape for array in final_weights(tmp_path / "run")]
    assert model.get_layer("word_vectors").embeddings.shape not in shapes
    arguments["training_overrides"] = {"epochs": 2, "batch_size": 96}
    train(tmp_path / "whole", **arguments)
    train(tmp_path / "run", resume=True, **arguments)
    assert_same_run(tmp_path / "whole", tmp_path / "run")
    arguments["training_overrides"] = {"epochs": 3, "batch_size": 96}
    write_vectors(tmp_path / "vectors.txt", ["was", "food"])
    with pytest.raises(ValueError, match="the word vectors it was started"):
        train(tmp_path / "run", resume=True, **arguments)


def test_words_without_a_pretrained_vector_get_an_induced_one(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was", "the"])
    arguments = {
        "vectors": tmp_path / "vectors.txt",
        "model_overrides": FIXED,
        "training_overrides": {
            "epochs": 2,
            "batch_size": 96,
            "induce_vectors": True,
        },
    }
    model = train(tmp_path / "run", **arguments)
    table = array(model.get_layer("word_vectors").embeddings)
    words = model.preprocessor.get_vocabulary()
    known = [words.index(word) for word in ("food", "was", "the")]
    # As `write_vectors` has them.
    np.testing.assert_allclose(
        table[known], [[0, 0.5, -1], [1, 0.5, -1], [2, 0.5, -1]]
    )
    length = np.sqrt(np.square(table[known]).sum(1).mean())
    assert len(table) > 20
    np.testing.assert_allclose(
        np.linalg.norm(np.delete(table, [0, 1, *known], 0), axis=1),
        length,
        rtol=1e-5,
    )
    # All known vectors share two numbers, so the others have them too.
    assert (table[2:, 2] < 0).all()

    # Induced again, they are the same.
    arguments["training_overrides"]["epochs"] = 3
    train(tmp_path / "whole", **arguments)
    train(tmp_path / "run", resume=True, **arguments)
    assert_same_run(tmp_path / "whole", tmp_path / "run")


def test_vectors_are_not_induced_from_none(tmp_path):
    with pytest.raises(ValueError, match="`induce_vectors` takes a file of"):
        train(tmp_path / "run", training_overrides={"induce_vectors": True})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("trainable", [False, True])
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad"])
def test_fixed_vectors_cost_no_state_and_no_gradient(trainable, optimizer):
    preset = models.get_preset("parikh2016_snli")
    model = models.from_preset(
        "parikh2016_snli",
        vocabulary_size=11,
        num_classes=3,
        embedding_dim=7,
        projection_dim=5,
        trainable_embeddings=trainable,
    )
    training.compile_model(
        model,
        {
            **{k: preset.training[k] for k in ("batch_size", "epochs")},
            "optimizer": optimizer,
            "learning_rate": 0.1,
            **({"momentum": 0.9} if optimizer == "sgd" else {}),
        },
    )
    table = model.get_layer("word_vectors").embeddings
    model.optimizer.build(model.trainable_variables)
    shapes = [variable.shape for variable in model.optimizer.variables]
    assert (table.shape in shapes) == trainable
    if keras.backend.backend() != "tensorflow":
        return
    ids = np.array([[1, 2, 3], [4, 5, 0]], "int32")
    inputs = {"premise_token_ids": ids, "hypothesis_token_ids": ids}

    @tf.function
    def step():
        return model.train_step((inputs, np.array([0, 1])))

    graph = step.get_concrete_function().graph
    (captured,) = [
        inner for outer, inner in graph.captures if outer is table.value.handle
    ]
    readers = {op.type for op in captured.consumers()}
    assert (readers <= {"ResourceGather", "ReadVariableOp"}) != trainable
    # What neither an output nor an update needs is never run.
    needed = {*graph.control_outputs, *(out.op for out in graph.outputs)}
    ahead = list(needed)
    while ahead:
        op = ahead.pop()
        before = {*op.control_inputs, *(tensor.op for tensor in op.inputs)}
        ahead.extend(before - needed)
        needed |= before
    # A gradient of the vectors would be as wide as they are.
    gradients = [
        op.name
        for op in needed
        if "gradient" in op.name
        and any(out.shape.rank and out.shape[-1] == 7 for out in op.outputs)
    ]
    assert bool(gradients) == trainable


@pytest.mark.parametrize(
    "min_count, words",
    [
        (None, {"the", "unlucky"}),
        (2, {"the", "unlucky", "was"}),
        (1, {"the", "unlucky", "was", "once"}),
    ],
)
def test_words_without_a_vector_that_get_one(tmp_path, min_count, words):
    write_vectors(tmp_path / "vectors.txt", ["the", "unlucky", "unseen"])
    texts = [("the unlucky was", "a"), ("once was the", "b")]
    preprocessor, (table, has_vector) = training.make_preprocessor(
        texts,
        {"lowercase": True, "max_tokens": 9, "min_count": min_count},
        tmp_path / "vectors.txt",
        {},
    )
    vocabulary = preprocessor.get_vocabulary()
    assert set(vocabulary[2:]) == words
    found = {vocabulary[row] for row in np.flatnonzero(has_vector)}
    assert found == {"the", "unlucky"}
    assert table.shape == (len(vocabulary), 3)


def test_a_word_that_occurs_once_has_no_vector_of_its_own():
    texts = [("the unlucky was", "a"), ("once was the", "b")]
    values = {"lowercase": True, "max_tokens": 9}
    preprocessor, _ = training.make_preprocessor(texts, values, None, {})
    assert set(preprocessor.get_vocabulary()[2:]) == {"the", "was"}


def test_all_vectors_are_of_length_1_where_the_preset_has_it(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["a", "."])
    model = train_pairs(
        tmp_path / "run", tmp_path / "vectors.txt", embedding_dim=3
    )
    table = array(model.get_layer("word_vectors").embeddings)
    lengths = np.linalg.norm(table, axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    row = model.preprocessor.get_vocabulary().index(".")
    np.testing.assert_allclose(table[row], [2 / 3, 1 / 3, -2 / 3], rtol=1e-5)


@pytest.mark.parametrize("name", paper_values.ROWS)
def test_the_values_of_a_paper_reach_the_optimizer(name):
    _, _, expected, _ = paper_values.ROWS[name]
    model = tiny_classifier()
    training.compile_model(model, models.get_preset(name).training)
    optimizer = model.optimizer
    assert type(optimizer).__name__.lower().endswith(expected["optimizer"])
    config = optimizer.get_config()
    np.testing.assert_allclose(
        config["learning_rate"], expected["learning_rate"], rtol=1e-6
    )
    accumulator = expected.get("initial_accumulator_value")
    if accumulator is not None:
        assert config["initial_accumulator_value"] == accumulator
    for argument in ("global_clipnorm", "clipnorm", "clipvalue"):
        assert config[argument] == expected.get(argument), argument
    assert config["weight_decay"] is None


def test_arguments_of_the_optimizer_are_training_values():
    preset = models.get_preset("lin2017_yelp")
    values = training.training_values(preset, {"momentum": 0.9})
    assert values["momentum"] == 0.9
    assert training.is_training_value("initial_accumulator_value")
    assert not training.is_training_value("units")


def test_another_optimizer_takes_none_of_the_preset_s_arguments():
    preset = models.get_preset("parikh2016_snli")
    values = training.training_values(preset, {"optimizer": "adam"})
    assert "initial_accumulator_value" not in values
    assert values["prepend_null"] is True
    # Adam's own, as Keras has it; 0.05 is the preset's for Adagrad.
    assert values["learning_rate"] == 0.001
    given = {"optimizer": "adam", "learning_rate": 0.05}
    values = training.training_values(preset, given)
    assert values["learning_rate"] == 0.05
    same = training.training_values(preset, {"optimizer": "adagrad"})
    assert same["initial_accumulator_value"] == 0.1
    assert same["learning_rate"] == 0.05


def train_pairs(folder, vectors=None, **model_overrides):
    pairs = [
        ((p.premise, p.hypothesis), p.label) for p in generate_pairs(64, seed=0)
    ]
    return training.train(
        "parikh2016_snli",
        pairs[:48],
        pairs[48:],
        folder,
        vectors,
        model_overrides={
            "embedding_dim": 6,
            "projection_dim": 5,
            **model_overrides,
        },
        training_overrides={"epochs": 1, "batch_size": 16},
        verbose=0,
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

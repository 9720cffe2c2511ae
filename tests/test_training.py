import itertools
import json
import os
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews

SMALL = {
    "embedding_dim": 8,
    "units": 6,
    "attention_dim": 5,
    "num_heads": 2,
    "attention_penalty": 0.01,
    "hidden_units": 8,
}


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
    """The weights after the last epoch, in name order."""
    import h5py

    arrays = {}
    with h5py.File(folder / "checkpoint" / "state.weights.h5") as file:
        file.visititems(
            lambda name, node: (
                arrays.update({name: node[()]})
                if isinstance(node, h5py.Dataset)
                else None
            )
        )
    return arrays


def assert_same_run(one, other):
    first, second = final_weights(one), final_weights(other)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], name)
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
    answers = model(model.preprocess(texts)).numpy().argmax(axis=-1)
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
    kernels = [name for name, array in one.items() if array.ndim > 1]
    assert kernels
    assert all((one[name] != other[name]).any() for name in kernels)


def test_a_resumed_run_ends_as_the_uninterrupted_one(run, tmp_path):
    folder = tmp_path / "resumed"
    short = {"epochs": 1, "batch_size": 16}
    train(folder, training_overrides=short)
    # Whatever ran in between must not matter.
    keras.utils.set_random_seed(99)
    train(folder, resume=True)
    assert_same_run(run[0], folder)


KILLED = """
import sys
import keras
from tests.test_training import train

class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("step", flush=True)

train(sys.argv[1], callbacks=[Slow()])
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
    with pytest.raises(ValueError, match="'momentum'"):
        train(tmp_path / "x", training_overrides={"momentum": 0.9})


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
        training_overrides={"epochs": 1, "batch_size": 96},
        model_overrides={**WITHOUT_WIDTH, "trainable_embeddings": False},
    )
    words = model.preprocessor.get_vocabulary()
    assert sorted(words) == ["", "[UNK]", "food", "was"]
    table = model.get_layer("word_vectors").embeddings.numpy()
    np.testing.assert_allclose(table[words.index("was")], [1.0, 0.5, -1.0])
    assert model.get_layer("word_vectors").trainable_weights == []


def test_tuned_vectors_leave_room_for_frequent_words(tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    model = train(
        tmp_path / "run",
        vectors=tmp_path / "vectors.txt",
        model_overrides=WITHOUT_WIDTH,
        training_overrides={"epochs": 1, "batch_size": 96},
    )
    assert len(model.preprocessor.get_vocabulary()) > 50


def test_pairs(tmp_path):
    from keras_selfattn.data.generated_pairs import generate_pairs

    pairs = [
        ((p.premise, p.hypothesis), p.label) for p in generate_pairs(64, seed=0)
    ]
    model = training.train(
        "parikh2016_snli",
        pairs[:48],
        pairs[48:],
        tmp_path / "run",
        model_overrides={"embedding_dim": 6, "projection_dim": 5},
        training_overrides={"epochs": 1, "batch_size": 16},
        verbose=0,
    )
    assert isinstance(model, models.DecomposableClassifier)
    inputs = model.preprocess([("A dog .", "It runs .")])
    null = model.preprocessor.get_vocabulary().index("[NULL]")
    assert inputs["premise_token_ids"].numpy()[0, 0] == null
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

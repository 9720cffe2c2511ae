import itertools
import json
import os
import shutil
import signal
import subprocess
import sys

import keras
import pytest

from keras_selfattn import training
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.training.variables import build_metrics
from keras_selfattn.training.variables import metric_variables
from tests.backend import tensorflow_only
from tests.tiny_classifier import tiny_classifier
from tests.training.small import FIXED
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import final_weights
from tests.training.small import reviews
from tests.training.small import train
from tests.training.small import train_pairs
from tests.training.small import write_vectors


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


def test_a_resumed_run_ends_as_the_uninterrupted_one(run, tmp_path):
    folder = tmp_path / "resumed"
    short = {"epochs": 1, "batch_size": 16}
    train(folder, training_overrides=short)
    # Whatever ran in between must not matter.
    keras.utils.set_random_seed(99)
    train(folder, resume=True)
    assert_same_run(run[0], folder)


@pytest.mark.slow
def test_a_model_of_many_dropouts_is_resumed_to_the_same_weights(tmp_path):
    train_pairs(tmp_path / "whole", epochs=2)
    train_pairs(tmp_path / "stopped")
    keras.utils.set_random_seed(99)
    train_pairs(tmp_path / "stopped", epochs=2, resume=True)
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


class Stop(keras.callbacks.Callback):
    """Stands for a process that is killed after so many batches of an epoch."""

    def __init__(self, epoch, batches):
        super().__init__()
        self.place = epoch, batches

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch + 1) == self.place:
            raise KeyboardInterrupt


def stopped_within(folder, epoch, batches, **changes):
    with pytest.raises(KeyboardInterrupt):
        train(
            folder,
            callbacks=[Stop(epoch, batches)],
            # Whenever batches have been.
            checkpoint_minutes=1e-9,
            **changes,
        )
    state = json.loads((folder / "checkpoint" / "state.json").read_text())
    return len(state["history"]), state.get("batches", 0)


@pytest.mark.slow
def test_a_run_that_scales_its_loss_goes_on_within_an_epoch(tmp_path):
    changes = {
        "model_overrides": {
            **SMALL,
            "encoder": "cnn",
            "dtype": "mixed_float16",
        },
        "training_overrides": {
            "epochs": 2,
            "batch_size": 16,
            "steps_per_execution": 1,
        },
    }
    train(tmp_path / "whole", **changes)
    folder = tmp_path / "parts"
    assert stopped_within(folder, 0, 2, **changes) == (0, 2)
    train(folder, **changes, resume=True)
    assert_same_run(tmp_path / "whole", folder)


@pytest.mark.slow
def test_a_run_goes_on_within_an_epoch(tmp_path, capsys):
    # On TensorFlow and JAX, two of the six batches at once; dropout, averages,
    # and a figure that is no mean of those of the batches.
    changes = {
        "model_overrides": {**SMALL, "encoder": "cnn", "dropout": 0.5},
        "training_overrides": {
            "epochs": 2,
            "batch_size": 16,
            "optimizer": "adam",
            "ema_momentum": 0.9,
            "monitor": "macro_f1",
            "decay_epochs": 3,
            "steps_per_execution": 1
            if keras.backend.backend() == "torch"
            else 2,
        },
    }
    train(tmp_path / "whole", **changes)
    folder = tmp_path / "parts"
    changes["verbose"] = 2
    assert stopped_within(folder, 0, 2, **changes) == (0, 2)
    keras.utils.set_random_seed(99)
    # Counted from where it goes on.
    assert stopped_within(folder, 1, 4, **changes, resume=True) == (1, 4)
    keras.utils.set_random_seed(99)
    train(folder, **changes, resume=True)
    assert_same_run(tmp_path / "whole", folder)
    shown = capsys.readouterr().out.splitlines()
    epochs = [line for line in shown if line.startswith("Epoch ")]
    assert epochs == ["Epoch 1/2", "Epoch 1/2", "Epoch 2/2", "Epoch 2/2"]


def test_a_checkpoint_within_an_epoch(tmp_path):
    model = tiny_classifier()
    model.compile(
        "sgd", "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    checksums = {"data": 1, "texts": 2}
    run = training.Run(tmp_path / "run", settings={})
    run.start()
    run.restore(model, checksums)
    build_metrics(model)
    for variable in metric_variables(model):
        variable.assign(variable + 5)
    run.keep_batches(model, 3)
    resumed = training.Run(tmp_path / "run", settings={}, resume=True)
    assert (resumed.history, resumed.batches) == ([], 3)
    model.reset_metrics()
    resumed.restore(model, checksums)
    resumed.restore_epoch(model)
    assert [float(v) for v in metric_variables(model)] == [5.0] * 4
    with pytest.raises(
        FloatingPointError, match="what batch 3 of epoch 1 has left is in .*run"
    ):
        resumed.check_finite(float("nan"), "here")
    path = tmp_path / "run" / "checkpoint" / "state.json"
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "batches": "many"}))
    with pytest.raises(ValueError, match="is not the state of a run"):
        training.Run(tmp_path / "run", {}, resume=True, verify=False)


@pytest.mark.parametrize("minutes", [0, -1, True, "5", float("nan")])
def test_minutes_that_can_not_be(tmp_path, minutes):
    with pytest.raises(ValueError, match="`checkpoint_minutes` must be a numb"):
        train(tmp_path / "run", checkpoint_minutes=minutes)
    assert not (tmp_path / "run").exists()


KILLED = """
import sys
import keras
from tests.training.small import train

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


def test_half_the_data_of_a_killed_run_are_not_used(run, tmp_path):
    folder = tmp_path / "killed"
    (folder / "data" / "train").mkdir(parents=True)
    (folder / "data" / "train" / "labels.npy").write_text("half")
    train(folder)
    assert_same_run(run[0], folder)
    (folder / "data").mkdir()
    train(folder, resume=True)
    assert not (folder / "data").exists()


def test_a_model_that_was_being_replaced_is_put_back(run, tmp_path):
    folder = tmp_path / "killed"
    shutil.copytree(run[0], folder)
    # As where it was killed between two renamings.
    (folder / "model").rename(folder / ".model.old")
    train(folder, resume=True)
    assert_same_run(run[0], folder)
    assert (folder / "model" / "vocabulary.txt").exists()
    assert not (folder / ".model.old").exists()


def test_a_run_that_does_not_start_leaves_nothing_behind(tmp_path):
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "a" / "run", vectors=tmp_path / "missing.txt")
    assert list(tmp_path.iterdir()) == []


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
    before = files_of(run[0])
    with pytest.raises(ValueError, match="the texts it was started with"):
        training.train(
            "lin2017_yelp",
            train_texts,
            dev_texts,
            run[0],
            resume=True,
            model_overrides=SMALL,
            training_overrides={"epochs": 3, "batch_size": 16, "patience": 3},
            verbose=0,
        )
    assert files_of(run[0]) == before


def files_of(folder):
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def checkpoint_of(run, folder, forget=(), **changes):
    """A copy of a run whose checkpoint has another state."""
    shutil.copytree(run[0], folder)
    (folder / "checkpoint" / CHECKSUMS_FILE).unlink()
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

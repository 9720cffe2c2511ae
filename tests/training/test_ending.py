import csv
import json
import shutil

import keras
import numpy as np
import pytest

from keras_selfattn import training
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.models import from_preset
from keras_selfattn.training import checkpoint
from keras_selfattn.training.ending import best_epoch
from keras_selfattn.training.ending import is_over
from keras_selfattn.training.ending import read_history
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import reviews
from tests.training.small import train

LOGS = [
    {"val_accuracy": 0.5, "val_macro_f1": 0.2, "val_loss": 0.9},
    {"val_accuracy": 0.7, "val_macro_f1": 0.1, "val_loss": float("nan")},
    {"val_accuracy": 0.7, "val_macro_f1": 0.3, "val_loss": 0.8},
    {"val_accuracy": 0.6, "val_macro_f1": 0.3, "val_loss": 0.85},
]
PATIENCE = {"patience": 2}


@pytest.mark.parametrize(
    "monitor,best", [("accuracy", 2), ("macro_f1", 3), ("loss", 3)]
)
def test_the_first_of_the_best_epochs(monitor, best):
    assert best_epoch(LOGS, {"monitor": monitor}) == best
    assert best_epoch([], {}) == 0


def test_a_figure_that_is_no_number_is_replaced():
    assert best_epoch(LOGS[1:], {"monitor": "loss"}) == 2


def test_patience_counts_epochs_without_a_better_one():
    values = {"epochs": 9, **PATIENCE}
    assert [is_over(LOGS[:n], values) for n in range(5)] == [False] * 4 + [True]
    assert not is_over(LOGS, {"epochs": 9})
    assert is_over(LOGS, {"epochs": 4})


def values(**more):
    # A rate at which the first epochs are the best ones soon.
    return {"epochs": 6, "batch_size": 16, "learning_rate": 0.5, **more}


@pytest.mark.slow
def test_patience_ends_a_run_and_its_resumption_is_the_same(tmp_path):
    folder = tmp_path / "whole"
    train(folder, training_overrides=values(patience=1))
    history = read_history(folder)
    assert 1 < len(history) < 6
    assert best_epoch(history, {}) == len(history) - 1
    train(tmp_path / "cut", training_overrides=values(epochs=1, patience=1))
    train(tmp_path / "cut", training_overrides=values(patience=1), resume=True)
    assert_same_run(folder, tmp_path / "cut")
    # It is over; with more patience it goes on.
    train(folder, training_overrides=values(patience=1), resume=True)
    assert read_history(folder) == history
    train(folder, training_overrides=values(), resume=True)
    assert len(read_history(folder)) == 6


def test_the_best_epoch_by_macro_f1(tmp_path):
    model = train(
        tmp_path / "run", training_overrides=values(monitor="macro_f1")
    )
    history = read_history(tmp_path / "run")
    record = model.training_record
    best = max(logs["val_macro_f1"] for logs in history)
    assert record["dev_macro_f1"] == best
    assert history[record["epoch"] - 1]["val_macro_f1"] == best
    from keras_selfattn.evaluation import evaluate

    assert evaluate(model, reviews(40, 2)).macro_f1 == pytest.approx(best)


def test_a_checkpoint_that_is_dropped(tmp_path):
    folder = tmp_path / "run"
    short = {"epochs": 1, "batch_size": 16}
    train(folder, training_overrides=short, keep_checkpoint=False)
    assert not (folder / "checkpoint").exists()
    again = train(folder, training_overrides=short, resume=True)
    for one, other in zip(
        again.get_weights(), from_preset(folder).get_weights(), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="finished.*--keep-checkpoint"):
        train(folder, resume=True)
    with pytest.raises(ValueError, match="other values of: seed"):
        train(folder, training_overrides=short, resume=True, seed=3)


def test_a_run_without_a_checkpoint_that_is_not_finished_begins_anew(tmp_path):
    folder = tmp_path / "run"
    train(folder, training_overrides={"epochs": 3, "batch_size": 16})
    with open(folder / "history.csv") as file:
        rows = list(csv.reader(file))
    shutil.rmtree(folder / "checkpoint")
    (folder / CHECKSUMS_FILE).unlink()
    with open(folder / "history.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows[:2])
    train(folder, resume=True)
    assert len(read_history(folder)) == 3


def test_a_run_that_lost_its_patience_is_over_with_as_much_alone(tmp_path):
    patient, hasty = ({"training": {"epochs": 9, **p}} for p in ({}, PATIENCE))
    training.write_settings(tmp_path / training.SETTINGS_FILE, hasty)
    training.write_history(tmp_path, LOGS)
    assert training.Run(tmp_path, hasty, resume=True).is_finished
    with pytest.raises(ValueError, match="finished.*--keep-checkpoint"):
        training.Run(tmp_path, patient, resume=True)


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = True


def test_a_run_that_a_callback_has_ended_does_not_begin_anew(tmp_path):
    folder = tmp_path / "run"
    model = train(folder, callbacks=[Stop()], keep_checkpoint=False)
    assert not (folder / training.DATA_FOLDER).exists()
    before = (folder / "history.csv").read_text()
    again = train(folder, resume=True)
    assert (folder / "history.csv").read_text() == before
    assert again.training_record == model.training_record
    more = {"epochs": 4, "batch_size": 16}
    with pytest.raises(ValueError, match="finished.*--keep-checkpoint"):
        train(folder, training_overrides=more, resume=True)


def test_a_checkpoint_whose_removal_is_cut_off(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    short = {"epochs": 1, "batch_size": 16}

    def cut_off(removed):
        (removed / "variables.npz").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "remove_folder", cut_off)
        with pytest.raises(KeyboardInterrupt):
            train(folder, training_overrides=short, keep_checkpoint=False)
    assert (folder / "checkpoint").exists()
    train(folder, training_overrides=short, keep_checkpoint=False, resume=True)
    assert not (folder / "checkpoint").exists()


def test_balanced_classes(tmp_path):
    texts = [("good", "1")] * 60 + [("bad", "2")] * 4
    figures = {}
    for weight in (None, "balanced"):
        training.train(
            "lin2017_yelp",
            texts,
            texts,
            tmp_path / str(weight),
            model_overrides=SMALL,
            training_overrides={
                "epochs": 1,
                "batch_size": 64,
                "class_weight": weight,
            },
            verbose=0,
        )
        settings = json.loads(
            (tmp_path / str(weight) / "settings.json").read_text()
        )
        assert settings["training"]["class_weight"] == weight
        figures[weight] = read_history(tmp_path / str(weight))[0]["loss"]
    model = from_preset(tmp_path / "None")
    assert model.labels == ["1", "2"]
    # The same seed gives the same figures to the last digit otherwise.
    assert figures["balanced"] != figures[None]

import keras
import numpy as np
import pytest

from keras_selfattn import training
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.training import kept_texts
from tests.training.small import FIXED
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import reviews
from tests.training.small import train
from tests.training.small import write_vectors


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise KeyboardInterrupt


def stopped(folder, **changes):
    with pytest.raises(KeyboardInterrupt):
        train(folder, callbacks=[Stop()], **changes)
    return folder


def encoded(monkeypatch):
    """A list that gets an entry whenever texts are encoded."""
    calls = []
    encode = EncodedDataset.from_texts

    def from_texts(*arguments, **named):
        calls.append(arguments)
        return encode(*arguments, **named)

    monkeypatch.setattr(EncodedDataset, "from_texts", from_texts)
    return calls


def test_a_run_that_goes_on_does_not_encode_again(run, tmp_path, monkeypatch):
    folder = stopped(tmp_path / "run")
    calls = encoded(monkeypatch)
    train(folder, resume=True)
    assert not calls
    assert_same_run(run[0], folder)
    assert not (folder / training.DATA_FOLDER).exists()


def test_word_vectors_are_kept(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["the", "good", "bad", "food", "was"])
    changes = {
        "vectors": path,
        "model_overrides": FIXED,
        "training_overrides": {
            "epochs": 2,
            "batch_size": 16,
            "induce_vectors": True,
        },
    }
    train(tmp_path / "whole", **changes)
    folder = stopped(tmp_path / "run", **changes)
    train(folder, **changes, resume=True)
    assert_same_run(tmp_path / "whole", folder)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("texts.json", b"{}"),
        pytest.param("texts.json", b"half", marks=pytest.mark.slow),
        pytest.param("dev/labels.npy", b"half", marks=pytest.mark.slow),
    ],
)
def test_what_is_damaged_is_encoded_again(
    run, tmp_path, monkeypatch, name, found
):
    folder = stopped(tmp_path / "run")
    (folder / training.DATA_FOLDER / name).write_bytes(found)
    calls = encoded(monkeypatch)
    train(folder, resume=True)
    assert len(calls) == 2
    assert_same_run(run[0], folder)


def test_other_texts_are_refused(tmp_path, monkeypatch):
    folder = stopped(tmp_path / "run")
    calls = encoded(monkeypatch)
    with pytest.raises(ValueError, match="with the texts it was started with"):
        training.train(
            "lin2017_yelp",
            reviews(96, 1)[::-1],
            reviews(40, 2),
            folder,
            resume=True,
            model_overrides=SMALL,
            training_overrides={"epochs": 3, "batch_size": 16},
        )
    # What there is of its own texts stays.
    train(folder, resume=True)
    assert not calls


@pytest.mark.slow
def test_what_a_run_that_had_not_begun_has_left_is_not_used(tmp_path):
    stopped(
        tmp_path / "other", training_overrides={"epochs": 3, "min_count": 9}
    )
    data = training.DATA_FOLDER
    (tmp_path / "run").mkdir()
    (tmp_path / "other" / data).rename(tmp_path / "run" / data)
    train(tmp_path / "run")
    train(tmp_path / "whole")
    assert_same_run(tmp_path / "whole", tmp_path / "run")


def test_a_run_that_has_not_begun_keeps_nothing(tmp_path):
    with pytest.raises(ValueError, match="units"):
        train(tmp_path / "run", model_overrides={"units": -1})
    assert not (tmp_path / "run").exists()


def test_labels_and_vectors_are_those_of_the_texts(tmp_path):
    rows = [("a b", 2), ("b c", 10), ("c a b", 2)]
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["a", "c"])
    arguments = (
        tmp_path / "kept",
        "lin2017_yelp",
        rows,
        rows[:2],
        {"lowercase": True},
        {},
    )
    made, kept = (
        kept_texts.kept_or_prepared(*arguments, vectors=path) for _ in range(2)
    )
    for texts in (made, kept):
        assert texts.train_data.label_names == [2, 10]
        assert len(texts.dev_data) == 2
    assert kept.checksums() == made.checksums()
    assert kept.arguments == made.arguments
    for one, other in zip(kept.vectors, made.vectors, strict=True):
        np.testing.assert_array_equal(one, other)

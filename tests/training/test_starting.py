import json

import keras
import numpy as np
import pytest

from keras_selfattn import cli
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews
from tests.tiny_classifier import tiny_classifier

ROWS = [
    (review.text, "good" if review.label > "3" else "bad")
    for review in generate_reviews(60, seed=3)
]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A model, and the path of its folder."""
    model = tiny_classifier(vocabulary=("the", "was", "food", "."))
    folder = tmp_path_factory.mktemp("start") / "model"
    model.save_to_preset(folder)
    return model, folder


@pytest.fixture(scope="module")
def run(start, tmp_path_factory):
    """The folder of a run that started from it, by the command."""
    folder = tmp_path_factory.mktemp("run")
    lines = [json.dumps({"text": t, "label": label}) for t, label in ROWS]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    arguments = [
        "train",
        str(folder / "rows.jsonl"),
        "--dev-fraction=0.2",
        f"--from={start[1]}",
        "--freeze=word_vectors",
        "--freeze=encoder",
        "--freeze=pooling",
        "--epochs=1",
        "--optimizer=adam",
        "--set=min_count=1",
        f"--output={folder / 'run'}",
    ]
    assert cli.main(arguments) == 0
    return folder / "run"


def group(model, name):
    return [
        weight
        for layer in model.layers
        if model.group_of(layer) == name
        for weight in layer.get_weights()
    ]


def test_frozen_groups_stay_and_the_others_learn(start, run):
    model, trained = start[0], models.from_preset(run)
    assert trained.labels == ["bad", "good"]
    known = model.preprocessor.vocabulary_size()
    words = group(trained, "word vectors")[0]
    np.testing.assert_array_equal(
        words[:known], group(model, "word vectors")[0]
    )
    for name in ("encoder", "pooling"):
        for before, after in zip(
            group(model, name), group(trained, name), strict=True
        ):
            np.testing.assert_array_equal(before, after)
    first, trained_first = (
        group(model, "classifier"),
        group(trained, "classifier"),
    )
    assert np.abs(first[0] - trained_first[0]).max() > 0


def test_new_words_have_ids_and_vectors(start, run):
    trained = models.from_preset(run)
    old = start[0].preprocessor.get_vocabulary()
    new = trained.preprocessor.get_vocabulary()
    assert new[: len(old)] == old
    assert len(new) > len(old) + 50
    # Predicted from known ones, they have the length of these.
    lengths = np.linalg.norm(group(trained, "word vectors")[0], axis=1)
    usual = np.sqrt(np.square(lengths[2 : len(old)]).mean())
    np.testing.assert_allclose(lengths[len(old) :], usual, rtol=1e-4)


def test_a_run_says_what_it_started_from(start, run):
    settings = json.loads((run / "settings.json").read_text())
    assert settings["from"] == str(start[1])
    assert settings["freeze"] == ["word vectors", "encoder", "pooling"]
    assert settings["preset"] == "lin2017_yelp"
    assert settings["model"]["units"] == 4
    assert settings["training"]["lowercase"] is False
    card = (run / "model" / "README.md").read_text()
    assert f"Its training started from `{start[1]}`." in card


@pytest.mark.slow
def test_a_stopped_run_goes_on_as_if_it_had_not(start, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise KeyboardInterrupt

    def train(name, **more):
        return training.train(
            None,
            ROWS[:40],
            ROWS[40:],
            tmp_path / name,
            start=start[1],
            freeze=["pooling"],
            model_overrides={"encoder_dropout": 0.2},
            training_overrides={"optimizer": "adam", "epochs": 2},
            verbose=0,
            **more,
        )

    whole = train("whole")
    with pytest.raises(KeyboardInterrupt):
        train("stopped", callbacks=[Stop()])
    resumed = train("stopped", resume=True)
    for one, other in zip(
        whole.get_weights(), resumed.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"freeze": ["words"]}, "`freeze` must name groups.*'words'"),
        ({"vectors": "x.txt"}, "`vectors` must be None with `start`"),
        ({"model_overrides": {"units": 9}}, "other shapes"),
        ({"preset": "lin2017_yelp"}, "`preset` must be None with `start`"),
        ({"start": "large"}, "neither a preset nor a folder"),
        ({"start": None, "freeze": ["encoder"]}, "`freeze` .* is for layers"),
        ({"start": None}, "`preset` must be the name of a preset"),
    ],
)
def test_what_cannot_be(start, tmp_path, arguments, message):
    arguments = {"preset": None, "start": start[1], **arguments}
    with pytest.raises(ValueError, match=message):
        training.train(
            train_texts=ROWS,
            dev_texts=ROWS,
            folder=tmp_path / "run",
            training_overrides={"epochs": 1},
            **arguments,
        )
    assert not (tmp_path / "run" / "model").exists()


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 4},
        {"lowercase": True},
        {"prepend_null": True},
        {"num_oov_indices": 5},
        {"normalize_vectors": True},
        {"learn_vectors": 5},
    ],
)
def test_texts_are_read_as_the_model_reads_them(start, tmp_path, value):
    (name,) = value
    with pytest.raises(ValueError, match=f"`{name}` must be that of the model"):
        training.train(
            None,
            ROWS,
            ROWS,
            tmp_path / "run",
            start=start[1],
            training_overrides={"epochs": 1, **value},
        )
    assert not (tmp_path / "run").exists()


def test_a_model_that_is_not_there_is_one_line(tmp_path, capsys):
    arguments = ["train", "x", "--dev=x", "--from=large", "--output=x"]
    assert cli.main(arguments) == 2
    assert "nor a trained model of that name" in capsys.readouterr().err

"""Classifiers whose sizes follow from their preprocessor and labels."""

import pytest

from keras_selfattn import models
from keras_selfattn.text import TextPreprocessor

SMALL = {
    "SentenceClassifier": {"units": 3, "pooling": "max", "hidden_units": 4},
    "SentencePairClassifier": {
        "units": 3,
        "pooling": "max",
        "hidden_units": 4,
        "interaction_units": 3,
    },
    "DecomposableClassifier": {
        "projection_dim": 4,
        "attend_units": [5],
        "compare_units": [6],
        "aggregate_units": [7],
    },
}
LABELS = ["no", "maybe", "yes"]


def words(**changes):
    return TextPreprocessor(["a", "dog", "cat"], **changes)


def make(class_name="SentenceClassifier", **changes):
    arguments = {"embedding_dim": 4, **SMALL[class_name], **changes}
    return getattr(models, class_name)(**arguments)


@pytest.mark.parametrize("class_name", SMALL)
def test_sizes_follow(class_name):
    preprocessor = words()
    model = make(class_name, preprocessor=preprocessor, labels=LABELS)
    config = model.get_config()
    assert config["vocabulary_size"] == 5
    assert config["num_classes"] == 3
    assert config["character_vocabulary_size"] is None
    assert model.preprocessor is preprocessor
    assert model.labels == LABELS


def test_characters_follow():
    model = make(preprocessor=words(characters="adgo"), labels=LABELS)
    assert model.get_config()["character_vocabulary_size"] == 6
    assert set(model.input) == {"token_ids", "char_ids"}


def test_sizes_that_agree_may_be_given():
    model = make(
        vocabulary_size=5, num_classes=3, preprocessor=words(), labels=LABELS
    )
    assert model.labels == LABELS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "`vocabulary_size` must be given, or follow from `preprocessor`"),
        ({"vocabulary_size": 5}, "`num_classes` must be given, or follow"),
        (
            {"preprocessor": words(), "labels": LABELS, "vocabulary_size": 6},
            "`vocabulary_size` must be that of `preprocessor`, 5. Received: "
            "vocabulary_size=6",
        ),
        (
            {"preprocessor": words(), "labels": LABELS, "num_classes": 2},
            "`num_classes` must be that of `labels`, 3",
        ),
        (
            {
                "preprocessor": words(),
                "labels": LABELS,
                "character_vocabulary_size": 9,
            },
            "takes a `preprocessor` with `characters`",
        ),
        ({"preprocessor": "words", "labels": LABELS}, "TextPreprocessor"),
        ({"preprocessor": TextPreprocessor(), "labels": LABELS}, "`adapt`"),
        ({"preprocessor": words(), "labels": "no"}, "a list of labels"),
        ({"preprocessor": words(), "labels": ["no", "no"]}, "that differ"),
    ],
)
def test_sizes_that_do_not(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


@pytest.mark.parametrize("name", ["lin2017_yelp", "chen2018_yelp"])
def test_presets(name):
    preprocessor = words(characters="adgo" if "chen" in name else None)
    changes = {"units": 3, "num_heads": 2, "attention_dim": 4}
    model = models.from_preset(
        name,
        preprocessor=preprocessor,
        labels=LABELS,
        **{**changes, "embedding_dim": 5, "hidden_units": 6},
    )
    assert model.predict(["a dog", "cats"], verbose=0).shape == (2, 3)
    assert model.labels == LABELS


def test_what_a_model_has_no_input_for_is_left_out():
    model = make(preprocessor=words(), labels=LABELS)
    model.preprocessor = words(characters="adgo")
    assert set(model.preprocess(["a dog"])) == {"token_ids"}


def test_a_folder_takes_labels_and_no_preprocessor(tmp_path):
    make(preprocessor=words(), labels=LABELS).save_to_preset(tmp_path / "m")
    with pytest.raises(ValueError, match="Received: more with the folder"):
        models.from_preset(tmp_path / "m", preprocessor=words())
    other = models.from_preset(tmp_path / "m", labels=["x", "y", "z", "w"])
    assert other.labels == ["x", "y", "z", "w"]
    assert other.output_shape == (None, 4)


def test_what_a_model_is_given_later_must_fit():
    model = make(preprocessor=words(), labels=LABELS)
    larger = TextPreprocessor(["a", "dog", "cat", "runs"])
    with pytest.raises(ValueError, match="`vocabulary_size`, 5.*of 6"):
        model.preprocessor = larger
    with pytest.raises(ValueError, match="`num_classes`, 3.*labels of 2"):
        model.labels = LABELS[:2]
    assert model.labels == LABELS
    assert model.preprocessor.vocabulary_size() == 5
    model = make(preprocessor=words(characters="adgo"), labels=LABELS)
    with pytest.raises(ValueError, match="`characters`. Received: .*=6"):
        model.preprocessor = words()
    assert model.preprocessor.characters is not None


def test_a_preset_folder_holds_what_can_be_loaded(tmp_path):
    model = make(preprocessor=words(), labels=LABELS)
    model.preprocessor = TextPreprocessor(["a", "dog"])
    with pytest.raises(ValueError, match="vocabulary_size.*that of"):
        model.save_to_preset(tmp_path / "model")

    class Own(models.SentenceClassifier):
        pass

    model = Own(labels=LABELS, vocabulary_size=5, **SMALL["SentenceClassifier"])
    with pytest.raises(ValueError, match="own classes. Received: a Own"):
        model.save_to_preset(tmp_path / "model")

    class Shouted(TextPreprocessor):
        pass

    model = make(preprocessor=Shouted(["a", "dog", "cat"]), labels=LABELS)
    with pytest.raises(ValueError, match="no code.* Received: a Shouted"):
        model.save_to_preset(tmp_path / "model")
    assert not list(tmp_path.iterdir())

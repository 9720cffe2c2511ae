"""What `train` and `prepare` take where they are told no settings."""

import json

import pytest

from keras_selfattn import models
from keras_selfattn import zoo
from keras_selfattn.cli import main
from keras_selfattn.cli.own_texts import INSTALLED_VECTORS
from keras_selfattn.cli.own_texts import known_share
from keras_selfattn.cli.own_texts import own_recipe
from keras_selfattn.data import open_corpus
from keras_selfattn.text import count_words
from keras_selfattn.zoo.shipped import shipped_words
from tests.cli.commands import SMALL
from tests.cli.commands import SMALL_PAIRS
from tests.cli.commands import write_titles

GERMAN = (
    ("Der Service war schrecklich und das Essen kam kalt an.", 1),
    ("Die Kellnerin war sehr nett, und wir haben gut gegessen.", 5),
    ("Ich gehe nie wieder in dieses Restaurant.", 1),
    ("Das Zimmer war sauber und das Bett sehr bequem.", 5),
)
# Without a width of its own for the word vectors.
NO_WIDTH = [each for each in SMALL if "embedding_dim" not in each]


def files(data):
    return [str(data / "train.jsonl"), f"--dev={data / 'dev.jsonl'}"]


def settings_of(run):
    return json.loads((run / "settings.json").read_text())


def given(data, output):
    columns = ["--text=review", "--label=stars"]
    return [*files(data), f"--output={output}", *columns]


def test_english_texts_take_the_installed_vectors(data, tmp_path, capsys):
    recipe = zoo.get_recipe("own_texts_vectors")
    assert main(["train", *given(data, tmp_path / "run"), *NO_WIDTH]) == 0
    said = capsys.readouterr().err
    assert "word vectors: those of reviews_structured" in said
    assert "99% of the words have one, and others are learned" in said
    settings = settings_of(tmp_path / "run")
    assert settings["vectors"] == INSTALLED_VECTORS
    assert settings["training"]["induce_vectors"] is True
    for name in ("ambiguity_penalty", "trainable_embeddings"):
        assert settings["model"][name] == recipe.model[name]
    model = models.from_preset(tmp_path / "run")
    installed = models.from_preset(INSTALLED_VECTORS)
    width = installed.get_layer("word_vectors").output_dim
    texts = open_corpus(data / "train.jsonl", text="review", label="stars")
    counts = count_words((text for text, _ in texts), lowercase=True)
    # One for five words that occur five times.
    learned = sum(count >= 5 for count in counts.values()) // 5
    assert 0 < learned < settings["training"]["learn_vectors"]
    assert model.get_layer("word_vectors").output_dim == width + learned

    # The same, prepared before.
    folder = tmp_path / "prepared"
    assert main(["prepare", *given(data, folder), *NO_WIDTH]) == 0
    assert "those of reviews_structured" in capsys.readouterr().err
    again = [str(folder), f"--output={tmp_path / 'again'}", *NO_WIDTH]
    assert main(["train", *again]) == 0
    assert settings_of(tmp_path / "again") == settings


@pytest.mark.slow
def test_pairs_take_them_too(data, tmp_path, capsys):
    write_titles(data, tmp_path, "Qzxv")
    pairs = files(tmp_path)
    columns = ["--text=review", "--text-pair=title", "--label=stars"]
    train = ["train", *pairs, *columns, *SMALL_PAIRS, "--epochs=1"]
    assert main([*train, f"--output={tmp_path / 'run'}"]) == 0
    said = capsys.readouterr().err
    assert "the words have one (--recipe own_pairs takes none)" in said
    # The titles, one of about a dozen words, have none.
    share = int(said.split("package; ")[1].split("%")[0])
    assert 60 < share < 98
    settings = settings_of(tmp_path / "run")
    recipe = zoo.get_recipe("own_pairs_vectors")
    assert settings["preset"] == recipe.preset
    assert settings["vectors"] == INSTALLED_VECTORS
    assert settings["training"]["induce_vectors"] is True
    assert settings["training"]["normalize_vectors"] is False
    assert settings["model"]["trainable_embeddings"] is False
    assert settings["model"]["exact_match"] is True
    assert settings["model"]["ngram_buckets"] == 2**18

    # The same, prepared before.
    folder = tmp_path / "prepared"
    prepare = ["prepare", *pairs, *columns, *SMALL_PAIRS, f"--output={folder}"]
    assert main(prepare) == 0
    again = tmp_path / "again"
    prepared = ["train", str(folder), *SMALL_PAIRS, "--epochs=1"]
    assert main([*prepared, f"--output={again}"]) == 0
    assert settings_of(again) == settings

    output = tmp_path / "own"
    assert main([*train, "--recipe=own_pairs", f"--output={output}"]) == 0
    assert settings_of(output)["vectors"] is None
    assert settings_of(output)["model"]["trainable_embeddings"] is True


def test_pairs_of_a_width_of_their_own_learn_their_own():
    english = [(("The food was good.", "The room was bad."), "3")]
    taken, vectors = own_recipe(english, None, {})
    assert taken == zoo.get_recipe("own_pairs_vectors")
    assert vectors == INSTALLED_VECTORS
    taken, vectors = own_recipe(english, None, {"embedding_dim": 5})
    assert (taken, vectors) == (zoo.get_recipe("own_pairs"), None)
    assert taken.model["trainable_embeddings"] is True


@pytest.mark.parametrize(
    "vectors, width, name, values",
    [
        (None, False, "own_texts", {}),
        (None, True, "own_texts", {}),
        (["a.txt"], False, "own_texts_vectors", {}),
        (["a.txt"], True, "own_texts_vectors", {"learn_vectors": 0}),
    ],
)
def test_vectors_and_width_that_are_given(vectors, width, name, values):
    overrides = {"embedding_dim": 5} if width else {}
    taken, given = own_recipe(GERMAN, vectors, overrides)
    assert given == vectors
    recipe = zoo.get_recipe(name)
    assert taken.model == recipe.model
    assert taken.training == {**recipe.training, **values}


def test_what_is_asked_for_goes_before_them(data, run, tmp_path, capsys):
    # The fixture's texts are English, with a width of its own.
    assert settings_of(run)["vectors"] is None
    output = tmp_path / "run"
    arguments = [*given(data, output), *NO_WIDTH, "--recipe=own_texts"]
    assert main(["train", *arguments]) == 0
    assert "word vectors:" not in capsys.readouterr().err
    assert settings_of(output)["vectors"] is None


def test_texts_of_other_languages_learn_their_own(tmp_path, capsys):
    for name in ("train", "dev"):
        rows = [{"review": text, "stars": label} for text, label in GERMAN]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    output = tmp_path / "run"
    assert main(["train", *given(tmp_path, output), *NO_WIDTH]) == 0
    assert "learned from the texts alone, as " in capsys.readouterr().err
    settings = settings_of(output)
    assert settings["vectors"] is None
    assert settings["model"]["character_cnn"] is False


@pytest.mark.parametrize(
    "text, share",
    [
        ("The food, 12!", 1.0),
        ("the Qzxv", 0.5),
        ("1 !", 0.0),
        (("the food", "Qzxv Qzxv 1"), 0.5),
    ],
)
def test_the_share_of_known_words(text, share):
    words = shipped_words(INSTALLED_VECTORS)
    assert known_share([(text, 1)], words) == share


def test_the_words_are_those_of_the_model():
    model = models.from_preset(INSTALLED_VECTORS)
    first = 1 + model.preprocessor.num_oov_indices
    words = model.preprocessor.get_vocabulary()[first:]
    assert shipped_words(INSTALLED_VECTORS) - {""} == set(words)
    assert len(words) > 9000
    assert model.preprocessor.lowercase

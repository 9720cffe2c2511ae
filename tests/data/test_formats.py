import zipfile

import pytest

from keras_selfattn.data.author_profiling import AuthorProfiling
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.formats import guess_format
from keras_selfattn.data.formats import is_archive
from keras_selfattn.data.formats import open_corpus
from keras_selfattn.data.natural_language_inference import (
    NaturalLanguageInference,
)


@pytest.mark.parametrize(
    "name,format",
    [
        ("reviews.jsonl", "records"),
        ("yelp_academic_dataset_review.json", "records"),
        ("a.csv.gz", "records"),
        ("snli_1.0.zip", "nli"),
        ("renamed.ZIP", "nli"),
        ("snli_1.0_train.jsonl", "nli"),
        ("MultiNLI_1.0_dev_matched.jsonl.gz", "nli"),
        ("multinli_1.0_train.txt", "nli"),
        ("pairs.txt.gz", "nli"),
        ("pairs.txt.xz", "nli"),
        ("reviews.parquet", "records"),
        ("", "pan"),
    ],
)
def test_guesses(tmp_path, name, format):
    assert guess_format(str(tmp_path / name)) == format
    assert is_archive(tmp_path / name) == name.lower().endswith(".zip")


def test_plain_text_has_no_labels(tmp_path):
    assert guess_format(tmp_path / "a.txt.bz2", labelled=False) == "txt"
    published = tmp_path / "snli_1.0_dev.txt"
    assert guess_format(published, labelled=False) == "nli"
    path = tmp_path / "a.txt"
    path.write_text("one, two\n\nthree\n")
    rows = list(open_corpus(path, labelled=False))
    assert rows == [("one, two", None), ("", None), ("three", None)]
    with pytest.raises(ValueError, match="columns .* received plain text"):
        list(open_corpus(path, "txt"))


def test_columns_speak_for_records(tmp_path):
    path = tmp_path / "snli_1.0_dev.jsonl"
    assert guess_format(path, columns=True) == "records"
    corpus = open_corpus(path, text="sentence1", text_pair="sentence2")
    assert isinstance(corpus, Corpus)
    assert (corpus.text, corpus.label) == ("sentence1", "label")
    assert corpus.text_pair == "sentence2"


def test_records(tmp_path):
    path = tmp_path / "a.csv"
    corpus = open_corpus(path, label="stars", max_bad_rate=0.5)
    assert isinstance(corpus, Corpus)
    assert (corpus.text, corpus.label) == ("text", "stars")
    assert corpus.max_bad_rate == 0.5
    assert open_corpus(path, labelled=False).label is None


def test_natural_language_inference(tmp_path):
    path = tmp_path / "snli_1.0.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("snli_1.0/snli_1.0_dev.jsonl", "")
    corpus = open_corpus(path, split="dev", max_bad_rate=0)
    assert isinstance(corpus, NaturalLanguageInference)
    assert corpus.split == "dev"
    assert corpus.max_bad_rate == 0
    corpus = open_corpus(tmp_path / "mine.jsonl", "nli", labelled=False)
    assert isinstance(corpus, NaturalLanguageInference)
    assert not corpus.labelled


def test_author_profiling(tmp_path):
    corpus = open_corpus(tmp_path, max_bad_rate=0)
    assert isinstance(corpus, AuthorProfiling)
    assert corpus.label == "age_group"
    assert corpus.max_bad_rate == 0
    assert open_corpus(tmp_path, label="gender").label == "gender"
    assert open_corpus(tmp_path, labelled=False).label is None


@pytest.mark.parametrize(
    "name,option",
    [
        ("a.csv", {"split": "dev"}),
        ("snli_1.0.zip", {"text": "sentence1"}),
        ("snli_1.0.zip", {"label": "gold_label"}),
        ("", {"split": "dev"}),
        ("", {"text_pair": "b"}),
        ("", {"delimiter": ";"}),
        ("a.txt", {"text": "b", "format": "txt"}),
    ],
)
def test_options_of_other_formats(tmp_path, name, option):
    with pytest.raises(ValueError, match=f"`{list(option)[0]}`.*format is"):
        open_corpus(tmp_path / name, **option)


def test_an_unknown_format(tmp_path):
    with pytest.raises(ValueError, match="'records', 'nli', 'pan'.*'xml'"):
        open_corpus(tmp_path / "a.xml", "xml")

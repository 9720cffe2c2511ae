import gzip
import json

import numpy as np
import pytest

from benchmarks import review_vectors
from benchmarks.corpora import ours
from benchmarks.corpora import running
from benchmarks.corpora.texts import CORPORA
from benchmarks.review_vectors import log_count_ratios
from keras_selfattn.data.word_vectors import load_word_vectors

SENTENCES = {
    1: "a dull and awful film , the plot is bad",
    2: "a weak film , the plot is not so good",
    4: "a good film , the plot is fine",
    5: "a great and brilliant film , the plot is good",
}


def test_ratios_are_those_of_the_formula():
    texts = [["good", "good", "film"], ["film"], ["bad", "film"]]
    found = log_count_ratios(texts, ["pos", "pos", "neg"], ["good", "bad"])
    # "good" is in one of two texts of "pos": twice in one counts once.
    share = np.array([1, 2]) / 3
    counts = np.array([[0, 1], [1, 0]])
    expected = np.log((counts + 5 * share) / (share + 5 * share))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_word_that_is_everywhere_says_nothing():
    texts = [["a"], ["a"], ["a", "b"]]
    found = log_count_ratios(texts, [1, 2, 3], ["a"])
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_stars():
    assert [*map(review_vectors.stars_of_imdb, (1, 2, 4, 7, 8, 10))] == [
        *(1, 1, 2, 4, 4, 5)
    ]


@pytest.fixture
def data(tmp_path, monkeypatch):
    def write(name, rows):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    stars = [(star, SENTENCES[star]) for star in SENTENCES] * 9
    write(
        "imdb/imdb_train.jsonl.gz",
        [{"text": text, "rating": 2 * star} for star, text in stars],
    )
    for name in ("train", "train2"):
        write(
            f"yelp/yelp_review_{name}.jsonl.gz",
            [{"text": text, "stars": float(star)} for star, text in stars],
        )
    write(
        "age/blog_age_train.jsonl.gz",
        [{"text": "the plot thickens", "age_group": "10s"}] * 9,
    )
    with gzip.open(tmp_path / "glove.gz", "wt") as file:
        for number, word in enumerate(("a", "film", "good", "bad", "plot")):
            file.write(f"{word} {number + 1} {number**2} 0.5\n")
    monkeypatch.setattr(review_vectors, "GLOVE", "glove.gz")
    monkeypatch.setattr(review_vectors, "WIDTH", 4)
    monkeypatch.setenv("KERAS_SELFATTN_DATA", str(tmp_path))
    return tmp_path


def test_command(data, capsys):
    output = data / "vectors.txt"
    review_vectors.main([str(output)])
    assert str(output) in capsys.readouterr().out
    words = ["brilliant", "awful", "film", "thickens"]
    vectors, found = load_word_vectors(output, words)
    # GloVe's, co-occurrences, IMDB's four ratings and Yelp's.
    assert vectors.shape == (4, 3 + 4 + 4 + 4) and found.all()
    brilliant, awful, film, thickens = vectors[:, 7:].reshape(4, 2, 4)
    for of_corpus in range(2):
        assert np.argmax(brilliant[of_corpus]) == 3
        assert np.argmax(awful[of_corpus]) == 0
    # What is in each review says as little as what is in none.
    np.testing.assert_allclose(film, thickens, atol=1e-4)


def test_they_are_made_once(data, monkeypatch):
    monkeypatch.chdir(data)
    path = ours._source(ours.REVIEWS)
    written = path.stat().st_mtime_ns
    assert ours._source(ours.REVIEWS).stat().st_mtime_ns == written
    assert ours._source("tasks/trec") == data / "tasks/trec"
    assert ours._source(ours.MODEL) == ours.MODEL


def test_they_are_not_for_the_reviews_that_they_have_seen():
    name = "wide_alone_review_vectors"
    known = [c for c in CORPORA if not running.can(name, c)]
    assert known == ["yelp", "imdb", "snli", "snli_both", "multinli"]

import pytest

from benchmarks import text
from keras_selfattn.data.generated import generate_reviews


@pytest.fixture
def reviews():
    return [review.text for review in generate_reviews(300, seed=0)]


def test_both_ways_are_the_same(reviews, capsys):
    text.same(reviews)
    assert capsys.readouterr().out.startswith("300 texts: the same counts of ")


def test_a_difference_is_found(reviews, monkeypatch):
    class Wrong(text.RememberedIds):
        def __call__(self, texts):
            lengths, features = super().__call__(texts)
            features["token_ids"][-1] += 1
            return lengths, features

    with monkeypatch.context() as patch:
        patch.setattr(text, "RememberedIds", Wrong)
        with pytest.raises(SystemExit, match="Ids differ"):
            text.same(reviews)
    monkeypatch.setattr(text, "count_words", lambda texts, lowercase: {"a": 1})
    with pytest.raises(SystemExit, match="Counts differ"):
        text.same(reviews)


def test_times_are_told(reviews, capsys):
    rows = list(text.times("made", reviews, turns=1))
    assert "300 made reviews" in capsys.readouterr().out
    assert [row[:3] for row in rows if row[2] == "ours"] == [
        ["made", "words counted", "ours"],
        ["made", "ids", "ours"],
    ]

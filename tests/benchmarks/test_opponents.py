"""The opponents learn what they can, and read pairs by side."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks.opponents import OPPONENTS
from benchmarks.opponents import linear
from benchmarks.opponents import opponent_class
from benchmarks.opponents import pairs
from benchmarks.opponents import stock_keras
from benchmarks.opponents.opponent import Opponent
from benchmarks.opponents.opponent import best_of_grid

WORDS = {0: ["cold", "wet"], 1: ["warm", "dry"], 2: ["far", "near"]}


def rows_of(sides, classes=3, size=240):
    """Texts whose label is in their last word, or in the hypothesis."""
    texts, labels = [], []
    for row in range(size):
        label = row % classes
        text = f"it is {WORDS[label][row // classes % 2]}"
        texts.append(text if sides == 1 else ("it is so", text))
        labels.append(label)
    return texts, np.array(labels)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["svm", "nbsvm", "hypothesis"])
def test_what_counts_tell_is_learned(name, classes, sides, tmp_path):
    if sides not in opponent_class(name).all_sides:
        pytest.skip("not for texts")
    train, dev = rows_of(sides, classes), rows_of(sides, classes, 12)
    opponent = opponent_class(name)(sides)
    opponent, model, outcome = best_of_grid(opponent, train, dev, seed=0)
    assert outcome["accuracy"] == 1.0
    assert outcome["chosen"] in opponent.grid
    assert len(outcome["tried"]) == len(opponent.grid)
    one = model.predict(opponent.read(dev[0][:1]))
    assert one.tolist() == dev[1][:1].tolist()
    opponent.write(model, tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 100


@pytest.mark.parametrize("sides", [1, 2])
def test_stock_keras_learns_and_keeps_the_best_epoch(
    sides, tmp_path, monkeypatch
):
    monkeypatch.setattr(stock_keras, "EPOCHS_OF_FEW", 8)
    opponent = stock_keras.EmbeddingAverage(sides)
    chosen = {"vectors": False, "learning_rate": 0.05}
    train, (texts, labels) = rows_of(sides), rows_of(sides, size=12)
    # As `running` gives a label that no training row has.
    dev = [*texts, texts[0]], np.append(labels, -1)
    opponent, model, outcome = best_of_grid(opponent, train, dev, 0, chosen)
    assert outcome["accuracy"] == pytest.approx(12 / 13)
    assert "tried" not in outcome
    empty = "" if sides == 1 else ("", "")
    assert model.predict(opponent.read([empty])).shape == (1,)
    opponent.write(model, tmp_path)
    assert "warm" in (tmp_path / "words.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("sides", [1, 2])
def test_fasttext_learns_or_says_that_it_cannot(sides, tmp_path):
    pytest.importorskip("fasttext")
    rows = rows_of(sides)
    opponent = opponent_class("fasttext")(sides)
    try:
        opponent, model, outcome = best_of_grid(opponent, rows, rows, seed=0)
    except FloatingPointError:
        pytest.skip("this build trains no small corpus")
    assert outcome["accuracy"] > 0.5
    opponent.write(model, tmp_path)
    assert (tmp_path / "model.bin").stat().st_size > 1000


def test_values_that_go_beyond_all_numbers_are_not_taken():
    class Steep(Opponent):
        grid = [{"rate": 9.0}, {"rate": 0.1}]

        def fit(self, features, labels, dev, seed, rate):
            if rate > 1:
                raise FloatingPointError("NaN")
            return type("Model", (), {"predict": lambda self, _: dev[1]})()

    rows = ["a", "b"], np.array([0, 1])
    *_, outcome = best_of_grid(Steep(1), rows, rows, seed=0)
    assert outcome["tried"] == [[{"rate": 9.0}, None], [{"rate": 0.1}, 1.0]]
    with pytest.raises(FloatingPointError, match="No values of the grid"):
        best_of_grid(Steep(1), rows, rows, 0, chosen={"rate": 9.0})


def test_the_best_on_dev_is_taken_and_the_first_of_equals():
    class Fixed(Opponent):
        grid = [{"share": 0.5}, {"share": 1.0}, {"share": 1.0, "other": True}]

        def fit(self, features, labels, dev, seed, share, other=False):
            size = int(share * len(dev[1]))
            model = np.where(np.arange(len(dev[1])) < size, dev[1], -2)
            return type("Model", (), {"predict": lambda self, _: model})()

    rows = ["a", "b"], np.array([0, 1])
    *_, outcome = best_of_grid(Fixed(1), rows, rows, seed=0)
    assert outcome["chosen"] == {"share": 1.0}
    assert [accuracy for _, accuracy in outcome["tried"]] == [0.5, 1.0, 1.0]


def test_texts_are_read_as_the_best_values_say():
    class Reads(Opponent):
        of_reading = ("how",)
        grid = [
            {"how": how, "add": add}
            for how in (str.lower, len, str.upper)
            for add in (1, 0)
        ]

        def prepare(self, texts, how):
            self.how = how
            return self.read(texts)

        def read(self, texts):
            return list(map(self.how, texts))

        def fit(self, features, labels, dev, seed, add):
            # Right where the features are lengths, and nothing is added.
            right = features == [3, 1] and add == 0
            answers = dev[1] if right else dev[1] - 1
            return type("Model", (), {"predict": lambda self, _: answers})()

    rows = ["abc", "d"], np.array([0, 1])
    opponent, _, outcome = best_of_grid(Reads(1), rows, rows, seed=0)
    assert outcome["chosen"] == {"how": len, "add": 0}
    assert opponent.read(["ab"]) == [2]


def test_log_count_ratios_are_those_of_the_paper():
    # Three words; the first two texts are inside.
    features = sparse.csr_matrix([[1, 1, 0], [1, 0, 0], [0, 1, 1]])
    ratios = linear.log_count_ratios(features, np.array([True, True, False]))
    inside = np.array([3, 2, 1]) / 6
    outside = np.array([1, 2, 2]) / 5
    np.testing.assert_allclose(ratios, np.log(inside / outside))


def test_features_of_a_pair_know_their_side():
    pair = "A dog runs.", "A cat runs."
    assert (0, "dog") in set(pairs.by_side(pair))
    assert (1, "dog") not in set(pairs.by_side(pair))
    assert (1, "<s>", "a") in set(pairs.by_side(pair))
    crossed = set(pairs.across(pair))
    assert (("dog",), ("cat",)) in crossed
    assert (("runs",), ("runs",)) in crossed
    assert (("dog",), ("runs",)) not in crossed
    *bleu, mean, new, nothing_new, difference = pairs.overlap(pair)
    assert bleu == [3 / 4, 1 / 3, 0, 0]
    assert mean == pytest.approx(np.mean(bleu))
    assert (new, nothing_new, difference) == (1 / 5, False, 0)


def test_every_opponent_has_a_label_of_its_own():
    labels = [opponent_class(name).label for name in OPPONENTS]
    assert len(set(labels)) == len(labels) and all(labels)

import warnings

import numpy as np
import pytest

from keras_selfattn import training
from keras_selfattn import tuning
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.repeated_rows import repeated_rows
from keras_selfattn.data.repeated_rows import warn_of_repeated_rows
from keras_selfattn.text import TextPreprocessor
from tests.training import small

WORDS = ["a", "b", "c"]
TRAIN = ["a b c", "a", "b a", "", "c c c c c"]
# By hand: the same words in another order, fewer, or more are another text.
ASKED = {
    "a b c": True,
    "b a c": False,
    "a b": False,
    "b c": False,
    "a": True,
    "a a": False,
    "b a": True,
    "c c c c": False,
    "c c c c c": True,
    "": True,
}
PAIRS = [("a", "b c"), ("b", "a"), ("a b", "c")]
ASKED_PAIRS = {
    ("a", "b c"): True,
    ("b c", "a"): False,
    ("a", "a"): False,
    ("b", "a"): True,
    ("a b", "c"): True,
    ("a", "b"): False,
}


def encoded(texts):
    preprocessor = TextPreprocessor(WORDS)
    return EncodedDataset.from_texts([(t, "x") for t in texts], preprocessor)


@pytest.mark.parametrize(
    ("train", "asked"), [(TRAIN, ASKED), (PAIRS, ASKED_PAIRS)]
)
def test_which_texts_are_repeated(train, asked):
    found = repeated_rows(encoded(train), encoded(asked))
    assert found.tolist() == list(asked.values())


def test_texts_of_many_stretches():
    """Each text of letters is one of 3**9, and no two are the same."""
    digits = np.array(list(np.ndindex(*[3] * 9)))
    texts = [" ".join(WORDS[d] for d in row) for row in digits]
    found = repeated_rows(encoded(texts[::2]), encoded(texts))
    assert found.tolist() == [True, False] * (3**9 // 2) + [True]


def test_what_is_said():
    train = encoded(["a"])
    dev = encoded(["a"] + ["b"] * 99)
    with pytest.warns(UserWarning, match=r"^1 of 100 dev texts \(1.0%\) are"):
        warn_of_repeated_rows(train, dev)
    with warnings.catch_warnings(action="error"):
        warn_of_repeated_rows(train, encoded(["a"] + ["b"] * 100))


said = pytest.mark.filterwarnings("error:.* are training texts:UserWarning")
SAID = "12 of 12 dev texts .* are training texts too"


@said
def test_a_training_says_it(tmp_path):
    rows = small.reviews(12, 1)
    with pytest.raises(UserWarning, match=SAID):
        training.train(
            "lin2017_yelp",
            *(rows, rows, tmp_path / "run"),
            model_overrides=small.SMALL,
            verbose=0,
        )


@said
def test_a_search_says_it(tmp_path):
    for package in ("keras_tuner", "matplotlib", "sklearn"):
        pytest.importorskip(package)
    rows = small.reviews(12, 1)
    with pytest.raises(UserWarning, match=SAID):
        tuning.search(
            "lin2017_yelp",
            *(rows, rows, tmp_path / "run"),
            trials=1,
            arguments={**small.SMALL, "units": [4, 6]},
            papers_space=False,
        )

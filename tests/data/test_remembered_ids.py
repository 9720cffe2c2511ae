import concurrent.futures
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from keras_selfattn.data import encoding
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.remembered_ids import RememberedIds
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import pieces
from tests.text.strategies import any_text

SCRAPS = [
    *(" ", "  ", "\n", "\u00a0", " . ", ". ", ", ", '"', "'", "'s", "n't"),
    *("J.", "Mr.", "...", "--", "cannot", "(", "“", "’", "\ud800", "\x00"),
    *("good", "Bad", "word", "été", "ΟΔΟΣ", "😀", "好", "1,000", "U.S.", "é"),
]
WORDS = ["good", "bad", ".", ",", "J.", "Mr.", "n't", "'s", "''", "été", "�"]
KINDS = [
    {},
    {"lowercase": True, "num_oov_indices": 7},
    {"max_tokens": 5},
    {"max_tokens": 5, "prepend_null": True},
    {"prepend_null": True, "characters": "abcdég.", "max_characters": 4},
]


def some_texts(count, seed=0):
    rng = random.Random(seed)
    return [
        "".join(rng.choices(SCRAPS, k=rng.randrange(30))) for _ in range(count)
    ]


def assert_same_ids(texts, found, preprocessor):
    lengths, features = found
    expected = {
        name: ids.numpy() for name, ids in preprocessor(list(texts)).items()
    }
    kept = expected["token_ids"] != 0
    np.testing.assert_array_equal(lengths, kept.sum(axis=1))
    assert features.keys() == expected.keys()
    for name, ids in expected.items():
        np.testing.assert_array_equal(features[name], ids[kept])
        assert features[name].dtype == np.int32


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_ids_are_those_of_the_graph(kind):
    preprocessor = TextPreprocessor(WORDS, **kind)
    remembered = RememberedIds(preprocessor)
    texts = some_texts(2000)
    for start in range(0, len(texts), 500):
        some = texts[start : start + 500]
        assert_same_ids(some, remembered(some), preprocessor)
    # All of it is known by now.
    assert_same_ids(texts, remembered(texts), preprocessor)


@settings(max_examples=30, deadline=None)
@given(st.lists(any_text, min_size=1, max_size=8), st.sampled_from(KINDS))
def test_ids_of_any_texts_are_those_of_the_graph(texts, kind):
    preprocessor = TextPreprocessor(WORDS, **kind)
    remembered = RememberedIds(preprocessor)
    for some in (texts, texts[::-1]):
        assert_same_ids(some, remembered(some), preprocessor)


def test_no_texts():
    lengths, features = RememberedIds(TextPreprocessor(WORDS))([])
    assert lengths.shape == features["token_ids"].shape == (0,)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(pieces, "_MOST_PIECES", 100)
    preprocessor = TextPreprocessor(WORDS, prepend_null=True)
    remembered = RememberedIds(preprocessor)
    known = []
    for start in range(0, 1000, 20):
        texts = [f"good w{start + i} bad." for i in range(20)]
        assert_same_ids(texts, remembered(texts), preprocessor)
        known.append(len(remembered._numbers))
    assert max(known) <= 100 + 22 and min(known) == 1
    assert len(remembered._ends) == len(remembered._numbers) + 1


def test_threads_share_it(monkeypatch):
    monkeypatch.setattr(pieces, "_MOST_PIECES", 300)
    preprocessor = TextPreprocessor(WORDS)
    remembered = RememberedIds(preprocessor)
    parts = [some_texts(50, seed) for seed in range(40)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for texts, found in zip(
            parts, pool.map(remembered, parts), strict=True
        ):
            assert_same_ids(texts, found, preprocessor)


def test_after_an_error_nothing_is_taken_for_known(monkeypatch):
    preprocessor = TextPreprocessor(WORDS)
    remembered = RememberedIds(preprocessor)
    remembered(["good word"])

    def fail(pieces):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(preprocessor, "ids_of_pieces", fail)
        with pytest.raises(MemoryError):
            remembered(["good bad."])
    assert_same_ids(["good bad."], remembered(["good bad."]), preprocessor)


def test_a_corpus_goes_through_it(monkeypatch):
    preprocessor = TextPreprocessor(WORDS, max_tokens=9)
    records = [(text, "x") for text in some_texts(50)]
    asked = []

    class Counting(RememberedIds):
        def __call__(self, texts):
            asked.append(len(texts))
            return super().__call__(texts)

    monkeypatch.setattr(encoding, "RememberedIds", Counting)
    found = EncodedDataset.from_texts(records, preprocessor)
    kept = EncodedDataset.from_texts(records, Counting(preprocessor))
    assert asked == [50, 50] and found.checksum() == kept.checksum()
    # What a subclass does is its own affair.
    own = type("Own", (TextPreprocessor,), {})(WORDS, max_tokens=9)
    assert EncodedDataset.from_texts(records, own).checksum() == (
        found.checksum()
    )
    assert asked == [50, 50]

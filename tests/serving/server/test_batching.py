"""Requests that wait together are one batch, and have their own answers."""

import threading

import numpy as np
import pytest

from keras_selfattn.serving.server import batching
from keras_selfattn.serving.server.batching import Batcher
from keras_selfattn.serving.server.batching import Overloaded
from tests.serving.server.stand_ins import Pairs
from tests.serving.server.stand_ins import Reader

WAIT = 60


class Held(Reader):
    """Answers when it is let."""

    def __init__(self):
        super().__init__()
        self.entered = threading.Event()
        self.go = threading.Event()

    def run(self, signature, columns):
        self.entered.set()
        assert self.go.wait(WAIT)
        return super().run(signature, columns)


@pytest.fixture
def held():
    """A reader that is busy with a first request, and its batcher."""
    reader = Held()
    batcher = Batcher(reader)
    batcher.submit("serving_default", [[b"first"]])
    assert reader.entered.wait(WAIT)
    yield reader, batcher
    reader.go.set()


def test_what_waits_together_is_one_batch_sorted_by_length(held):
    reader, batcher = held
    texts = [b"good good good", b"bad", b"a good one", b"bad bad"]
    futures = [batcher.submit("serving_default", [[text]]) for text in texts]
    futures.append(batcher.submit("serving_default", [[b"good", b"bad"]]))
    reader.go.set()
    labels = [future.result(WAIT)["label"].tolist() for future in futures]
    assert labels == [[b"good"], [b"bad"], [b"good"], [b"bad"]] + [
        [b"good", b"bad"]
    ]
    (_, first), (_, second) = reader.batches
    assert first == [b"first"]
    assert second == sorted([*texts, b"good", b"bad"], key=len)


def test_signatures_are_batches_of_their_own(held):
    reader, batcher = held
    asked = ["attend", "serving_default", "attend"]
    futures = [batcher.submit(name, [[b"good"]]) for name in asked]
    reader.go.set()
    for name, future in zip(asked, futures, strict=True):
        assert ("tokens" in future.result(WAIT)) == (name == "attend")
    sizes = {name: len(texts) for name, texts in reader.batches[1:]}
    assert sizes == {"attend": 2, "serving_default": 1}


def test_padding_of_other_requests_is_cut_off(held):
    reader, batcher = held
    texts = [[b"a"], [b"good food", b"a"], [b"a long text of six words"]]
    futures = [batcher.submit("attend", [column]) for column in texts]
    reader.go.set()
    for column, future in zip(texts, futures, strict=True):
        together = future.result(WAIT)
        alone = Reader().run("attend", [column])
        for name, output in alone.items():
            np.testing.assert_array_equal(together[name], output)


def test_padding_of_other_pairs_is_cut_off():
    model = Pairs()
    rows = [([b"a b c"], [b"d"]), ([b"a"], [b"b c"])]
    together = list(
        Batcher(model)._answers(
            "align",
            [batching._Request("align", row, None) for row in rows],
        )
    )
    for row, found in zip(rows, together, strict=True):
        for name, output in model.run("align", row).items():
            np.testing.assert_array_equal(found[name], output)


def test_a_large_request_is_several_batches():
    reader = Reader()
    texts = [b"good " * (i % 7) + b"bad" for i in range(200)]
    answer = Batcher(reader).submit("serving_default", [texts]).result(WAIT)
    alone = reader.run("serving_default", [texts])
    np.testing.assert_array_equal(
        answer["probabilities"], alone["probabilities"]
    )
    sizes = [len(batch) for _, batch in reader.batches[:-1]]
    assert sizes == [64, 64, 64, 8]


def test_who_is_at_fault_fails_alone(held):
    reader, batcher = held
    texts = [b"good", b"broken", b"bad"]
    futures = [batcher.submit("serving_default", [[text]]) for text in texts]
    reader.go.set()
    assert futures[0].result(WAIT)["label"].tolist() == [b"good"]
    assert isinstance(futures[1].exception(WAIT), RuntimeError)
    assert futures[2].result(WAIT)["label"].tolist() == [b"bad"]


def test_what_is_cancelled_stops_nobody(held):
    reader, batcher = held
    gone = batcher.submit("serving_default", [[b"good"]])
    future = batcher.submit("serving_default", [[b"good"]])
    assert gone.cancel()
    reader.go.set()
    assert future.result(WAIT)["label"].tolist() == [b"good"]
    assert batcher.submit("serving_default", [[b"bad"]]).result(WAIT)


def test_too_many_that_wait(held, monkeypatch):
    _, batcher = held
    for _ in range(batching._LONGEST_QUEUE):
        batcher.submit("serving_default", [[b"good"]])
    with pytest.raises(Overloaded, match="1024 requests wait for 'reviews'"):
        batcher.submit("serving_default", [[b"good"]])

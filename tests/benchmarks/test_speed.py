"""The peers of the speed benchmark do the same work."""

import sys

import numpy as np
import pytest

from benchmarks import speed
from benchmarks.peers import measuring
from benchmarks.peers import ours
from benchmarks.peers import stock_keras
from benchmarks.peers.workloads import WORKS
from benchmarks.peers.workloads import make_rows
from benchmarks.peers.workloads import multiply_adds

SIZES = {
    "vocabulary_size": 50,
    "embedding_dim": 6,
    "character_vocabulary_size": 11,
    "units": 4,
    "attention_dim": 5,
    "num_heads": 3,
    "interaction_units": 8,
    "hidden_units": 7,
    "projection_dim": 5,
    "attend_units": 9,
    "compare_units": 10,
    "aggregate_units": 12,
}


def tiny(name):
    work = WORKS[name]
    changes = {}
    for argument, size in SIZES.items():
        value = work.arguments.get(argument)
        if value is not None:
            several = isinstance(value, list)
            changes[argument] = [size] * len(value) if several else size
    return work.changed(
        changes,
        batch_size=4,
        lengths=((3, 4, 6), (2, 3, 5))[: len(work.lengths)],
        fit_steps=min(work.fit_steps, 3),
    )


# W1v, W3s, W4b4 and the table differ from others in sizes alone.
@pytest.mark.parametrize("name", ["W1", "W2", "W3", "W4", "W4i"])
def test_ours_and_keras_have_the_same_weights(name):
    work = tiny(name)
    shapes = [
        sorted(int(np.prod(weight.shape)) for weight in model.trainable_weights)
        for model in (ours.build_model(work), stock_keras.build_model(work))
    ]
    assert sum(shapes[0]) == sum(shapes[1]) > 0


@pytest.mark.parametrize("name", ["W1", "W4i"])
def test_both_give_the_same_logits(name):
    """With each weight of one value, whichever layer it is in."""
    work = tiny(name)
    features, _ = make_rows(work)
    answers = []
    for peer in (ours, stock_keras):
        model = peer.build_model(work)
        for weight in model.weights:
            if not weight.dtype.startswith("float"):
                continue
            # Random, but the same for equal shapes.
            rng = np.random.default_rng(list(weight.shape))
            weight.assign(rng.normal(0, 0.3, weight.shape))
        answers.append(np.asarray(model(features, training=False)))
    np.testing.assert_allclose(*answers, rtol=1e-4, atol=1e-5)
    assert np.ptp(answers[0]) > 1e-3


def test_multiplications_by_hand():
    work = tiny("W1").changed({"hidden_units": 2}, batch_size=1)
    work = work.changed(lengths=((3, None, 3),))
    # Of each of 3 words 6 features times 4 gates times 4 units and 4 states
    # times as many, in 2 directions; 8 states times 5 hidden units times 3
    # heads; then 3 x 8 features, 2 units and 5 classes.
    words = 3 * (2 * (6 * 16 + 4 * 16) + 8 * 5 + 5 * 3 + 3 * 8)
    expected = words + 3 * 8 * 2 + 2 * 5
    features, _ = make_rows(work)
    assert multiply_adds(work, features, False) == expected
    assert multiply_adds(work, features, True) == 3 * expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["W1v", "W4b4"])
def test_peers_take_turns(monkeypatch, name):
    monkeypatch.setattr(measuring, "SAMPLE_SECONDS", 0.01)
    monkeypatch.setattr(measuring, "QUIET_WAIT", 0.0)
    work = tiny(name)
    peers = speed.peers_of(name, work, with_torch=False)
    results, facts = speed.compare(name, work, peers, speed.TASKS, 2)
    assert facts["ours"]["trainable"] == facts["Keras"]["trainable"]
    for task, found in results.items():
        rows = list(speed.rows_of(name, work, task, found, facts, 1e9))
        assert [row[:2] for row in rows] == [[name, "ours"], [name, "Keras"]]
        for taken in found[0].values():
            assert len(taken.seconds) == 2
            assert taken.peak_mib > 100
    losses = [taken.result for taken in results["train"][0].values()]
    assert np.isfinite(losses).all()
    assert max(losses) < 1.5 * min(losses)


@pytest.mark.slow
def test_backends_take_turns(monkeypatch, capsys):
    monkeypatch.setattr(measuring, "SAMPLE_SECONDS", 0.01)
    monkeypatch.setattr(measuring, "QUIET_WAIT", 0.0)
    monkeypatch.setattr(speed, "WORKS", {"W4": tiny("W4")})
    speed.main(["backends", "--work", "W4", "--repeats", "1"])
    table = capsys.readouterr().out
    weights = set()
    for peer in ("TensorFlow", "JAX", "torch"):
        (row,) = (x for x in table.splitlines() if f"ours on {peer} " in x)
        cells = [cell.strip() for cell in row.strip("| ").split("|")]
        assert 0.3 < float(cells[-2]) < 3
        weights.add(cells[-1])
    assert len(weights) == 1
    assert "PyTorch, eager" in table


def test_each_precision_is_compared_with_its_own():
    peers = speed.peers_of("W1", WORKS["W1"], with_torch=True)
    full, reduced = speed.by_precision(peers)
    assert {**full, **reduced} == peers
    assert "ours" in full and "ours, bfloat16" in reduced
    assert not any("bfloat16" in peer for peer in full)
    peers = speed.peers_of("W4", WORKS["W4"], with_torch=True)
    assert list(speed.by_precision(peers)) == [peers]


def test_a_peer_that_fails_says_why():
    with pytest.raises(measuring.PeerError, match="no_such_peer"):
        measuring.python_worker("no_such_peer", "Steps")


KILLED = "input(); import os; os.kill(os.getpid(), 9)"


@pytest.mark.parametrize(
    "then, reason",
    [("pass", "it ended"), (KILLED, "SIGKILL"), ("input(); 1 / 0", "by zero")],
)
def test_a_peer_that_ends_between_two_calls_says_why(then, reason):
    code = f"print('{{}}', flush=True); {then}"
    worker = measuring.Worker([sys.executable, "-c", code])
    if then == "pass":
        worker._process.wait()
    with pytest.raises(measuring.PeerError, match=reason):
        worker.ask("train", 1)


class Failing:
    """A worker that fails at its `last` call."""

    def __init__(self, last):
        self.last = last

    def ask(self, name, count, limit=None):
        self.last -= 1
        if self.last == 0:
            raise measuring.PeerError("gave up")
        cost = {"seconds": 1.0, "processor": 1.0}
        return {**cost, "result": 0.5, "peak_mib": 3.0}


def test_a_peer_that_fails_in_its_turn_costs_its_own_row_only(monkeypatch):
    monkeypatch.setattr(measuring, "QUIET_WAIT", 0.0)
    workers = {"early": Failing(1), "late": Failing(4), "never": Failing(0)}
    measured, failures = measuring.take_turns(workers, "train", repeats=3)
    assert failures == {"early": "gave up", "late": "gave up"}
    assert list(measured) == ["never"]
    assert len(measured["never"].seconds) == 3


def test_times_are_ratios_of_the_same_turn():
    base, taken = (
        measuring.Measured(seconds, seconds, (0, 0, 0), None, 1.0)
        for seconds in ((1.0, 2.0, 4.0), (2.0, 3.0, 20.0))
    )
    assert taken.times(base) == (2.0, 1.5, 5.0)
    assert speed.times_of(taken, base) == "2.00 (1.50 to 5.00)"
    assert speed.times_of(base, base) == "1"


def test_growth_is_the_power_between_the_last_two_values():
    ours = {2: 10.0, 10: 30.0, 1000: 3.0}
    assert speed.exponent(ours) == pytest.approx(-0.5)
    assert speed.crossing(ours, ours) == ""
    assert speed.crossing({2: 11.0, 10: 31.0, 1000: 4.0}, ours) == "nowhere"
    peer = {2: 9.0, 10: 31.0, 1000: 2.0}
    assert speed.crossing(peer, ours) == "at 2, at 1,000"

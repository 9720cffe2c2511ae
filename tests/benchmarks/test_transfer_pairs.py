import json

import numpy as np
import pytest

import keras_selfattn as ks
from benchmarks import transfer_pairs as command
from benchmarks.transfer_pairs import labels_by
from benchmarks.transfer_pairs import transfer_pairs

PAIRS = [
    ("A brown dog runs fast.", "A dog runs."),
    ("A brown dog runs fast.", "A cat sleeps."),
    ("A grey cat sleeps.", "The cat sleeps."),
    ("A dog runs.", "Some animal runs fast."),
]


def test_all_three_kinds():
    made = transfer_pairs(PAIRS)
    assert len(made) == len({*made}) and not {*made} & {*PAIRS}
    swapped = {(b, a) for a, b in PAIRS}
    siblings = {
        ("A dog runs.", "A cat sleeps."),
        ("A cat sleeps.", "A dog runs."),
    }
    assert swapped | siblings <= {*made}
    # With a hypothesis of another premise, one that shares words with it.
    similar = {*made} - swapped - siblings
    assert ("A grey cat sleeps.", "A cat sleeps.") in similar
    premises = {premise for premise, _ in PAIRS}
    for premise, hypothesis in similar:
        assert premise in premises and (premise, hypothesis) not in PAIRS
        assert {*premise.split()} & {*hypothesis.split()}


def test_several_hypotheses_of_others():
    pairs = [(f"A dog runs {word}.", f"A dog is {word}.") for word in "abcd"]
    one, three = (transfer_pairs(pairs, similar=n) for n in (1, 3))
    swapped = {(b, a) for a, b in pairs}
    assert {*one} < {*three}
    for made, number in ((one, 1), (three, 3)):
        premises = [premise for premise, _ in {*made} - swapped]
        assert [premises.count(premise) for premise, _ in pairs] == [number] * 4


def test_the_same_from_the_same_seed():
    assert transfer_pairs(PAIRS) == transfer_pairs(iter(PAIRS))


def test_command(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    rows = [
        {"sentence1": a, "sentence2": b, "gold_label": "neutral"}
        for a, b in PAIRS
    ]
    path = tmp_path / "snli_train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(command, "SNLI", [path])
    monkeypatch.setattr(command, "data_path", lambda file: file)
    output = tmp_path / "snli_transfer.jsonl"
    command.main(["snli_decomposable", str(output), "--similar=2"])
    found = [json.loads(line) for line in output.read_text().splitlines()]
    made = [(row["sentence1"], row["sentence2"]) for row in found]
    assert made == transfer_pairs(PAIRS, similar=2)
    labels = {row["gold_label"] for row in found}
    assert labels <= {"contradiction", "entailment", "neutral"}
    assert f"{len(made)} pairs" in capsys.readouterr().out


def test_labels_of_several_models():
    """The labels of the largest mean, in whichever order each has them."""
    names = ["snli_decomposable", "nli_decomposable"]
    pairs = [
        ("A man plays a guitar.", "A man is asleep in his bed."),
        ("A man plays a guitar.", "A man makes music."),
        *PAIRS,
    ]
    total = {}
    for name in names:
        model = ks.models.from_preset(name)
        for place, label in enumerate(model.labels):
            answer = model.predict(pairs, verbose=0)[:, place]
            total[label] = total.get(label, 0) + answer
    expected = [
        max(total, key=lambda label: total[label][row])
        for row in range(len(pairs))
    ]
    assert labels_by(names, pairs) == expected
    assert len({*expected}) > 1


def test_one_order_of_labels(monkeypatch):
    class Model:
        def __init__(self, labels):
            self.labels = labels

    known = {"a": Model(["yes", "no"]), "b": Model(["no", "yes"])}
    answers = {"yes": {"a": 0.6, "b": 0.3}, "no": {"a": 0.4, "b": 0.7}}

    def predict(model, pairs, batch_size):
        name = next(name for name in known if known[name] is model)
        row = [answers[label][name] for label in model.labels]
        yield pairs, np.array([row] * len(pairs))

    monkeypatch.setattr(command.models, "from_preset", known.get)
    monkeypatch.setattr(command.evaluation, "predict", predict)
    assert labels_by(["a", "b"], PAIRS) == ["no"] * len(PAIRS)

import json

import numpy as np
import pytest

from keras_selfattn import faithfulness
from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.models import SentencePairClassifier
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food", "", "bad", "the food was n't good . " * 3, "food ."]


def records(model, texts=TEXTS):
    return [(text, model.labels[i % 3]) for i, text in enumerate(texts)]


class Stub:
    """A model whose answer, attention and gradients follow from the ids.

    The id is the attention, -id the gradient; the probability of the second
    class is a tenth of the ids' sum.
    """

    nulls = 0
    empty = {"token_ids": np.array([1])}

    def read(self, texts):
        rows = [list(map(int, text.split())) for text in texts]
        longest = max(map(len, rows))
        return {
            "token_ids": np.array([r + [0] * (longest - len(r)) for r in rows])
        }

    def look(self, features):
        ids = features["token_ids"].astype(float)
        return self.probabilities(ids), ids[:, None], -ids

    def answer(self, features, keep):
        left = faithfulness.take(features, keep, self.empty)
        return self.probabilities(left["token_ids"])

    def probabilities(self, ids):
        second = ids.sum(axis=1) / 10
        return np.stack([1 - second, second], axis=1)


def test_losses_and_agreement_by_hand():
    totals = faithfulness._Totals()
    # 2 + 5 + 1 = 8: the second class with 0.8. 3 alone: the first with 0.7.
    batch = [("2 5 1", 1, (1, 2)), ("3", 1, None)]
    random = np.random.default_rng(0)
    faithfulness._measure_batch(Stub(), batch, (0.5,), random, totals)

    def mean(method, name):
        return pytest.approx(totals.mean((method, 0.5, name)))

    # By attention 2 and 5 of the first text, 3 of the second are taken.
    # Without: 1 is left, p = 0.1, and the empty text, p = 0.9.
    assert mean("attention", "comprehensiveness") == (0.7 - 0.2) / 2
    assert mean("attention", "sufficiency") == (0.1 + 0.0) / 2
    assert mean("attention", "accuracy_without") == 1 / 2
    assert mean("attention", "accuracy_with_only") == 0
    # By gradient 1 and 2: without, 5 is left; the tie of 0.5 is the first's.
    assert mean("gradient x input", "comprehensiveness") == (0.3 - 0.2) / 2
    assert mean("gradient x input", "sufficiency") == (0.5 + 0.0) / 2
    assert mean("gradient x input", "accuracy_with_only") == 1 / 2
    assert totals.mean("accuracy") == 0.5
    # Of 5 and 2, the two of most attention, 5 decides; of 8, 6 are on them.
    assert totals.mean(("attention", "precision")) == 0.5
    assert totals.mean(("attention", "mass")) == 6 / 8
    assert totals.counts[("attention", "mass")] == 1


def test_what_is_kept_moves_together():
    features = {
        "token_ids": np.array([[2, 3, 4], [5, 6, 0]]),
        "char_ids": np.array([[[1], [2], [3]], [[4], [5], [0]]]),
    }
    empty = {"token_ids": np.array([1]), "char_ids": np.array([[9]])}
    keep = np.array([[True, False, True], [False, False, False]])
    left = faithfulness.take(features, keep, empty)
    assert left["token_ids"].tolist() == [[2, 4], [1, 0]]
    assert left["char_ids"].tolist() == [[[1], [3]], [[9], [0]]]


@pytest.mark.parametrize(
    "share, number", [(0.01, 1), (0.07, 7), (0.071, 8), (1, 100)]
)
def test_shares_are_rounded_up(share, number):
    chosen = faithfulness.most_important(
        np.arange(100.0)[None], np.ones((1, 100), bool), share
    )
    assert np.flatnonzero(chosen).tolist() == list(range(100 - number, 100))


def test_measures_of_heads_by_hand():
    scores = np.array([[[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]]])
    # One pair of three is equal, the others share nothing.
    assert faithfulness.head_overlap(scores) == pytest.approx([1 / 3])
    # Eigenvalues 2/3 and 1/3.
    assert faithfulness.effective_heads(scores) == pytest.approx(
        [3 / 2 ** (2 / 3)]
    )
    entropy = faithfulness.head_entropy(scores)
    assert entropy.tolist()[0] == pytest.approx([0, 0, np.log(2)])
    assert faithfulness.head_overlap(scores[:, :1]).tolist() == [0]


def test_gradient_times_input_is_the_slope_of_the_log_probability():
    model = tiny_classifier(dropout=0.0)
    reader = faithfulness._Reader(model)
    features = reader.read(["good food", "bad"])
    outputs, _, products = reader.look(features)
    assert products[1, 1] == 0
    table = model.get_layer("word_vectors").embeddings
    whole = table.numpy()
    word = features["token_ids"][0, 0]

    def log_probability(scale):
        scaled = whole.copy()
        scaled[word] *= scale
        table.assign(scaled)
        return np.log(model(features).numpy()[0, outputs[0].argmax()])

    slope = (log_probability(1.01) - log_probability(0.99)) / 0.02
    assert abs(slope) > 1e-4
    assert products[0, 0] == pytest.approx(slope, rel=0.02, abs=1e-5)


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"activation": None},
        {"pooling": "generalized"},
        {"pooling": "max", "characters": "adefgo"},
        {"encoder": "bilstm"},
    ],
    ids=str,
)
def test_a_seed_repeats_it_at_every_batch_size(overrides):
    model = tiny_classifier(**overrides)
    first, second = (
        faithfulness.measure(model, iter(records(model)), (0.4,), size, seed=5)
        for size in (2, 5)
    )
    assert first.texts == 5
    assert first.losses.keys() == {(m, 0.4) for m in faithfulness.METHODS}
    for key, loss in first.losses.items():
        expected = list(vars(second.losses[key]).values())
        assert list(vars(loss).values()) == pytest.approx(expected, abs=1e-5)
    assert first.agreement == {}
    assert any(abs(x.comprehensiveness) > 1e-6 for x in first.losses.values())


def test_words_that_decide_are_found_behind_the_null_token():
    model = tiny_classifier()
    model.labels = list("123")
    reviews = [r for r in generate_reviews(30, 1) if r.label in model.labels]
    plain = faithfulness.measure(model, reviews).agreement["random"]
    model.preprocessor = type(model.preprocessor)(
        model.preprocessor.get_vocabulary()[3:], prepend_null=True
    )
    null = faithfulness.measure(model, reviews).agreement["random"]
    # The same random words, counted from the token in front of them.
    assert plain.precision == null.precision
    assert plain.mass == pytest.approx(null.mass)
    assert 0 < plain.precision < 1


def test_the_command_line_prints_it(tmp_path, capsys):
    model = tiny_classifier()
    model.save_to_preset(tmp_path / "model")
    rows = [{"text": t, "label": g} for t, g in records(model)]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["evaluate", str(tmp_path / "model"), str(data)]
    assert main(arguments) == 0
    assert "gradient" not in capsys.readouterr().out
    assert main([*arguments, "--faithfulness"]) == 0
    shown = capsys.readouterr().out
    for part in (*faithfulness.METHODS, "50%", "Heads: 2, effective number"):
        assert part in shown


def test_bad_input_is_named():
    model = tiny_classifier()
    with pytest.raises(ValueError, match="text 2.*'unheard'"):
        faithfulness.measure(model, [("a", "1"), ("b", "unheard")])
    with pytest.raises(ValueError, match="no text was given"):
        faithfulness.measure(model, [])
    with pytest.raises(ValueError, match="shares=.0.1, 1.5"):
        faithfulness.measure(model, [("a", "1")], shares=(0.1, 1.5))
    model.preprocessor = None
    with pytest.raises(ValueError, match="`preprocessor`"):
        faithfulness.measure(model, [("a", "1")])
    pairs = SentencePairClassifier(vocabulary_size=3, num_classes=2, units=2)
    with pytest.raises(ValueError, match="SentencePairClassifier"):
        faithfulness.measure(pairs, [])

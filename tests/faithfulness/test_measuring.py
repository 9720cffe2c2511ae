import json
import typing

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy as array

from keras_selfattn import faithfulness
from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.effects.reader import Reader as PartReader
from keras_selfattn.faithfulness import measuring
from keras_selfattn.faithfulness.reading import Reader
from keras_selfattn.models import DecomposableClassifier
from keras_selfattn.models import SentencePairClassifier
from keras_selfattn.text import TextPreprocessor
from tests.same_weights import draw_weights
from tests.tiny_classifier import tiny_classifier


class Record(typing.NamedTuple):
    text: str | tuple
    label: str
    deciding: tuple


def pair_model(make, null, **arguments):
    preprocessor = TextPreprocessor(
        ["good", "bad", "food", "n't", "."],
        prepend_null=null,
        implementation="tensorflow",
    )
    model = make(
        vocabulary_size=preprocessor.vocabulary_size(),
        num_classes=3,
        embedding_dim=4,
        **arguments,
    )
    draw_weights(model)
    model.preprocessor = preprocessor
    model.labels = list("abc")
    return model


def siamese():
    return pair_model(
        SentencePairClassifier,
        null=False,
        encoder="cnn",
        units=5,
        attention_dim=3,
        num_heads=2,
        hidden_units=6,
    )


def decomposable():
    return pair_model(
        DecomposableClassifier,
        null=True,
        projection_dim=5,
        attend_units=[6],
        compare_units=[7],
        aggregate_units=[8],
    )


TEXTS = ["good food", "", "bad", "the food was n't good . " * 3, "food ."]


def records(model, texts=TEXTS):
    return [(text, model.labels[i % 3]) for i, text in enumerate(texts)]


class Stub(PartReader):
    """A model whose answer, attention and gradients follow from the ids.

    The id is the attention, -id the gradient; the probability of the second
    class is a tenth of the ids' sum.
    """

    nulls = 0
    sides = ("",)
    has_heads = True
    empty = [{"token_ids": np.array([1])}]

    def __init__(self):
        pass

    def read(self, texts):
        rows = [list(map(int, text.split())) for text in texts]
        longest = max(map(len, rows))
        return {
            "token_ids": np.array([r + [0] * (longest - len(r)) for r in rows])
        }

    def look(self, features):
        ids = features["token_ids"].astype(float)
        return self.probabilities(features), [ids[:, None]], [-ids]

    def probabilities(self, features):
        second = features["token_ids"].sum(axis=1) / 10
        return np.stack([1 - second, second], axis=1)


def test_losses_and_agreement_by_hand():
    measurement = measuring.Measurement(Stub(), (0.5,), seed=0)
    # 2 + 5 + 1 = 8: the second class with 0.8. 3 alone: the first with 0.7.
    batch = [(Record("2 5 1", "b", (1, 2)), 1), (("3", "b"), 1)]
    measurement.add(batch)
    found = measurement.result()

    def mean(method, name):
        return pytest.approx(getattr(found.losses[method, 0.5], name))

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
    assert found.accuracy == 0.5
    # Of 5 and 2, the two of most attention, 5 decides; of 8, 6 are on them.
    assert found.agreement["attention"].precision == 0.5
    assert found.agreement["attention"].mass == 6 / 8
    assert measurement.counts["attention", "mass"] == 1
    assert found.agreement["attention"].first == 1


def test_the_word_that_changes_most_when_left_out():
    """The one of 5: 0.8 falls to 0.3 without it."""
    measurement = measuring.Measurement(
        Stub(), (0.3,), seed=0, methods=("gradient x input", "leave one out")
    )
    measurement.add([(Record("2 5 1", "b", (0, 1)), 1)])
    found = measurement.result()
    assert list(found.agreement) == ["gradient x input", "leave one out"]
    assert found.losses["leave one out", 0.3].comprehensiveness == (
        pytest.approx(0.5)
    )
    assert found.agreement["leave one out"].first == 1
    assert found.agreement["gradient x input"].first == 0
    assert found.agreement["leave one out"].mass == pytest.approx(7 / 8)


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


def test_gradient_times_input_is_the_slope_of_the_log_probability():
    model = tiny_classifier()
    draw_weights(model)
    reader = Reader(model)
    features = reader.read(["good food", "bad"])
    outputs, _, products = reader.look(features)
    assert products[0][1, 1] == 0
    table = model.get_layer("word_vectors").embeddings
    whole = table.numpy()
    word = features["token_ids"][0, 0]

    def log_probability(scale):
        scaled = whole.copy()
        scaled[word] *= scale
        table.assign(scaled)
        return np.log(array(model(features))[0, outputs[0].argmax()])

    slope = (log_probability(1.01) - log_probability(0.99)) / 0.02
    assert abs(slope) > 1e-4
    assert products[0][0, 0] == pytest.approx(slope, rel=0.02, abs=1e-5)


PAIRS = [("good food", "bad"), ("food n't good .", "the food"), ("bad", "")]


@pytest.mark.parametrize("make", [siamese, decomposable])
def test_a_pair_is_read_on_both_sides(make):
    model = make()
    reader = Reader(model)
    features = reader.read(PAIRS)
    outputs, scores, products = reader.look(features)
    expected = model.attention_model()(features)
    order = [0, 1] if reader.has_heads else [1, 0]
    for side, other in enumerate(order):
        np.testing.assert_allclose(
            scores[side], array(expected[other]), rtol=1e-5
        )
        ids = features[f"{reader.sides[side]}token_ids"]
        assert products[side].shape == scores[side].shape[::2] == ids.shape
        assert (products[side] != 0).sum() == (ids != 0).sum()
    table = model.get_layer("word_vectors").embeddings
    whole = table.numpy()
    # The only word of the last hypothesis behind the NULL token, if any.
    row, column = 2, reader.nulls
    word = features["hypothesis_token_ids"][row, column]
    assert (features["premise_token_ids"][row] != word).all()

    def log_probability(scale):
        scaled = whole.copy()
        scaled[word] *= scale
        table.assign(scaled)
        answer = model({k: v[row : row + 1] for k, v in features.items()})
        return np.log(array(answer)[0, outputs[row].argmax()])

    slope = (log_probability(1.01) - log_probability(0.99)) / 0.02
    assert abs(slope) > 1e-4
    assert products[1][row, column] == pytest.approx(slope, rel=0.02, abs=1e-5)


@pytest.mark.parametrize("make", [siamese, decomposable])
def test_faithfulness_of_pairs(make):
    model = make()

    def measured(size):
        data = [Record(pair, "b", ((0,), (0, 1))) for pair in PAIRS]
        return faithfulness.measure(model, data, (0.5,), size, seed=2)

    first, second = measured(1), measured(3)
    for key, loss in first.losses.items():
        expected = list(vars(second.losses[key]).values())
        assert list(vars(loss).values()) == pytest.approx(expected, abs=1e-5)
    assert any(abs(x.comprehensiveness) > 1e-6 for x in first.losses.values())
    assert first.agreement.keys() == set(faithfulness.METHODS)
    # The premises' first words and all the hypotheses' are said to decide.
    for method, found in first.agreement.items():
        assert vars(found) == pytest.approx(vars(second.agreement[method]))
        assert 0.5 <= found.precision <= 1
    if make is siamese:
        assert first.num_heads == 2
        assert 1 <= first.effective_heads <= 2
        assert first.head_overlap == pytest.approx(second.head_overlap)
    else:
        assert first.num_heads is first.head_overlap is None


def test_words_that_most_others_look_at_are_taken_first():
    model = decomposable()
    reader = Reader(model)
    outputs, scores, _ = reader.look(reader.read(PAIRS[:1]))
    _, back = model.attention_model()(model.preprocess(PAIRS[:1]))
    looked_at = array(back)[0].sum(axis=0)[1:]
    features = reader.read(PAIRS[:1])
    keeps = [side["token_ids"] != 0 for side in reader.split(features)]
    keeps[0][0, 1 + looked_at.argmax()] = False
    left = reader.answer(reader.read(PAIRS[:1]), keeps)
    predicted = outputs[0].argmax()
    measured = faithfulness.measure(model, [(PAIRS[0], "a")], (0.01,))
    # Of the hypothesis its only word goes too.
    keeps[1][0, 1] = False
    left = reader.answer(reader.read(PAIRS[:1]), keeps)
    assert measured.losses["attention", 0.01].comprehensiveness == (
        pytest.approx(outputs[0, predicted] - left[0, predicted], abs=1e-6)
    )


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


def test_words_that_decide_beyond_those_that_are_read_are_counted():
    model = tiny_classifier()
    model.preprocessor.max_tokens = 2
    texts = ["good food bad bad", "bad", "food good n't"]

    def measured(*deciding):
        data = [
            Record(text, "two", words)
            for text, words in zip(texts, deciding, strict=True)
        ]
        return faithfulness.measure(model, data, (0.5,))

    found = measured((1, 3), (0,), (2,))
    assert (found.deciding, found.deciding_unread) == (4, 2)
    read = measured((1,), (0,), None)
    assert (read.deciding, read.deciding_unread) == (2, 0)
    assert found.agreement == read.agreement
    none = measured((2, 3), (), (2,))
    assert (none.deciding, none.deciding_unread) == (3, 3)
    assert none.agreement == {}
    nothing = np.zeros(2, bool)
    with pytest.raises(ValueError, match="at least one word that decides"):
        faithfulness.agreement(np.ones(2), ~nothing, nothing)


def test_the_command_line_prints_it(tmp_path, capsys):
    model = tiny_classifier()
    model.save_to_preset(tmp_path / "model")
    rows = [{"text": t, "label": g} for t, g in records(model) if t]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["evaluate", str(tmp_path / "model"), str(data)]
    assert main(arguments) == 0
    assert "gradient" not in capsys.readouterr().out
    assert main([*arguments, "--faithfulness"]) == 0
    shown = capsys.readouterr().out
    for part in (*faithfulness.METHODS, "50%", "Heads: 2, effective number"):
        assert part in shown


@pytest.mark.parametrize("make", [tiny_classifier, siamese, decomposable])
@pytest.mark.filterwarnings("ignore:.quantize. left these layers")
def test_a_model_that_keras_has_quantized(make):
    model = make()
    texts = [TEXTS[0], TEXTS[3]]
    if make is not tiny_classifier:
        texts = [(text, TEXTS[2]) for text in texts]
    before = Reader(model)
    features = before.read(texts)
    outputs, _, gradients = before.look(features)
    model.quantize("int8")
    after = Reader(model)
    found, _, found_gradients = after.look(features)
    assert (found != outputs).any()
    np.testing.assert_allclose(found, outputs, atol=0.03)
    for ours, theirs in zip(found_gradients, gradients, strict=True):
        cosine = (ours * theirs).sum()
        cosine /= np.linalg.norm(ours) * np.linalg.norm(theirs)
        assert cosine > 0.9
    result = faithfulness.measure(model, records(model, texts))
    assert np.isfinite(result.losses["gradient x input", 0.5].sufficiency)


def test_logits_lose_probability():
    model = tiny_classifier()
    logits = tiny_classifier(activation=None)
    logits.set_weights(model.get_weights())
    expected, found = (
        faithfulness.measure(m, records(m), shares=[0.5])
        for m in (model, logits)
    )
    for method in faithfulness.METHODS:
        np.testing.assert_allclose(
            found.losses[method, 0.5].comprehensiveness,
            expected.losses[method, 0.5].comprehensiveness,
            atol=1e-6,
        )


def test_shares_and_methods_may_be_read_once():
    model = tiny_classifier()
    found = faithfulness.measure(
        model, records(model), iter([0.5]), methods=iter(["random"])
    )
    assert list(found.losses) == [("random", 0.5)]


def test_bad_input_is_named():
    model = tiny_classifier()
    with pytest.raises(ValueError, match="text 2.*'unheard'"):
        faithfulness.measure(model, [("a", "1"), ("b", "unheard")])
    with pytest.raises(ValueError, match="no text was given"):
        faithfulness.measure(model, [])
    with pytest.raises(ValueError, match="`methods`.*Received: .*'luck'"):
        faithfulness.measure(model, [("a", "1")], methods=("luck",))
    for given in ({"shares": 0.5}, {"methods": "attention"}):
        with pytest.raises(ValueError, match="must be several"):
            faithfulness.measure(model, [("a", "1")], **given)
    with pytest.raises(ValueError, match="`batch_size` must be an integer"):
        faithfulness.measure(model, [("a", "1")], batch_size=0)
    with pytest.raises(ValueError, match="shares=.0.1, 1.5"):
        faithfulness.measure(model, [("a", "1")], shares=(0.1, 1.5))
    model.labels = None
    with pytest.raises(ValueError, match="model's `labels`.*without"):
        faithfulness.measure(model, [("a", "1")])
    model.preprocessor = None
    with pytest.raises(ValueError, match="`preprocessor`"):
        faithfulness.measure(model, [("a", "1")])
    with pytest.raises(ValueError, match="Classifier.*Received: Sequential"):
        faithfulness.measure(keras.Sequential(), [])

import numpy as np
import pytest

from keras_selfattn.backends import compiled
from keras_selfattn.effects import leaving_out
from keras_selfattn.effects.gradients import gradient_times_input
from keras_selfattn.effects.measuring import METHODS
from keras_selfattn.effects.measuring import check
from keras_selfattn.effects.measuring import measure
from keras_selfattn.effects.reader import Reader
from tests.same_weights import draw_weights
from tests.tiny_classifier import tiny_classifier
from tests.visualization.examples import decomposable
from tests.visualization.examples import siamese

TEXTS = ["good food", "the food was n't good .", "bad", ""]
PAIRS = [("A dog", "man"), ("man plays A .", "the dog"), ("man", "")]


@pytest.mark.parametrize(
    "make, texts",
    [
        (tiny_classifier, TEXTS),
        (lambda: tiny_classifier(characters="adefgo"), TEXTS),
        (
            lambda: tiny_classifier(pooling="generalized", activation=None),
            TEXTS,
        ),
        (siamese, PAIRS),
        (decomposable, PAIRS),
    ],
    ids=["single", "characters", "generalized", "siamese", "decomposable"],
)
def test_without_a_word_the_answer_is_that_of_the_other_words(make, texts):
    model = make()
    draw_weights(model)
    reader = Reader(model)
    answer = compiled.probabilities(model)
    found = measure(reader, reader.read(texts), ["leave_one_out"])
    largest = 0.0
    for row, text in enumerate(texts):
        sides = [text] if isinstance(text, str) else list(text)
        (whole,) = answer(model.preprocess([text]))
        for side, sentence in enumerate(sides):
            words = sentence.split()
            lost = found["leave_one_out"][side][row]
            assert (lost[reader.nulls + len(words) :] == 0).all()
            assert (lost[: reader.nulls] == 0).all()
            for step in range(len(words)):
                left = " ".join(words[:step] + words[step + 1 :])
                parts = [*sides[:side], left, *sides[side + 1 :]]
                asked = left if len(sides) == 1 else tuple(parts)
                (without,) = answer(model.preprocess([asked]))
                best = whole.argmax()
                assert lost[reader.nulls + step] == pytest.approx(
                    whole[best] - without[best], abs=1e-5
                )
                largest = max(largest, abs(whole[best] - without[best]))
    assert largest > 1e-3


@pytest.mark.parametrize(
    "make, text",
    [
        (tiny_classifier, ""),
        (lambda: tiny_classifier(characters="adefgo"), ""),
        (siamese, ("", "")),
        (decomposable, ("", "")),
    ],
    ids=["single", "characters", "siamese", "decomposable"],
)
def test_nothing_is_not_asked_without_a_word(make, text, monkeypatch):
    reader = Reader(make())
    longer = "A dog" if text == "" else ("A dog", "the dog plays")
    features = reader.read([text, longer])
    asked = []
    answer = reader.answer

    def counted(features, keeps):
        asked.append(len(keeps))
        return answer(features, keeps)

    monkeypatch.setattr(reader, "answer", counted)
    found = measure(reader, features, ["leave_one_out"])["leave_one_out"]
    assert len(asked) == 1
    for effects in found:
        assert (effects[0] == 0).all()


@pytest.mark.parametrize("make", [tiny_classifier, siamese, decomposable])
def test_gradients_are_those_of_words_alone(make):
    model = make()
    draw_weights(model)
    texts = TEXTS if make is tiny_classifier else PAIRS
    reader = Reader(model)
    features = reader.read(texts)
    found = measure(reader, features, ["gradient_x_input"])
    _, products = gradient_times_input(model)(features)
    words, nulls = reader.words(features)
    for effects, product, word in zip(
        found["gradient_x_input"], products, words, strict=True
    ):
        assert effects.shape == word.shape
        np.testing.assert_array_equal(effects[word], product[word])
        assert (effects[~word] == 0).all()
        assert (effects[word] != 0).all()


def test_a_long_text_is_asked_in_parts(monkeypatch):
    reader = Reader(tiny_classifier())
    features = reader.read(["the food was n't good . " * 3])
    (whole,) = measure(reader, features, ["leave_one_out"])["leave_one_out"]
    sizes = []
    answer = reader.answer

    def counted(features, keeps):
        sizes.append(len(keeps[0]))
        return answer(features, keeps)

    monkeypatch.setattr(reader, "answer", counted)
    monkeypatch.setattr(leaving_out, "_MAX_TOKENS", 5 * whole.size)
    (parts,) = measure(reader, features, ["leave_one_out"])["leave_one_out"]
    np.testing.assert_allclose(parts, whole, atol=1e-6)
    assert len(sizes) == -(-18 // 5)


def test_methods_are_checked():
    assert check(None) == ()
    assert check("leave_one_out") == ("leave_one_out",)
    assert check(METHODS) == METHODS
    with pytest.raises(ValueError, match="`effects`.*Received: effects='sum'"):
        check(["leave_one_out", "sum"])

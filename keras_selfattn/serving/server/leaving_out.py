"""What a served model's answer loses without each word of a text."""

import numpy as np

from keras_selfattn.controls import clean
from keras_selfattn.serving.server.explaining import tokens_of
from keras_selfattn.text import NULL
from keras_selfattn.text import UNKNOWN
from keras_selfattn.text.utf8 import encoded

# Each is a row to ask; of longer texts the next answer would wait too long.
MOST_WORDS = 100
METHOD = "leave_one_out"


def without_each_word(seen):
    """The texts of an explanation with one word less in each row.

    They are written as the words that the model has read, with spaces between
    them: so the words of each row are the others, and no further ones.

    Args:
        seen: What `explaining.explanation` gives.

    Returns:
        List with one list of bytes for each input of the model.

    Raises:
        ValueError: if there is no word or there are too many, or if without
            one of them the text would be read as other words, as that of
            "J. Fox" without its last word.
    """
    sides = list(seen.sides().values())
    count = sum(map(_count_words, sides))
    if not 0 < count <= MOST_WORDS:
        raise ValueError(
            f"What decided is told for up to {MOST_WORDS} words."
            if count
            else "There is no word to leave out."
        )
    rows = [
        [shorter if each is side else each.text for each in sides]
        for side in sides
        for shorter in _shorter(side)
    ]
    return [[*map(encoded, column)] for column in zip(*rows, strict=True)]


def _shorter(side):
    count = _count_words(side)
    if not count:
        return []
    words = tokens_of([side.text])[0][:count]
    left = [words[:place] + words[place + 1 :] for place in range(count)]
    texts = [" ".join(others) for others in left]
    for word, others, found in zip(words, left, tokens_of(texts), strict=True):
        if found != (others or [UNKNOWN]):
            raise ValueError(
                "What decided is not told: without "
                f"“{clean(word)}” the text would be read as other words."
            )
    return texts


def _nulls(side):
    """How many words before the text the model added itself."""
    return int(side.tokens[0] == NULL)


def _count_words(side):
    """How many words of the text the model has read."""
    tokens = side.tokens[_nulls(side) :]
    # No word of a text is written so, as brackets stand apart.
    return 0 if tokens == [UNKNOWN] else len(tokens)


def set_effects(seen, probabilities):
    """Give the sentences of an explanation the effects of their words.

    Args:
        seen: The explanation.
        probabilities: Array `(rows, classes)`, the answers to what
            `without_each_word` gave.
    """
    label = int(np.argmax(seen.probabilities))
    lost = seen.probabilities[label] - probabilities[:, label]
    for side in seen.sides().values():
        count = _count_words(side)
        effects = np.zeros(len(side.tokens))
        effects[_nulls(side) :][:count] = lost[:count]
        side.effects[METHOD] = effects
        lost = lost[count:]


def most_effective(seen, count=3):
    """The words that the answer changes most without.

    Returns:
        List of up to `count` pairs of a word and the probability of the
        predicted label without it.
    """
    words = []
    for side in seen.sides().values():
        told = list(zip(side.words, side.effects[METHOD], strict=True))
        # What stands for no word of the text was not left out.
        words += told[_nulls(side) :][: _count_words(side)]
    words.sort(key=lambda pair: -abs(pair[1]))
    return [
        (word, float(seen.confidence - effect))
        for word, effect in words[:count]
    ]

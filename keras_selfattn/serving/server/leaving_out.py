"""What a served model's answer loses without each word of a text."""

import numpy as np

from keras_selfattn.visualization.alignment import NULL

# Each is a row to ask; of longer texts the next answer would wait too long.
MOST_WORDS = 100
METHOD = "leave_one_out"


def without_each_word(seen):
    """The texts of an explanation with one word less in each row.

    Args:
        seen: What `explaining.explanation` gives.

    Returns:
        List with one list of bytes for each input of the model.
    """
    sides = list(seen.sides().values())
    rows = [
        [shorter if each is side else each.text for each in sides]
        for side in sides
        for shorter in _shorter(side)
    ]
    return [
        [text.encode("utf-8", "surrogatepass") for text in column]
        for column in zip(*rows, strict=True)
    ]


def _shorter(side):
    shown, spans = side.aligned
    words = spans[_nulls(side) :]
    begin = words[0][0] if words else 0
    for start, end in words:
        yield shown[begin:start] + shown[end:]


def _nulls(side):
    """How many words before the text the model added itself."""
    return int(side.tokens[0] == NULL and not side.text.startswith(NULL))


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
        nulls = _nulls(side)
        words = len(side.tokens) - nulls
        effects = np.concatenate([np.zeros(nulls), lost[:words]])
        side.effects[METHOD] = effects
        lost = lost[words:]


def most_effective(seen, count=3):
    """The words that the answer changes most without.

    Returns:
        List of up to `count` pairs of a word and the probability of the
        predicted label without it.
    """
    words = [
        (word, effect)
        for side in seen.sides().values()
        for word, effect in zip(side.words, side.effects[METHOD], strict=True)
    ]
    words.sort(key=lambda pair: -abs(pair[1]))
    return [
        (word, float(seen.confidence - effect))
        for word, effect in words[:count]
    ]

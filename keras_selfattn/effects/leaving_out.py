"""What a classifier's answer loses without each word."""

import numpy as np

from keras_selfattn.backends import compiled
from keras_selfattn.streams import chunks

# More would take memory that no batch of whole texts takes.
_MAX_TOKENS = 1 << 15


def leave_one_out(reader, features, outputs):
    """What each text's largest probability loses without each word.

    All parts of a text that lack one word are a batch.

    Args:
        reader: A `Reader`.
        features: Dictionary of arrays, the model's inputs.
        outputs: Array `(B, classes)`, the probabilities for the whole texts.

    Returns:
        List of an array `(B, n)` for each sentence; 0 where no word is.
    """
    words, nulls = reader.words(features)
    kept = [w | n for w, n in zip(words, nulls, strict=True)]
    nothing = reader.reads_nothing(features)
    lost = [np.zeros(side.shape) for side in words]
    tokens = sum(side.shape[1] for side in words)
    size = max(1, _MAX_TOKENS // tokens)
    for row, probabilities in enumerate(outputs):
        predicted = probabilities.argmax()
        places = [
            (side, step)
            for side, of_side in enumerate(words)
            # It would be asked the same again, and answer to the last digit
            # as the size of the batch has it.
            if not nothing[side][row]
            for step in np.flatnonzero(of_side[row])
        ]
        for part in chunks(places, size):
            left = _without(reader, features, kept, row, part)
            for (side, step), without in zip(part, left, strict=True):
                change = probabilities[predicted] - without[predicted]
                lost[side][row, step] = change
    return lost


def _without(reader, features, kept, row, places):
    """The answers to one text, each without the word of one of the places."""
    sides, steps = map(np.array, zip(*places, strict=True))
    # On JAX each number of rows would be compiled anew.
    rows = compiled.padded_rows(len(places))
    keeps = []
    for side, of_side in enumerate(kept):
        keep = np.repeat(of_side[row : row + 1], rows, axis=0)
        (here,) = np.nonzero(sides == side)
        keep[here, steps[here]] = False
        keeps.append(keep)
    whole = {
        name: np.repeat(ids[row : row + 1], rows, axis=0)
        for name, ids in features.items()
    }
    return reader.answer(whole, keeps)[: len(places)]

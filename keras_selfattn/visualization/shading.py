"""The one scale of all pictures: a weight in even shares.

An even share is what each of `n` words would have if all had the same, `1/n`.
A word is shaded by how many of them it has, in steps, so that a shade means
the same in every text, head, view and step of a training.
"""

import numpy as np

from keras_selfattn.visualization.formatting import percent

# The least even shares of each shade; what has less is left plain.
STEPS = (1.5, 2, 3, 5, 8)
UNIT = "× an even share"
# Of each table of how words look at words.
ROWS = "each row adds up to 100%"


def even_shares(weights, words):
    """Weights as multiples of an even share, to two decimals.

    Args:
        weights: Array of weights that are spread over `words` words.
        words: Integer.

    Returns:
        Array of the same shape.

    Example:

    >>> even_shares([0.5, 0.25, 0.125, 0.125], 4)
    array([2. , 1. , 0.5, 0.5])
    """
    return np.round(np.asarray(weights, "float64") * words, 2)


def levels(weights, words):
    """The shade of each weight, from 0, plain, to `len(STEPS)`.

    Args:
        weights: As for `even_shares`, and so is `words`.

    Returns:
        Array of integers of the same shape.

    Example:

    >>> levels([0.5, 0.25, 0.125, 0.125], 4)
    array([2, 0, 0, 0])
    """
    return np.searchsorted(STEPS, even_shares(weights, words), side="right")


def plain_note(share):
    """What is said where no word is shaded.

    Args:
        share: String, an even share in percent.
    """
    return f"No word stands out: each has less than {STEPS[0]}{UNIT} ({share})."


def note(weights):
    """A sentence on weights that are nearly even, or `""`.

    Args:
        weights: Array of shape `(n,)`.

    Example:

    >>> note([0.3, 0.25, 0.25, 0.2])
    'No word stands out: each has less than 1.5× an even share (25%).'
    >>> note([0.7, 0.1, 0.1, 0.1])
    ''
    """
    words = len(weights)
    if words == 1 or levels(weights, words).any():
        return ""
    return plain_note(percent(1 / words))

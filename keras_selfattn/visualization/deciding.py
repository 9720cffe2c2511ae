"""What decided: the effects of a sentence's words, as all pictures show them.

An effect is shaded by its share of all effects of the sentence, whatever
their signs, on the scale of `shading`: so the same shade of attention and of
effect is the same number of even shares.
"""

import numpy as np

from keras_selfattn.controls import clean
from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import percent

TITLES = {
    "leave_one_out": "Effect of leaving each word out",
    "gradient_x_input": "Effect of each word by gradient × input",
}
# As the heads of columns, and what their numbers are.
SHORT = {"leave_one_out": "left out", "gradient_x_input": "gradient"}
UNITS = {
    "leave_one_out": "points of probability lost without the word",
    "gradient_x_input": "share of all effects by gradient × input",
}
# A change of the probability that nobody would call a reason.
LEAST = 0.01


def shares(effects):
    """The effects as shares of their absolute sum.

    Example:

    >>> shares([0.75, -0.25, 0.0])
    array([ 0.75, -0.25,  0.  ])
    """
    effects = np.asarray(effects, "float64")
    return effects / (np.abs(effects).sum() or 1.0)


def levels(method, effects):
    """The shade of each word, negative where it speaks against the answer.

    Args:
        method: String, the name of the method.
        effects: Array of shape `(n,)`.

    Returns:
        Array of integers from `-len(shading.STEPS)` to that.

    Example:

    >>> levels("leave_one_out", [0.6, -0.25, 0.0, 0.0])
    array([2, 0, 0, 0])
    >>> levels("leave_one_out", [0.001, -0.001, 0.0, 0.0])
    array([0, 0, 0, 0])
    """
    if _is_nothing(method, effects):
        return np.zeros(len(effects), int)
    part = shares(effects)
    return np.sign(part).astype(int) * shading.levels(np.abs(part), len(part))


def text(method, effects):
    """Each effect in words: a loss of probability, or a share of all effects.

    Example:

    >>> text("leave_one_out", [0.31, -0.002])
    ['+31 points', '-0.2 points']
    >>> text("gradient_x_input", [0.75, -0.25])
    ['+75%', '-25%']
    """
    if method == "leave_one_out":
        return [f"{_points(100 * each)} points" for each in effects]
    return [_signed_percent(share) for share in shares(effects)]


def cells(method, effects):
    """Each effect as tables show it: blank where it rounds to nothing.

    Example:

    >>> cells("leave_one_out", [0.31, -0.002, 0.0001])
    ['+31', '-0.2', '']
    """
    if method == "leave_one_out":
        return [
            _points(100 * each) if abs(each) >= 0.0005 else ""
            for each in effects
        ]
    return [
        _signed_percent(share) if abs(share) >= 0.0005 else ""
        for share in shares(effects)
    ]


def notes(method, sentence):
    """What the shades alone do not say, as a list of sentences.

    Attention and effect disagree strongly where the word that has the most
    effect, and stands out by it, gets less than an even share of the
    attention.

    Args:
        method: String, the name of the method.
        sentence: `Sentence` with effects by this method.
    """
    effects = sentence.effects[method]
    words = len(effects)
    if _is_nothing(method, effects):
        if method == "leave_one_out":
            return [
                "No word decides alone: without any one of them the "
                "probability changes by less than 1 point."
            ]
        return ["No word has an effect."]
    shades = levels(method, effects)
    if not shades.any():
        return [shading.plain_note(percent(1 / words))] if words > 1 else []
    first = int(np.argmax(np.abs(effects)))
    attention = sentence.overall[first]
    if shading.even_shares(attention, words) >= 1:
        return []
    return [
        f"Attention and effect disagree: “{clean(sentence.words[first])}” has "
        f"the most effect ({text(method, effects)[first]}), and only "
        f"{percent(attention)} of the attention, less than an even share "
        f"({percent(1 / words)})."
    ]


def _is_nothing(method, effects):
    largest = np.abs(effects).max()
    return largest == 0 or (method == "leave_one_out" and largest < LEAST)


def _points(points):
    return f"{points:+.0f}" if abs(points) >= 9.95 else f"{points:+.1f}"


def _signed_percent(share):
    return ("-" if share < 0 else "+") + percent(abs(share))

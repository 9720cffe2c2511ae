"""Words in the order of their weight, and how well it finds what decides."""

import math

import numpy as np


def most_important(
    weights: np.ndarray, words: np.ndarray, share: float
) -> np.ndarray:
    """The most important words of each text; of equals the first.

    Args:
        weights: Array of shape `(B, n)`.
        words: Boolean array of shape `(B, n)`, True at words.
        share: Float, the share of each text's words that is chosen, rounded
            up.

    Returns:
        Boolean array of shape `(B, n)`.

    Example:

    >>> import numpy as np
    >>> weights = np.array([[0.1, 0.5, 0.4, 0.9]])
    >>> most_important(weights, weights < 0.6, share=0.5).tolist()
    [[False, True, True, False]]
    """
    # A product such as 0.07 * 100 is a little more than it should be.
    limits = np.ceil(share * words.sum(axis=1) - 1e-9)
    return words & (_ranks(weights, words) < limits[:, None])


def _ranks(weights, words):
    order = np.argsort(np.where(words, -weights, math.inf), kind="stable")
    return np.argsort(order, axis=-1)


def agreement(
    weights: np.ndarray, words: np.ndarray, decides: np.ndarray
) -> tuple[float, float]:
    """Precision and mass of one text's weights on its deciding words.

    Args:
        weights: Array of shape `(n,)`.
        words: Boolean array of shape `(n,)`, True at words.
        decides: Boolean array of shape `(n,)`, True at words that decide.

    Returns:
        The two values of `Agreement`. The mass is 0 where no weight is
        positive.

    Raises:
        ValueError: if no word decides, which leaves nothing to find.
    """
    if not np.any(decides):
        raise ValueError(
            "Expected at least one word that decides. Received: none"
        )
    top = _ranks(weights, words) < decides.sum()
    positive = np.maximum(np.where(words, weights, 0.0), 0.0)
    return (
        float(decides[top].mean()),
        float(positive[decides].sum() / (positive.sum() or 1.0)),
    )


def finds_first(weights, words, decides):
    """Whether the word of one text's largest weight decides.

    Args:
        weights: As in `agreement`, and so are the rest.
    """
    return bool(decides[_ranks(weights, words) == 0].all())

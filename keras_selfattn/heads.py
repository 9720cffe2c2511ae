"""Measures of attention heads: how they differ and where they look.

Each takes scores of shape `(..., heads, n)`, one row of weights a head, that
sums to 1 over the words.
"""

from typing import Any

import numpy as np
from keras import ops


def of_words(scores: Any) -> Any:
    """Scores with one weight a word in each head.

    Generalized pooling weighs each feature by itself; a word then counts
    with the mean over its features.

    Args:
        scores: Array or tensor of shape `(B, heads, n)` or
            `(B, heads, n, D)`.

    Returns:
        A float64 array, or a tensor, of shape `(B, heads, n)`.
    """
    if ops.is_tensor(scores):
        return ops.mean(scores, axis=-1) if len(scores.shape) == 4 else scores
    scores = np.asarray(scores, "float64")
    return scores.mean(axis=-1) if scores.ndim == 4 else scores


def overlap(scores: np.ndarray) -> np.ndarray:
    """How much each head overlaps with the others, on average.

    The overlap of two heads `a` and `b` is the weight they share,
    `Σ_t min(a_t, b_t)`: 1 where they are equal, 0 where they have no word in
    common, however much they spread. The mean over the heads is the mean
    overlap of all pairs.

    Args:
        scores: Array of shape `(..., heads, n)`.

    Returns:
        Array of shape `(..., heads)`; zero for a single head.

    Example:

    >>> import numpy as np
    >>> overlap(np.array([[1.0, 0.0], [0.25, 0.75], [0.25, 0.75]]))
    array([0.25 , 0.625, 0.625])
    """
    scores = np.asarray(scores, "float64")
    heads = scores.shape[-2]
    total = np.zeros(scores.shape[:-1])
    # Head by head: all pairs at once would be `heads` times as large.
    for head in range(heads):
        shared = np.minimum(scores[..., [head], :], scores).sum(axis=-1)
        shared[..., head] = 0.0
        total[..., head] = shared.sum(axis=-1)
    return total / max(heads - 1, 1)


def penalty(scores: np.ndarray) -> np.ndarray:
    """Each head's part of `‖A Aᵀ − I‖²_F`, the penalty of Lin et al.

    It is the sum of the squares in the head's row of `A Aᵀ − I`: 0 for a
    head on a single word that no other head looks at.

    Args:
        scores: Array `A` of shape `(..., heads, n)`.

    Returns:
        Array of shape `(..., heads)`.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), equation 8

    Example:

    >>> import numpy as np
    >>> penalty(np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([0.25, 0.5 ])
    """
    scores = np.asarray(scores, "float64")
    products = scores @ np.swapaxes(scores, -1, -2)
    return np.square(products - np.eye(scores.shape[-2])).sum(axis=-1)


def effective_number(scores: np.ndarray) -> np.ndarray:
    """How many heads that differ wholly would be as diverse as a text's.

    With `K` the cosines of all pairs of heads and `λ` the eigenvalues of
    `K / heads`, which sum to 1, it is `exp(-Σ λ log λ)`: the number of heads
    where no two share a word, 1 where all are equal.

    Args:
        scores: Array of shape `(..., heads, n)`, not negative.

    Returns:
        Array of shape `(...,)`, from 1 to `min(heads, n)`.

    References:
        - [Friedman and Dieng, 2023](https://arxiv.org/abs/2210.02410), the
            Vendi score, here with the cosine as similarity
        - Roy and Vetterli, 2007, "The effective rank", of the matrix of the
            heads scaled to unit length where the squares of its singular
            values take the place of these values

    Example:

    >>> import numpy as np
    >>> same = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> effective_number(np.array([same, np.eye(2)])).round(6)
    array([1., 2.])
    """
    scores = np.asarray(scores, "float64")
    norms = np.linalg.norm(scores, axis=-1, keepdims=True)
    units = scores / np.where(norms > 0, norms, 1.0)
    cosines = units @ np.swapaxes(units, -1, -2)
    values = np.linalg.eigvalsh(cosines / scores.shape[-2])
    return np.exp(entropy(np.maximum(values, 0.0)))


def entropy(scores: np.ndarray) -> np.ndarray:
    """The entropy of each head, `-Σ_t a_t log a_t`, in nats.

    It is 0 for a head on a single word, and `log n` for one that is spread
    evenly over `n` words.

    Args:
        scores: Array of shape `(..., n)`; each row sums to 1.

    Returns:
        Array of shape `(...,)`.

    Example:

    >>> import numpy as np
    >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([0.    , 0.6931])
    """
    scores = np.asarray(scores, "float64")
    logs = np.log(np.where(scores > 0, scores, 1.0))
    # The sum of -0.0 would be shown as such.
    return 0.0 - (scores * logs).sum(axis=-1)

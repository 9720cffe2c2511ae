"""Vectors for words without a pretrained one, from contexts and spelling."""

import zlib
from collections.abc import Iterable
from collections.abc import Sequence

import numpy as np

_WINDOW = 5
_NGRAM_LENGTHS = (3, 4, 5)
_NGRAM_BUCKETS = 4096
# Spelling predicts less than contexts do, and has more features.
_SPELLING_WEIGHT = 0.4
_RIDGE = 0.4
# Rows of a few thousand features are held at a time.
_CHUNK_WORDS = 1024
# As many words as there are features have as large a matrix.
_DUAL_WORDS = _NGRAM_BUCKETS


def induce_word_vectors(
    stretches: Iterable,
    words: Sequence[str],
    vectors: np.ndarray,
    found: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Predicts vectors of the words that have no pretrained one.

    A ridge regression, fitted on the words that have a vector and weighted by
    the logarithm of how often they occur, predicts a word's vector from

    1. the mean of the pretrained vectors of up to five words on either side,
        over all places where the word stands, and
    2. the n-grams of its characters, hashed.

    The vectors are scaled to the length of the pretrained ones.

    Args:
        stretches: Iterable of pairs of the token ids of some texts, one text
            after the other, and the number of tokens of each text, as
            `EncodedDataset.token_stretches` yields them.
        words: List of strings, the words of the last ids.
        vectors: Array of shape `(ids, width)`, zero where there is no vector.
        found: Booleans of shape `(ids,)`: which ids have a vector.

    Returns:
        A pair like that of `vectors` and `found`, in which all `words` have a
        vector.

    Raises:
        ValueError: if no word of the texts has a vector.

    References:
        - [Khodak et al., 2018](https://arxiv.org/abs/1805.05388), contexts
        - [Pinter et al., 2017](https://arxiv.org/abs/1707.06961), spelling

    Example:

    >>> texts = np.array([1, 2, 3, 1, 4, 3]), [3, 3]
    >>> words = ["a", "cat", "sat", "cats"]
    >>> vectors = np.array([[0, 0], [1, 0], [0, 2], [1, 1], [0, 0]], "float32")
    >>> found = np.array([False, True, True, True, False])
    >>> induced, found = induce_word_vectors([texts], words, vectors, found)
    >>> found.tolist()
    [False, True, True, True, True]
    >>> bool(np.argmax(induced[4]) == np.argmax(induced[2]))
    True
    """
    first = len(vectors) - len(words)
    known = np.flatnonzero(found)
    missing = first + np.flatnonzero(~found[first:])
    contexts, occurrences = _mean_contexts(stretches, vectors, found)
    if not occurrences[known].any():
        raise ValueError(
            "Word vectors are induced from those of the texts' other words. "
            "Received: vectors of none of them"
        )
    contexts -= contexts[known].mean(0)
    scale = np.sqrt(np.square(contexts[known]).sum(1).mean())
    contexts /= max(scale, 1e-12)

    def features(rows):
        spelling = _spelling([words[row - first] for row in rows])
        return np.concatenate([contexts[rows], spelling], 1)

    weights = np.log1p(occurrences)
    # A word that is in no text has no weight.
    counted = known[occurrences[known] > 0]
    solve = _dual if len(counted) <= _DUAL_WORDS else _primal
    feature_mean, vector_mean, kernel = solve(
        features, vectors, weights, counted
    )
    square_length = sum(
        np.square(vectors[rows], dtype="float64").sum() / len(known)
        for rows in _chunks(known)
    )

    vectors, found = vectors.copy(), found.copy()
    for rows in _chunks(missing):
        induced = (features(rows) - feature_mean) @ kernel + vector_mean
        # A regression's values are shrunk toward their mean.
        lengths = np.linalg.norm(induced, axis=1, keepdims=True)
        induced *= np.sqrt(square_length) / np.maximum(lengths, 1e-12)
        vectors[rows] = induced
    found[missing] = True
    return vectors, found


def _dual(features, vectors, weights, rows):
    """A centered, weighted ridge regression, by the products of words.

    Returns:
        The features' mean, the vectors', and the kernel.
    """
    x, y, weights = features(rows), vectors[rows], weights[rows]
    x_mean, y_mean = (weights @ each / weights.sum() for each in (x, y))
    roots = np.sqrt(weights)[:, None]
    x = (x - x_mean) * roots
    products = x @ x.T
    products[np.diag_indices_from(products)] += _RIDGE
    return x_mean, y_mean, x.T @ np.linalg.solve(products, (y - y_mean) * roots)


def _primal(features, vectors, weights, rows):
    """The same, by the products of features, from some words at a time."""
    total = weights[rows].sum()
    x_mean, y_mean, products, moments = 0.0, 0.0, 0.0, 0.0
    for some in _chunks(rows):
        x, y = features(some), vectors[some].astype("float64")
        weighted = x * weights[some, None]
        x_mean += weighted.sum(0) / total
        y_mean += weights[some] @ y / total
        products += x.T @ weighted
        moments += weighted.T @ y
    products -= total * np.outer(x_mean, x_mean)
    moments -= total * np.outer(x_mean, y_mean)
    products[np.diag_indices_from(products)] += _RIDGE
    return x_mean, y_mean, np.linalg.solve(products, moments)


def _mean_contexts(stretches, vectors, found):
    """The mean vector around each id, and how often the id occurs."""
    size, width = vectors.shape
    sums = np.zeros((size, width), "float32")
    counts = np.zeros(size)
    occurrences = np.zeros(size, "int64")
    for ids, lengths in stretches:
        # Windows end with their text: id 0, which has no vector, lies between.
        text = np.repeat(np.arange(1, len(lengths) + 1), lengths)
        places = np.arange(len(ids)) + text * _WINDOW
        padded = np.zeros(len(ids) + (len(lengths) + 1) * _WINDOW, "int64")
        padded[places] = ids
        values = np.column_stack([vectors[padded], found[padded]])
        ends = np.cumsum(values, 0, "float64")
        around = ends[places + _WINDOW] - ends[places - _WINDOW]
        around += values[places - _WINDOW] - values[places]
        order = np.argsort(ids, kind="stable")
        present, starts, times = np.unique(
            ids[order], return_index=True, return_counts=True
        )
        grouped = np.add.reduceat(around[order], starts)
        sums[present] += grouped[:, :-1]
        counts[present] += grouped[:, -1]
        occurrences[present] += times
    sums /= np.maximum(counts, 1.0)[:, None]
    return sums, occurrences


def _spelling(words):
    """Hashed n-grams of characters, in rows of one length."""
    result = np.zeros((len(words), _NGRAM_BUCKETS))
    for row, word in zip(result, words, strict=True):
        marked = f"<{word}>"
        for length in _NGRAM_LENGTHS:
            for start in range(len(marked) - length + 1):
                ngram = marked[start : start + length]
                row[zlib.crc32(ngram.encode()) % _NGRAM_BUCKETS] += 1
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return _SPELLING_WEIGHT * result / np.maximum(lengths, 1e-12)


def _chunks(rows):
    for start in range(0, len(rows), _CHUNK_WORDS):
        yield rows[start : start + _CHUNK_WORDS]

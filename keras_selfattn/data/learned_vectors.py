"""Word vectors learned from texts, of which words stand beside which."""

from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_selfattn import validation
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.shards import ShardedDataset
from keras_selfattn.streams import bar_shown
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.text.columns import strings_of

_WINDOW = 4
# So many frequent words count as neighbors, each of them on either side.
_NEIGHBORS = 3000
_NEIGHBOR_POWER = 0.75
_TOLD_TEXTS = 1000
# So many tokens are counted at a time.
_CHUNK_TOKENS = 2**21
# The ids of the words come behind padding's and that of all others.
_FIRST = 2
# What stands beside more of them would not fit into the memory of a laptop.
_MOST_WORDS = 50_000
# Of fewer words more numbers tell the texts from each other, not the words.
_WORDS_PER_NUMBER = 5


def learn_word_vectors(
    texts: Any,
    width: int = 200,
    min_count: int = 5,
    verbose: str | int = "auto",
) -> tuple[list[str], np.ndarray]:
    r"""Learns vectors of the words of texts, which need no labels.

    They need not be the texts that a model is to learn: any that use their
    words will do. Let $n_{wc}$ be how often the word $w$ has the neighbor $c$,
    each time counted as one over their distance. Neighbors are the 3,000 most
    frequent words, up to four words to the left, or up to four to the right,
    which are neighbors of their own. The positive pointwise mutual information

    $$M_{wc} = \max\left(0, \log \frac{n_{wc}}
    {\sum_{c'} n_{wc'} \cdot p_c}\right), \quad
    p_c = \frac{\left(\sum_{w'} n_{w'c}\right)^{0.75}}
    {\sum_{c'} \left(\sum_{w'} n_{w'c'}\right)^{0.75}}$$

    has the truncated singular value decomposition $U \Sigma V^\top$. A word's
    row of $U \Sigma^{1/2}$, scaled to length 1, is its vector. It is zeros for
    a word that never has a neighbor.

    Args:
        texts: Texts as `TextPreprocessor.adapt` takes them, which can be read
            twice. They are lowercased.
        width: Integer, how many numbers a vector has.
        min_count: Integer, how often a word must occur to have a vector.
        verbose: As in `Classifier.encode`: 0 for no progress bars, one for
            each time that the texts are read.

    Returns:
        A pair of the list of the words, frequent ones first, and a float32
        array `(words, width)` of their vectors, which `write_word_vectors`
        writes.

    Raises:
        ValueError: if there are no more words than `width`, if a row is no
            text, or if the texts can be read once only.

    References:
        - [Levy et al., 2015](https://aclanthology.org/Q15-1016/)

    Example:

    >>> texts = ["a good film", "a fine film", "a good day", "a fine day"]
    >>> words, vectors = learn_word_vectors(texts, width=2, min_count=1)
    >>> words, vectors.shape
    (['a', 'day', 'film', 'fine', 'good'], (5, 2))
    >>> bool(vectors[1] @ vectors[2] > vectors[1] @ vectors[3])
    True
    """
    validation.integer(width, "width")
    validation.integer(min_count, "min_count")
    if isinstance(texts, Iterator):
        raise ValueError(
            "The texts are read twice: expected a list, a column or another "
            f"iterable that begins anew. Received: a {type(texts).__name__}"
        )
    told = _Told(bar_shown(verbose))
    counts = count_words(told(strings_of(texts)), lowercase=True)
    words = [word for word, count in counts.items() if count >= min_count]
    if len(words) <= width:
        raise ValueError(
            "There must be more words than a vector has numbers. "
            f"Received: {len(words):,} words that occur {min_count:,} times or "
            f"more, width={width}"
        )
    preprocessor = TextPreprocessor(words, lowercase=True)
    dataset = EncodedDataset.from_texts(
        ((text, "") for text in told(strings_of(texts))), preprocessor
    )
    places = np.arange(-_FIRST, len(words))
    return words, _vectors(dataset, places, len(words), width)


def learn_vectors_of_ids(
    dataset: EncodedDataset | ShardedDataset,
    words: Sequence[str],
    first: int,
    width: int,
    min_count: int = 5,
) -> tuple[np.ndarray, np.ndarray]:
    """Learns vectors of the words of encoded texts.

    They are those of `learn_word_vectors`, but that there is no more than one
    number for five words that have a vector, and that these are 50,000 at
    most. Words that differ in letter case only are one.

    Args:
        dataset: The encoded texts.
        words: Sequence of strings, the words of the last ids.
        first: Integer, the id of the first of them.
        width: Integer, how many numbers a vector has, at most.
        min_count: Integer, how often a word must occur to have a vector.

    Returns:
        A pair like that of `load_word_vectors`, with a row for each id.
    """
    size = first + len(words)
    counts = np.zeros(size, "int64")
    for ids, _ in dataset.token_stretches():
        counts += np.bincount(ids, minlength=size)
    groups: dict[str, int] = {}
    of_words = [groups.setdefault(word.lower(), len(groups)) for word in words]
    totals = np.bincount(of_words, counts[first:], len(groups))
    names = list(groups)
    frequent = sorted(
        np.flatnonzero(totals >= min_count),
        key=lambda group: (-totals[group], names[group]),
    )[:_MOST_WORDS]
    ranks = np.full(len(groups), -1)
    ranks[frequent] = np.arange(len(frequent))
    places = np.full(size, -1)
    places[first:] = ranks[of_words]
    width = min(width, len(frequent) // _WORDS_PER_NUMBER)
    vectors = np.zeros((size, width), "float32")
    if width:
        known = places >= 0
        learned = _vectors(dataset, places, len(frequent), width)
        vectors[known] = learned[places[known]]
    return vectors, np.asarray(vectors.any(axis=1))


def _vectors(dataset, places, size, width):
    """The vectors of as many words, of which each id has the place of one."""
    stretches = (
        (places[ids], lengths) for ids, lengths in dataset.token_stretches()
    )
    neighbors = _neighbor_counts(stretches, size)
    return _left_vectors(_information(neighbors), width)


class _Told:
    """Yields texts, and shows how many there have been."""

    def __init__(self, verbose):
        self._verbose = verbose
        self._texts = None

    def __call__(self, texts):
        bar = keras.utils.Progbar(
            self._texts, verbose=self._verbose, unit_name="text"
        )
        number = 0
        for number, text in enumerate(texts, 1):
            yield text
            if number % _TOLD_TEXTS == 0:
                bar.update(number)
        # Of the next time that they are read.
        self._texts = number
        bar.update(number, finalize=True)


def _neighbor_counts(stretches, size):
    """How often each word has each neighbor, on the left and on the right.

    What is below 0 is no word.
    """
    from scipy import sparse

    neighbors = min(_NEIGHBORS, size)
    total = sparse.csr_array((size, 2 * neighbors))
    for places, lengths in _chunks(stretches):
        # No word is the neighbor of another text's.
        text = np.repeat(np.arange(len(lengths)), lengths)
        stream = np.full(len(places) + len(lengths) * _WINDOW, -1)
        stream[np.arange(len(places)) + text * _WINDOW] = places
        words, columns, weights = [], [], []
        for distance in range(1, _WINDOW + 1):
            left, right = stream[:-distance], stream[distance:]
            for word, neighbor, side in ((right, left, 0), (left, right, 1)):
                both = (word >= 0) & (neighbor >= 0) & (neighbor < neighbors)
                words.append(word[both])
                columns.append(side * neighbors + neighbor[both])
                weights.append(np.full(len(words[-1]), 1 / distance))
        cells = np.concatenate(words), np.concatenate(columns)
        counted = sparse.coo_array(
            (np.concatenate(weights), cells), total.shape
        )
        total = total + counted.tocsr()
    return total.tocoo()


def _chunks(stretches):
    """Fewer and longer stretches."""
    some, tokens = [], 0
    for stretch in stretches:
        some.append(stretch)
        tokens += len(stretch[0])
        if tokens >= _CHUNK_TOKENS:
            yield _joined(some)
            some, tokens = [], 0
    if some:
        yield _joined(some)


def _joined(stretches):
    return tuple(map(np.concatenate, zip(*stretches, strict=True)))


def _information(counts):
    words = counts.sum(1)
    neighbors = counts.sum(0) ** _NEIGHBOR_POWER
    neighbors /= max(neighbors.sum(), 1e-12)
    expected = words[counts.row] * neighbors[counts.col]
    information = np.maximum(np.log(counts.data / expected), 0.0)
    counts.data = information.astype("float32")
    return counts.tocsr()


def _left_vectors(matrix, width):
    from scipy.sparse import linalg

    if not matrix.count_nonzero():
        return np.zeros((matrix.shape[0], width), "float32")
    # Drawn anew, it would make other vectors of the same texts.
    start = np.random.default_rng(0).uniform(-1, 1, min(matrix.shape))
    vectors, values, _ = linalg.svds(matrix, width, v0=start)
    # Where nothing is, some solvers leave what they round off.
    vectors[matrix.sum(1) == 0] = 0
    order = np.argsort(-values)
    # The square root keeps the first directions from being all there is.
    vectors = vectors[:, order] * np.sqrt(values[order])
    # Another machine's solver may mirror a direction.
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(width)] < 0, -1, 1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype("float32")

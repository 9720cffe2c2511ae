"""Word vectors learned from texts, of which words stand beside which."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from keras_selfattn import validation
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.first_use import import_extra
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
        ImportError: if scikit-learn is not installed.

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
    # It has SciPy, and is wanted only when all texts have been read.
    import_extra(
        *("sklearn.decomposition", "Learning word vectors", "scikit-learn"),
        "vectors",
    )
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
    neighbors = _neighbor_counts(dataset.token_stretches(), len(words))
    return words, _left_vectors(_information(neighbors), width)


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
    """How often each word has each neighbor, on the left and on the right."""
    from scipy import sparse

    neighbors = min(_NEIGHBORS, size)
    total = sparse.csr_array((size, 2 * neighbors))
    for ids, lengths in _chunks(stretches):
        # No word is the neighbor of another text's.
        text = np.repeat(np.arange(len(lengths)), lengths)
        stream = np.full(len(ids) + len(lengths) * _WINDOW, -1)
        stream[np.arange(len(ids)) + text * _WINDOW] = ids - _FIRST
        words, columns, weights = [], [], []
        for distance in range(1, _WINDOW + 1):
            left, right = stream[:-distance], stream[distance:]
            for word, neighbor, side in ((right, left, 0), (left, right, 1)):
                both = (word >= 0) & (neighbor >= 0) & (neighbor < neighbors)
                words.append(word[both])
                columns.append(side * neighbors + neighbor[both])
                weights.append(np.full(len(words[-1]), 1 / distance))
        places = np.concatenate(words), np.concatenate(columns)
        counted = sparse.coo_array(
            (np.concatenate(weights), places), total.shape
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
    ids, lengths = map(np.concatenate, zip(*stretches, strict=True))
    return ids.astype("int64"), lengths


def _information(counts):
    words = counts.sum(1)
    neighbors = counts.sum(0) ** _NEIGHBOR_POWER
    neighbors /= neighbors.sum()
    expected = words[counts.row] * neighbors[counts.col]
    information = np.maximum(np.log(counts.data / expected), 0.0)
    counts.data = information.astype("float32")
    return counts.tocsr()


def _left_vectors(matrix, width):
    from sklearn.decomposition import TruncatedSVD

    # Random projections would leave the last directions to chance.
    svd = TruncatedSVD(width, algorithm="arpack", random_state=0)
    vectors = svd.fit_transform(matrix)
    # Where nothing is, some solvers leave what they round off.
    vectors[matrix.sum(1) == 0] = 0
    # The square root keeps the first directions from being all there is.
    vectors /= np.sqrt(np.maximum(svd.singular_values_, 1e-12))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype("float32")

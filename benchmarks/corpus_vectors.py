"""Word vectors learned from the texts of a corpus, beside GloVe's.

Each word's vector is two, one after the other: GloVe's, which knows what it
was not taught here, and one of the co-occurrences in the corpus itself, which
all its words have.
"""

import collections
import itertools

import numpy as np

from keras_selfattn import sides
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.files import write_text
from keras_selfattn.text.tokenizer import PennTreebankTokenizer

_WINDOW = 4
_CONTEXTS = 3000
_POWER_STEPS = 4
_SMOOTHING = 0.75


def write_corpus_vectors(
    path,
    corpora,
    glove,
    width,
    length=1.0,
    min_count=3,
    lowercase=True,
    further=None,
):
    """Write a text file of the vectors of a corpus's words.

    Args:
        path: Path of the file.
        corpora: Iterables of `(text, label)`.
        glove: Path of a file of pretrained vectors.
        width: Integer, how many numbers the co-occurrences give.
        length: Float, the mean length of each of the two.
        min_count: Integer, how often a word must occur to have a vector.
        lowercase: Boolean, whether texts are lowercased.
        further: A function from the texts' words, text by text, and the words
            that have vectors, to an array of further numbers, a row a word.
    """
    tokens = list(_tokens(corpora, lowercase))
    counts = collections.Counter(itertools.chain.from_iterable(tokens))
    words = [word for word, n in counts.most_common() if n >= min_count]
    learned = _cooccurrence_vectors(tokens, words, width)
    pretrained, found = load_word_vectors(glove, words)
    pretrained *= length / np.linalg.norm(pretrained[found], axis=1).mean()
    learned *= length / np.linalg.norm(learned, axis=1).mean()
    pretrained = _predict_missing(learned, pretrained, found)
    vectors = np.concatenate([pretrained, learned], 1)
    if further is not None:
        vectors = np.concatenate([vectors, further(tokens, words)], 1)
    lines = (
        " ".join([word, *(f"{number:.4f}" for number in vector)])
        for word, vector in zip(words, vectors, strict=True)
    )
    write_text(path, "\n".join(lines) + "\n")


def _tokens(corpora, lowercase):
    tokenizer = PennTreebankTokenizer(lowercase)
    texts = (
        sentence
        for corpus in corpora
        for text, _ in corpus
        for sentence in sides.sentences(text)
    )
    while chunk := list(itertools.islice(texts, 4096)):
        for row in tokenizer(chunk).to_list():
            yield [word.decode() for word in row]


def _cooccurrence_vectors(tokens, words, width):
    """A truncated SVD of pointwise mutual information, left and right."""
    ids = {word: number for number, word in enumerate(words)}
    stream = []
    for row in tokens:
        stream += [-1] * _WINDOW
        stream += [ids.get(word, -1) for word in row]
    stream = np.array(stream + [-1] * _WINDOW)
    contexts = min(_CONTEXTS, len(words))
    counts = np.zeros(len(words) * 2 * contexts, "float32")
    for distance in range(1, _WINDOW + 1):
        left, right = stream[:-distance], stream[distance:]
        for word, context, side in ((right, left, 0), (left, right, 1)):
            both = (word >= 0) & (context >= 0) & (context < contexts)
            place = word[both] * 2 * contexts + side * contexts + context[both]
            places, times = np.unique(place, return_counts=True)
            counts[places] += times / distance
    counts = counts.reshape(len(words), 2 * contexts)
    total = counts.sum()
    rows = counts.sum(1, keepdims=True) / total
    columns = counts.sum(0, keepdims=True) ** _SMOOTHING
    columns /= columns.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / total / rows / columns)
    np.nan_to_num(information, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    np.maximum(information, 0.0, out=information)
    basis = np.random.default_rng(0).normal(size=(2 * contexts, width + 20))
    basis = basis.astype("float32")
    for _ in range(_POWER_STEPS):
        basis, _ = np.linalg.qr(information.T @ (information @ basis))
    left, lengths, _ = np.linalg.svd(information @ basis, full_matrices=False)
    # The square root keeps the first directions from being all there is.
    vectors = left[:, :width] * np.sqrt(lengths[:width])
    return vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12
    )


def _predict_missing(learned, pretrained, found):
    """A ridge regression gives the words without a vector one."""
    x, y = learned[found], pretrained[found]
    x_mean, y_mean = x.mean(0), y.mean(0)
    x, y = x - x_mean, y - y_mean
    products = x.T @ x + np.eye(x.shape[1])
    kernel = np.linalg.solve(products, x.T @ y)
    result = pretrained.copy()
    result[~found] = (learned[~found] - x_mean) @ kernel + y_mean
    length = np.linalg.norm(pretrained[found], axis=1).mean()
    result[~found] *= length / np.maximum(
        np.linalg.norm(result[~found], axis=1, keepdims=True), 1e-12
    )
    return result

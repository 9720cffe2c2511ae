"""Word vectors learned from the texts of a corpus, beside GloVe's.

Each word's vector is two, one after the other: GloVe's, which knows what it
was not taught here, and one of its neighbors in the corpus itself, which all
its words have.
"""

import numpy as np

from keras_selfattn.data.corpora import Corpora
from keras_selfattn.data.corpora import Texts
from keras_selfattn.data.learned_vectors import learn_word_vectors
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.data.word_vectors import write_word_vectors


def write_corpus_vectors(path, corpora, glove, width, length=1.0, min_count=3):
    """Write a text file of the vectors of a corpus's words.

    Args:
        path: Path of the file.
        corpora: List of re-iterables of `(text, label)`.
        glove: Path of a file of pretrained vectors.
        width: Integer, how many numbers the neighbors give.
        length: Float, the mean length of each of the two.
        min_count: Integer, how often a word must occur to have a vector.
    """
    texts = Texts(Corpora(corpora))
    words, learned = learn_word_vectors(texts, width, min_count)
    pretrained, found = load_word_vectors(glove, words)
    pretrained *= length / np.linalg.norm(pretrained[found], axis=1).mean()
    learned *= length / np.linalg.norm(learned, axis=1).mean()
    pretrained = _predict_missing(learned, pretrained, found)
    write_word_vectors(path, words, np.concatenate([pretrained, learned], 1))


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

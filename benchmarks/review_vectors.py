"""Word vectors learned from reviews and posts, for other corpora.

    python -m benchmarks.review_vectors runs/review_vectors.txt

learns them from the training texts of IMDB, Yelp and blog age in the folder
that KERAS_SELFATTN_DATA names: GloVe's vectors of 50 numbers, 200 of the words'
co-occurrences, and nine that tell how often a word is in reviews of each
rating.
"""

import argparse

import numpy as np

from benchmarks import corpus_vectors
from benchmarks.corpora.texts import CORPORA
from benchmarks.corpora.texts import GLOVE
from benchmarks.corpora.texts import data_path
from keras_selfattn.data.corpus import Corpus

MORE_YELP = "yelp/yelp_review_train2.jsonl.gz"
WIDTH = 200
MIN_COUNT = 5
# Of the ratios, where the others have 1.
LENGTH = 0.7
# How far the ratio of a rare word may be from that of all words.
LARGEST = 4.0
_SMOOTHING = 5.0


def stars_of_imdb(rating):
    """IMDB's ratings of 1 to 10 in stars."""
    return (int(rating) + 1) // 2


def log_count_ratios(texts, labels, words):
    r"""How much more often than in all texts a word is in those of a label.

    With the number $n_{wc}$ of texts of label $c$ that have the word $w$, the
    share $s_c$ of texts of that label, and $a = 5$,

    $$\log \frac{n_{wc} + a s_c}{\left(\sum_c n_{wc}\right) s_c + a s_c}$$

    Args:
        texts: List of lists of words.
        labels: Sequence of their labels.
        words: List of words.

    Returns:
        An array of shape `(words, labels)`, the labels in ascending order.

    References:
        - [Wang and Manning, 2012](https://aclanthology.org/P12-2018/), whose
            ratio is that of two classes
    """
    places = {word: place for place, word in enumerate(words)}
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    counts = np.zeros((len(words), len(classes)))
    for text, number in zip(texts, numbers, strict=True):
        known = [places[word] for word in {*text} if word in places]
        counts[known, number] += 1
    shares = np.bincount(numbers) / len(numbers)
    expected = counts.sum(axis=1, keepdims=True) * shares
    smoothing = _SMOOTHING * shares
    return np.log((counts + smoothing) / (expected + smoothing))


def write_review_vectors(path):
    """Write the text file of the vectors."""
    imdb, yelp, age = (CORPORA[name] for name in ("imdb", "yelp", "age"))
    of_imdb = list(Corpus(data_path(imdb.train), label="rating"))
    of_yelp = [
        row
        for file in (yelp.train, MORE_YELP)
        for row in Corpus(data_path(file), label=yelp.label)
    ]
    stars = [
        [stars_of_imdb(rating) for _, rating in of_imdb],
        [label for _, label in of_yelp],
    ]
    posts = Corpus(data_path(age.train), label=age.label)

    def ratios(texts, words):
        found, start = [], 0
        for labels in stars:
            end = start + len(labels)
            found.append(log_count_ratios(texts[start:end], labels, words))
            start = end
        table = np.concatenate(found, 1)
        table -= table.mean(0)
        table /= np.linalg.norm(table, axis=1).mean()
        return LENGTH * np.clip(table, -LARGEST, LARGEST)

    corpus_vectors.write_corpus_vectors(
        path,
        [of_imdb, of_yelp, posts],
        data_path(GLOVE),
        WIDTH,
        min_count=MIN_COUNT,
        further=ratios,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    options = parser.parse_args(arguments)
    write_review_vectors(options.output)
    print(options.output)


if __name__ == "__main__":
    main()

"""A logistic regression of the mean of the words' pretrained vectors."""

import pickle

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from benchmarks.corpora.texts import VECTORS
from benchmarks.corpora.texts import data_path
from benchmarks.opponents.linear import WORDS
from benchmarks.opponents.opponent import Opponent
from keras_selfattn.data.word_vectors import load_word_vectors


class AveragedVectors(Opponent):
    """The mean by frequency, and the mean weighted by idf, side by side."""

    label = "logistic regression of averaged word2vec vectors"
    is_random = False
    grid = [{"C": C} for C in (0.1, 0.3, 1.0, 3.0, 10.0)]

    def prepare(self, texts):
        sentences = texts
        if self.sides == 2:
            sentences = [sentence for pair in texts for sentence in pair]
        counter = CountVectorizer(token_pattern=WORDS).fit(sentences)
        words = counter.get_feature_names_out()
        vectors, found = load_word_vectors(data_path(VECTORS), list(words))
        self.counter = CountVectorizer(
            token_pattern=WORDS, vocabulary=words[found]
        )
        self.vectors = vectors[found]
        self.weigh = TfidfTransformer().fit(self.counter.transform(sentences))
        return self.read(texts)

    def read(self, texts):
        if self.sides == 1:
            return self._means(texts)
        premise, hypothesis = map(self._means, zip(*texts, strict=True))
        return np.hstack(
            [
                premise,
                hypothesis,
                abs(premise - hypothesis),
                premise * hypothesis,
            ]
        )

    def _means(self, sentences):
        counts = self.counter.transform(sentences)
        means = []
        for weighted in (counts, self.weigh.transform(counts)):
            total = np.maximum(np.asarray(weighted.sum(axis=1)), 1e-9)
            means.append(np.asarray(weighted @ self.vectors) / total)
        return np.hstack(means).astype("f4")

    def fit(self, features, labels, dev, seed, C):
        return LogisticRegression(C=C, max_iter=300).fit(features, labels)

    def write(self, model, folder):
        parts = [self.counter, self.vectors, self.weigh, model]
        (folder / "model.pickle").write_bytes(pickle.dumps(parts))

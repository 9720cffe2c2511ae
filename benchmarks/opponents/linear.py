"""Linear models of counted words and within-word characters."""

import pickle

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from benchmarks.opponents import pairs
from benchmarks.opponents.opponent import Opponent

# Words, and each sign by itself: a question mark tells as much as a word.
WORDS = r"(?u)\w+|[^\w\s]"


# From how many to how many of them, within words, and how many texts must
# have one that counts.
CHARACTERS = ((2, 5), (3, 6), (1, 4))
FEWEST_TEXTS = (1, 2)
# With more an SVM of a large corpus takes minutes.
LARGEST_C = 1.0


def counted(sides, characters=None, min_df=None):
    """The features of texts, or of pairs, each kind by itself.

    Those of a pair are the words and 2-grams of each side marked by the
    side, and words and 2-grams of one side beside those of the other.
    """
    if sides == 2:
        return [
            CountVectorizer(analyzer=pairs.by_side, binary=True, min_df=2),
            CountVectorizer(analyzer=pairs.across, binary=True, min_df=3),
        ]
    return [
        CountVectorizer(token_pattern=WORDS, ngram_range=(1, 2)),
        CountVectorizer(
            analyzer="char_wb", ngram_range=tuple(characters), min_df=min_df
        ),
    ]


class Linear(Opponent):
    """What the linear models have in common."""

    is_random = False
    of_reading = ("characters", "min_df")
    values = [{}]

    @property
    def grid(self):
        values = [
            value
            for value in self.values
            if not self.large or value["C"] <= LARGEST_C
        ]
        if self.sides == 2:
            return values
        return [
            {"characters": characters, "min_df": min_df, **value}
            for characters in (CHARACTERS[:1] if self.large else CHARACTERS)
            for min_df in (FEWEST_TEXTS[1:] if self.large else FEWEST_TEXTS)
            for value in values
        ]

    def prepare(self, texts, **counting):
        self.features = self.make_features(**counting)
        return as_rows(self.features.fit_transform(texts))

    def read(self, texts):
        return as_rows(self.features.transform(texts))

    def write(self, model, folder):
        (folder / "model.pickle").write_bytes(
            pickle.dumps([self.features, model])
        )


def as_rows(features):
    return sparse.csr_matrix(features, dtype="f4")


class Svm(Linear):
    """A linear SVM on tf-idf, of logarithms of counts."""

    label = "linear SVM, tf-idf of words and characters"
    values = [{"C": C} for C in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)]

    def make_features(self, **counting):
        parts = [
            make_pipeline(counter, TfidfTransformer(sublinear_tf=True))
            for counter in counted(self.sides, **counting)
        ]
        if self.sides == 2:
            parts.append(FunctionTransformer(pairs.overlaps))
        return FeatureUnion([(str(n), part) for n, part in enumerate(parts)])

    def fit(self, features, labels, dev, seed, C):
        return LinearSVC(C=C).fit(features, labels)


class HypothesisOnly(Linear):
    """A linear model that never sees the premise: what labels give away."""

    label = "logistic regression of the hypothesis alone"
    all_sides = (2,)
    values = [{"C": C} for C in (0.05, 0.1, 0.25, 0.5, 1.0)]

    def make_features(self, **counting):
        return CountVectorizer(
            analyzer=pairs.of_hypothesis, binary=True, min_df=2
        )

    def fit(self, features, labels, dev, seed, C):
        return LogisticRegression(C=C, max_iter=500).fit(features, labels)


class NaiveBayesSvm(Linear):
    """NB-SVM of Wang and Manning, 2012: log-count ratios as features.

    A feature that occurs is worth the logarithm of how much more often it
    occurs in a class than outside of it, and the weights are between those
    of an SVM on these and their mean size, `beta` of the way.
    """

    label = "NB-SVM"
    values = [
        {"C": C, "beta": beta}
        for C in (0.003, 0.01, 0.1, 1.0)
        for beta in (0.25, 1.0)
    ]

    def make_features(self, **counting):
        return FeatureUnion(
            [
                (str(n), counter.set_params(binary=True))
                for n, counter in enumerate(counted(self.sides, **counting))
            ]
        )

    def fit(self, features, labels, dev, seed, C, beta):
        classes = np.unique(labels)
        weights, biases = [], []
        for one in classes[1:] if len(classes) == 2 else classes:
            inside = labels == one
            ratios = log_count_ratios(features, inside)
            svm = LinearSVC(C=C).fit(features.multiply(ratios).tocsr(), inside)
            (found,) = svm.coef_
            mixed = (1 - beta) * np.abs(found).mean() + beta * found
            weights.append(ratios * mixed)
            biases.append(svm.intercept_[0])
        return Weights(np.array(weights, "f4").T, np.array(biases))


def log_count_ratios(features, inside, smoothing=1.0):
    """How much more often each feature occurs inside than outside, as log."""
    shares = []
    for rows in (inside, ~inside):
        counts = smoothing + np.asarray(features[rows].sum(axis=0)).ravel()
        shares.append(counts / counts.sum())
    return np.log(shares[0] / shares[1])


class Weights:
    """A linear classifier: of two classes the scores of the second alone."""

    def __init__(self, weights, biases):
        self.weights = weights
        self.biases = biases

    def predict(self, features):
        scores = features @ self.weights + self.biases
        if scores.shape[1] == 1:
            return (scores[:, 0] > 0).astype(int)
        return scores.argmax(axis=1)

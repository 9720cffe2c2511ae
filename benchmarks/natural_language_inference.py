"""What linear models reach on natural language inference.

    python -m benchmarks.natural_language_inference

trains two baselines on the part of SNLI in the folder that
KERAS_SELFATTN_DATA names, and prints their dev accuracies: a model that reads
the hypothesis alone, and one with the lexicalized features of Bowman et al.,
2015, but for the parts of speech: BLEU, length difference, overlap, the
hypothesis's unigrams and bigrams, and pairs of words and of bigrams across
the sentences.
"""

import argparse
import itertools
import os
import pathlib

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from benchmarks.tables import print_table
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.streams import chunks
from keras_selfattn.text import PennTreebankTokenizer

FILES = {
    "train": "snli/snli_1.0_train_part.jsonl.gz",
    "dev": "snli/snli_1.0_dev.jsonl.gz",
}
NO_GOLD_LABEL = "-"


def read_pairs(path):
    """Premises and hypotheses as lists of tokens, and the labels."""
    tokenizer = PennTreebankTokenizer(lowercase=True)
    corpus = Corpus(path, "sentence1", "gold_label", "sentence2")
    rows = (row for row in corpus if row[1] != NO_GOLD_LABEL)
    pairs, labels = [], []
    for chunk in chunks(rows, 1024):
        sides = zip(*(pair for pair, _ in chunk), strict=True)
        tokens = (
            [
                [token.decode() for token in row]
                for row in tokenizer(list(side)).to_list()
            ]
            for side in sides
        )
        pairs.extend(zip(*tokens, strict=True))
        labels.extend(label for _, label in chunk)
    return pairs, labels


def ngrams(tokens, size):
    return list(zip(*(tokens[i:] for i in range(size)), strict=False))


def of_hypothesis(pair):
    """Unigrams and bigrams of the hypothesis."""
    padded = ["<s>", *pair[1], "</s>"]
    return [*ngrams(pair[1], 1), *ngrams(padded, 2)]


def across(pair):
    """Pairs of words, and of bigrams, one of each sentence."""
    for size in (1, 2):
        premise, hypothesis = ({*ngrams(side, size)} for side in pair)
        # What both have is paired with itself alone.
        for gram in premise & hypothesis:
            yield gram, gram
        yield from itertools.product(premise - hypothesis, hypothesis - premise)


def overlap(pair):
    """BLEU's precisions, overlaps and lengths, as numbers."""
    premise, hypothesis = pair
    figures = []
    for size in (1, 2, 3, 4):
        have, want = ngrams(premise, size), ngrams(hypothesis, size)
        shared = sum(gram in have for gram in want)
        figures.append(shared / max(len(want), 1))
    new = len(set(hypothesis) - set(premise))
    difference = len(premise) - len(hypothesis)
    return [*figures, np.mean(figures), new / 5, new == 0, difference / 10]


def hypothesis_only(pairs, labels, dev_pairs):
    """The answers of a linear model that never sees a premise."""
    grams = CountVectorizer(analyzer=of_hypothesis, binary=True, min_df=2)
    model = LogisticRegression(C=0.1, max_iter=500)
    model.fit(grams.fit_transform(pairs), labels)
    return model.predict(grams.transform(dev_pairs))


def lexicalized(pairs, labels, dev_pairs):
    """The answers of a linear model with features across the sentences."""
    hypothesis = CountVectorizer(analyzer=of_hypothesis, binary=True, min_df=2)
    crossed = CountVectorizer(analyzer=across, binary=True, min_df=3)

    def features(pairs, vectorize):
        return sparse.hstack(
            [
                getattr(hypothesis, vectorize)(pairs),
                # Some hundred of them to one of the others.
                0.5 * getattr(crossed, vectorize)(pairs),
                sparse.csr_matrix([overlap(pair) for pair in pairs]),
            ],
            format="csr",
        )

    model = LogisticRegression(C=0.1, max_iter=500)
    model.fit(features(pairs, "fit_transform"), labels)
    return model.predict(features(dev_pairs, "transform"))


BASELINES = {
    "hypothesis only, linear": hypothesis_only,
    "lexicalized features across the sentences, linear": lexicalized,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    data = pathlib.Path(os.environ["KERAS_SELFATTN_DATA"])
    pairs, labels = read_pairs(data / FILES["train"])
    dev_pairs, dev_labels = read_pairs(data / FILES["dev"])
    print(f"{len(pairs):,} pairs to train, {len(dev_pairs):,} to report")
    rows = []
    for name, answers in BASELINES.items():
        right = np.equal(answers(pairs, labels, dev_pairs), dev_labels)
        rows.append([name, f"{100 * right.mean():.1f}"])
    print_table(["model", "dev accuracy %"], rows)


if __name__ == "__main__":
    main()

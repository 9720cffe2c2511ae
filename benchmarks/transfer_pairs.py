"""Pairs that nobody labelled, for a model to learn what others answer.

    python -m benchmarks.transfer_pairs snli_decomposable snli_transfer.jsonl

makes pairs of the sentences of SNLI's training pairs in the folder that
KERAS_SELFATTN_DATA names: each pair the other way round, two hypotheses of one
premise, and a premise with the hypothesis of another one that shares the most
with it, or with `--similar N` of N others. The label is what the model answers,
the name or the folder of one, or of several the mean of their probabilities.
"""

import argparse
import collections
import itertools
import json
import random

import numpy as np

from benchmarks.corpora.texts import data_path
from benchmarks.make_zoo import SNLI
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn.data import formats
from keras_selfattn.files import write_text

_BATCH_SIZE = 256
_CHUNK = 500
# Words that sentences share without being about the same.
_STOP_WORDS = ["a", "the", "is", "are", "an", "of", "in", "on", "and", "to"]


def transfer_pairs(pairs, seed=0, similar=1):
    """New pairs of the sentences of some pairs.

    Args:
        pairs: Iterable of pairs of strings, premise and hypothesis.
        seed: Integer.
        similar: Integer, how many hypotheses of other premises each premise
            is paired with.

    Returns:
        List of pairs of strings, in a random order: none is one of `pairs`.
    """
    generator = random.Random(seed)
    pairs = dict.fromkeys(pairs)
    hypotheses = collections.defaultdict(list)
    for premise, hypothesis in pairs:
        hypotheses[premise].append(hypothesis)
    made = {
        (hypothesis, premise): None
        for premise, hypothesis in pairs
        if (hypothesis, premise) not in pairs
    }
    for siblings in hypotheses.values():
        for one in siblings:
            others = [
                other
                for other in siblings
                if other != one
                and (one, other) not in pairs
                and (one, other) not in made
            ]
            if others:
                made[one, generator.choice(others)] = None
    made = list({**made, **dict.fromkeys(_most_similar(hypotheses, similar))})
    generator.shuffle(made)
    return made


def _most_similar(hypotheses, number):
    """Each premise and the likest hypotheses of others, by tf-idf."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    premises = list(hypotheses)
    others = sorted(set().union(*hypotheses.values()))
    vectorizer = TfidfVectorizer(
        min_df=2, sublinear_tf=True, stop_words=_STOP_WORDS
    ).fit([*premises, *others])
    table = vectorizer.transform(others).T.tocsr()
    for start in range(0, len(premises), _CHUNK):
        chunk = premises[start : start + _CHUNK]
        similar = (vectorizer.transform(chunk) @ table).tocsr()
        for premise, row in zip(chunk, similar, strict=True):
            places = row.indices[np.argsort(-row.data, kind="stable")]
            found = (
                (premise, others[place])
                for place in places
                if others[place] not in hypotheses[premise]
            )
            yield from itertools.islice(found, number)


def labels_by(names, pairs):
    """What models answer together.

    Args:
        names: List of names or folders of models that know the same labels.
        pairs: List of pairs of strings.

    Returns:
        List of labels, those of the largest mean of probabilities.
    """
    order, total = None, 0
    for name in names:
        model = models.from_preset(name)
        order = order or model.labels
        places = [model.labels.index(label) for label in order]
        answers = evaluation.predict(model, pairs, _BATCH_SIZE)
        total += np.concatenate([rows for _, rows in answers])[:, places]
    return [order[place] for place in total.argmax(axis=1)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="model")
    parser.add_argument("output")
    parser.add_argument("--similar", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    pairs = (
        pair
        for file in SNLI
        for pair, _ in formats.open_corpus(data_path(file))
    )
    made = transfer_pairs(pairs, similar=options.similar)
    labels = labels_by(options.models, made)
    lines = [
        json.dumps(
            {"sentence1": first, "sentence2": second, "gold_label": label}
        )
        for (first, second), label in zip(made, labels, strict=True)
    ]
    write_text(options.output, "\n".join(lines) + "\n")
    print(f"{options.output}: {len(lines):,} pairs")


if __name__ == "__main__":
    main()

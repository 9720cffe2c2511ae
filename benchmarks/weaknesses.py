"""Where a model of natural language inference is weak.

    python -m benchmarks.weaknesses snli_decomposable

asks a model, the name or the folder of one, for the dev pairs of SNLI in the
folder that KERAS_SELFATTN_DATA names, as they are and without their premises,
and for pairs made from the word lists of `weaknesses.json`. A model that
answers by overlap shows it there: its sentences differ in one word, or have
the same words in another order.
"""

import argparse
import collections
import itertools
import json
import pathlib
import random

import numpy as np

from benchmarks.corpora.texts import NO_GOLD_LABEL
from benchmarks.corpora.texts import data_path
from benchmarks.tables import print_table
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.word_relations import CONTRADICTION
from keras_selfattn.data.word_relations import ENTAILMENT
from keras_selfattn.data.word_relations import NEUTRAL

WORDS = json.loads(
    pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
DEV = "snli/snli_1.0_dev.jsonl.gz"
# Words of the hypothesis, and of the premise: the last bound is open.
LENGTHS = {"hypothesis": (0, 5, 8, 11), "premise": (0, 10, 15, 21)}


def one_word(kind):
    """Pairs that differ in one word, in both directions, and that don't."""
    lists = WORDS["words"][kind]
    for sentence in lists["sentences"]:
        for word, other in itertools.permutations(lists["words"], 2):
            pair = sentence.format(word), sentence.format(other)
            yield pair, CONTRADICTION
        for word in lists["words"]:
            same = sentence.format(word)
            yield (same, same), ENTAILMENT


def wider_words():
    """A narrower word entails a wider one, which leaves it open."""
    for sentence in WORDS["wider_sentences"]:
        for word, wider in WORDS["wider"].items():
            narrow = sentence.format(word).replace(" a apple", " an apple")
            wide = sentence.format(wider)
            wide = wide.replace(" a animal", " an animal")
            wide = wide.replace(" a instrument", " an instrument")
            yield (narrow, wide), ENTAILMENT
            yield (wide, narrow), NEUTRAL


def roles():
    """Agent and patient swapped, and the passive that keeps them."""
    agents = WORDS["agents"]
    for (agent, patient), (action, passive) in itertools.product(
        itertools.permutations(agents, 2), WORDS["actions"].items()
    ):
        premise = f"The {agent} is {action} the {patient}."
        swapped = f"The {patient} is {action} the {agent}."
        yield (premise, swapped), CONTRADICTION
        kept = f"The {patient} is being {passive} by the {agent}."
        yield (premise, kept), ENTAILMENT


def negation():
    """A sentence, what denies it, and what it denies."""
    for doer, doing in itertools.product(WORDS["doers"], WORDS["doings"]):
        said = f"A {doer} is {doing}."
        for denied in (
            f"A {doer} is not {doing}.",
            f"The {doer} isn't {doing}.",
            f"Nobody is {doing}.",
        ):
            yield (said, denied), CONTRADICTION
            yield (denied, said.replace("A ", "The ", 1)), CONTRADICTION


KINDS = {
    **{
        f"one {kind} for another": (lambda kind=kind: one_word(kind))
        for kind in WORDS["words"]
    },
    "a wider or narrower word": wider_words,
    "agent and patient swapped": roles,
    "negation": negation,
}


def answers(model, pairs):
    """The label that the model gives to each pair."""
    rows = np.concatenate([p for _, p in evaluation.predict(model, pairs)])
    return [model.labels[row.argmax()] for row in rows]


def shares_by_label(labels, found):
    """By label, the share of its rows that were answered so."""
    right = collections.defaultdict(list)
    for label, answer in zip(labels, found, strict=True):
        right[label].append(answer == label)
    return {label: float(np.mean(rows)) for label, rows in right.items()}


def of_word_lists(model):
    """By kind, the number of its pairs, and `shares_by_label`."""
    measured = {}
    for kind, pairs in KINDS.items():
        texts, labels = zip(*pairs(), strict=True)
        found = answers(model, list(texts))
        measured[kind] = len(texts), shares_by_label(labels, found)
    return measured


def without_premises(model, texts, seed=0):
    """The answers with the premise of another pair, and with none."""
    premises = [premise for premise, _ in texts]
    random.Random(seed).shuffle(premises)
    others = [
        (premise, hypothesis)
        for premise, (_, hypothesis) in zip(premises, texts, strict=True)
    ]
    empty = [("", hypothesis) for _, hypothesis in texts]
    return answers(model, others), answers(model, empty)


def by_length(texts, labels, found):
    """Accuracies by the number of words of either side."""
    right = np.equal(labels, found)
    for side, name in enumerate(("premise", "hypothesis")):
        sizes = np.array([len(pair[side].split()) for pair in texts])
        bounds = (*LENGTHS[name], np.inf)
        for low, high in itertools.pairwise(bounds):
            inside = (low <= sizes) & (sizes < high)
            if inside.any():
                upto = f"to {high - 1}" if high < np.inf else "or more"
                yield (
                    f"{name} of {low} {upto} words",
                    inside.sum(),
                    right[inside].mean(),
                )


def read_dev(rows):
    corpus = Corpus(data_path(DEV), "sentence1", "gold_label", "sentence2")
    labeled = (row for row in corpus if row[1] != NO_GOLD_LABEL)
    return zip(*itertools.islice(labeled, rows), strict=True)


def percent(share):
    return f"{100 * share:.1f}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="name or folder of a trained model")
    parser.add_argument("--dev-rows", type=int, help="default: all")
    options = parser.parse_args(arguments)
    model = models.from_preset(options.model)

    texts, labels = map(list, read_dev(options.dev_rows))
    found = answers(model, texts)
    others, empty = without_premises(model, texts)
    largest = max(np.mean(np.equal(labels, each)) for each in model.labels)
    rows = [
        ("as they are", len(texts), np.mean(np.equal(labels, found))),
        ("with another pair's premise", "", np.mean(np.equal(labels, others))),
        ("with an empty premise", "", np.mean(np.equal(labels, empty))),
        ("the largest class", "", largest),
        *by_length(texts, labels, found),
    ]
    rows = [[name, n, percent(share)] for name, n, share in rows]
    print_table(["dev pairs", "pairs", "accuracy %"], rows)

    columns = (ENTAILMENT, NEUTRAL, CONTRADICTION)
    rows = [
        [kind, n]
        + [percent(shares[each]) if each in shares else "" for each in columns]
        for kind, (n, shares) in of_word_lists(model).items()
    ]
    print_table(
        ["made pairs", "pairs", *(f"{each} %" for each in columns)], rows
    )


if __name__ == "__main__":
    main()

"""Pairs of a sentence and the same one with another number or an opposite, or
denied.

Corpora of captions hardly have such pairs, and word vectors place "two" where
"three" is: a model of words learns from these what makes the difference.
"""

import itertools
import random
import re

from keras_selfattn import sides
from keras_selfattn.data.word_relations import CONTRADICTION
from keras_selfattn.data.word_relations import ENTAILMENT

NUMBERS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
_OPPOSITES = {
    "asleep": "awake",
    "sleeping": "awake",
    "awake": "asleep",
    "indoors": "outdoors",
    "outdoors": "indoors",
    "inside": "outside",
    "outside": "inside",
    "young": "old",
    "old": "young",
    "happy": "sad",
    "sad": "happy",
    "empty": "crowded",
    "crowded": "empty",
    "large": "small",
    "small": "large",
    "wet": "dry",
    "dry": "wet",
}
_OPPOSITE = re.compile(rf"\b({'|'.join(_OPPOSITES)})\b")
_NUMBER = re.compile(rf"\b({'|'.join(NUMBERS)})\b")
_VERB = re.compile(r"\b(is|are)\b")
_DENIED = ("{} not", "{}n't")


def altered_pairs(corpora, count, seed=0):
    """Pairs made from the sentences of corpora.

    Args:
        corpora: Iterables of `(texts, label)`.
        count: Integer, how many sentences get another number, how many an
            opposite, and how many are denied.
        seed: Integer.

    Returns:
        List of `((premise, hypothesis), label)`: what differs contradicts, in
        both directions, and what is the same entails.
    """
    generator = random.Random(seed)
    found = {
        sentence: None
        for texts, _ in itertools.chain.from_iterable(corpora)
        for sentence in sides.sentences(texts)
    }
    sentences = list(found)
    generator.shuffle(sentences)
    rows = []
    for alter in (_another_number, _opposite, _denied):
        changed = (
            (sentence, other)
            for sentence in sentences
            if (other := alter(sentence, generator))
        )
        for sentence, other in itertools.islice(changed, count):
            rows += [
                ((sentence, other), CONTRADICTION),
                ((other, sentence), CONTRADICTION),
                ((sentence, sentence), ENTAILMENT),
                ((other, other), ENTAILMENT),
            ]
    return rows


def _another_number(sentence, generator):
    found = _NUMBER.findall(sentence)
    if len(found) != 1:
        return None
    others = [number for number in NUMBERS if number != found[0]]
    return _NUMBER.sub(generator.choice(others), sentence)


def _opposite(sentence, generator):
    if len(_OPPOSITE.findall(sentence)) != 1:
        return None
    return _OPPOSITE.sub(lambda word: _OPPOSITES[word[0]], sentence)


def _denied(sentence, generator):
    if len(_VERB.findall(sentence)) != 1:
        return None
    form = generator.choice(_DENIED)
    return _VERB.sub(lambda verb: form.format(verb[0]), sentence)

"""What the generated corpora share: draws by a seed, and joined tokens."""

import random

from keras_selfattn import validation

_ATTACHED = frozenset((",", ";", "!", ".", "...", "n't"))


class SteadyRandom:
    """Draws that are the same in all versions of Python.

    Python promises that for `random.Random.random` alone.
    """

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def below(self, limit):
        return int(self._random() * limit)

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def check_numbers(**arguments):
    """`ValueError` where an argument is no integer of 0 or more."""
    for name, value in arguments.items():
        validation.integer(value, name, least=0)


def join_tokens(tokens):
    """The text whose Penn Treebank tokens these are."""
    return "".join(
        token if token in _ATTACHED or not i else " " + token
        for i, token in enumerate(tokens)
    )

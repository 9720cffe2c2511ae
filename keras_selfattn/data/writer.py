"""What writes the generated corpora: draws by a seed, and joined tokens."""

import random

from keras_selfattn import validation

_ATTACHED = frozenset((",", ";", "!", ".", "...", "n't"))


class Writer:
    """Draws that are the same in all versions of Python.

    Python promises that for `random.Random.random` alone.
    """

    def __init__(self, seed):
        self._random = random.Random(seed).random

    @classmethod
    def stream(cls, size, seed):
        """What a new writer writes, so many times."""
        writer = cls(validation.integer(seed, "seed", least=0))
        size = validation.integer(size, "size", least=0)
        return (writer.write() for _ in range(size))

    def write(self):
        """The next text, with all that is known of it."""
        raise NotImplementedError

    def below(self, limit):
        return int(self._random() * limit)

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def join_tokens(tokens):
    """The text whose Penn Treebank tokens these are."""
    return "".join(
        token if token in _ATTACHED or not i else " " + token
        for i, token in enumerate(tokens)
    )

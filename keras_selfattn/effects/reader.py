"""What a classifier answers when it reads some words of a text only."""

import numpy as np

from keras_selfattn.backends import compiled


class Reader:
    """A classifier's answers to parts of texts.

    Values of each sentence come as a list: of one for a single text, of two
    for a pair.
    """

    def __init__(self, model):
        self.model = model
        self.nulls = int(model.preprocessor.prepend_null)
        self.sides = model.sides
        nothing = "" if len(self.sides) == 1 else ("", "")
        self.empty = [
            {name: ids[0] for name, ids in side.items()}
            for side in self.split(self._features([nothing]))
        ]
        self.probabilities = compiled.probabilities(model)

    def read(self, texts):
        """The arrays of the features of texts."""
        # On JAX the outputs are padded, and must be as long as the inputs.
        return compiled.padded(self._features(texts))

    def _features(self, texts):
        features = self.model.preprocess(texts)
        return {name: np.asarray(ids) for name, ids in features.items()}

    def split(self, features):
        """The features of each sentence, without the names of the sides."""
        return [
            {
                name.removeprefix(side): ids
                for name, ids in features.items()
                if name.startswith(side)
            }
            for side in self.sides
        ]

    def words(self, features):
        """Where words are, and where the NULL token is, in each sentence.

        Returns:
            Two lists of boolean arrays `(B, n)`, one a sentence.
        """
        words, nulls = [], []
        for side in self.split(features):
            kept = side["token_ids"] != 0
            null = np.zeros_like(kept)
            null[:, : self.nulls] = True
            words.append(kept & ~null)
            nulls.append(null)
        return words, nulls

    def reads_nothing(self, features):
        """Whether each sentence reads as an empty text: arrays `(B,)`."""
        found = []
        for side, empty in zip(self.split(features), self.empty, strict=True):
            same = np.ones(len(side["token_ids"]), bool)
            for name, ids in side.items():
                begin, end = np.split(ids, [len(empty[name])], axis=1)
                axes = tuple(range(1, ids.ndim))
                same &= (begin == empty[name]).all(axes) & (end == 0).all(axes)
            found.append(same)
        return found

    def answer(self, features, keeps):
        """Probabilities for the kept words, each of `keeps` being `(B, n)`."""
        left = {}
        for prefix, side, keep, empty in zip(
            self.sides, self.split(features), keeps, self.empty, strict=True
        ):
            taken = take(side, keep, empty)
            left.update({prefix + name: ids for name, ids in taken.items()})
        return self.probabilities(left)


def take(features, keep, empty):
    """The features of the kept words alone, padded on the right.

    Args:
        features: Dictionary of arrays of shape `(B, n, ...)`.
        keep: Boolean array of shape `(B, n)`, True at steps to keep.
        empty: Dictionary of arrays of shape `(m, ...)`, the features of an
            empty text; they replace a row that keeps fewer than `m` steps.

    Returns:
        Dictionary of arrays of shape `(B, k, ...)`, `k` being the length of
        the longest row.
    """
    counts = keep.sum(axis=1)
    shortest = len(empty["token_ids"])
    length = max(shortest, counts.max())
    order = np.argsort(~keep, axis=1, kind="stable")[:, :length]
    padding = np.arange(order.shape[1]) >= counts[:, None]
    taken = {}
    for name, ids in features.items():
        shape = (*order.shape, *[1] * (ids.ndim - 2))
        left = np.take_along_axis(ids, order.reshape(shape), axis=1)
        left[padding] = 0
        left[counts < shortest, :shortest] = empty[name]
        taken[name] = left
    return taken

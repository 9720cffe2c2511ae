import keras
import numpy as np
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.exact_match import matches
from keras_selfattn.layers.logistic_regression import fit_logistic_regression
from keras_selfattn.layers.ngram_layer import FEWEST_TEXTS
from keras_selfattn.layers.ngram_layer import NGramLayer
from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_shapes
from keras_selfattn.layers.shapes import spec

# Fitting to them takes 300 MB.
_MOST_GRAMS = 2**22


@keras.saving.register_keras_serializable(package="keras_selfattn")
class PairNGramLogits(TakesPair, NGramLayer):
    """The logits of a linear model of what a pair's second text adds.

    It is the wide part of a wide and deep classifier of pairs, beside the deep
    one. With few pairs most of what can be learned is which words the second
    text has that the first has not, and how many.

    1. `m_j = 1` if some `p_i = h_j`, else `0`, as in
        `keras_selfattn.layers.ExactMatch`.
    2. Each run of `k` words of the hypothesis, for the lengths `k` of
        `word_ngrams`, is an n-gram of `x_j = 2 h_j + m_j`, and so is, for
        those of `match_ngrams`, each run of `x_j = 1 + m_j`, which words are
        the same. Padding parts them.
    3. An n-gram of `x_1, ..., x_k` has a row of the table, and the logits are
        the sum of the rows of all n-grams over the root of their number, as in
        `keras_selfattn.layers.NGramLogits`.

    Args:
        num_classes: Integer, the number of logits.
        num_buckets: Integer, the number of rows of the table, up to
            1,048,576.
        word_ngrams: Sequence of integers, the lengths of n-grams of words.
            Defaults to `(1, 2)`.
        match_ngrams: Sequence of integers, those of n-grams of matches.
            Defaults to `(1, 2, 3)`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Pair of integer tensors `(premise, hypothesis)`, the ids of
            their words, of shapes `(batch, n_p)` and `(batch, n_h)`, where 0
            is padding.
        return_shares: Boolean, whether to return the shares too. Defaults to
            `False`.

    Returns:
        A tensor of shape `(batch, num_classes)`, and with `return_shares` one
        of shape `(batch, n_h, grams, num_classes)`: of the n-grams that begin
        with a word of the hypothesis, in the order that `names_of_grams`
        gives. A place without an n-gram has zeros.

    Raises:
        ValueError: if an argument is out of its range, or if the inputs are
            not a pair of rank 2 with the same batch.

    References:
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep
        - [Bowman et al., 2015](https://arxiv.org/abs/1508.05326), section
            3.2, features of pairs

    Example:

    >>> import numpy as np
    >>> layer = PairNGramLogits(num_classes=2, num_buckets=64)
    >>> premise = np.array([[3, 5], [5, 0], [3, 0]])
    >>> hypothesis = np.array([[5, 4], [5, 0], [4, 0]])
    >>> layer.build([premise.shape, hypothesis.shape])
    >>> layer.adapt([((premise, hypothesis), np.array([0, 1, 0]))])
    >>> logits, shares = layer((premise, hypothesis), return_shares=True)
    >>> tuple(logits.shape), tuple(shares.shape)
    ((3, 2), (3, 2, 5, 2))
    >>> layer.names_of_grams(["It", "rains"], matches=[True, False])
    [['=It', '=It +rains', '=', '= +', ''], ['+rains', '', '+', '', '']]
    """

    input_names = ("premise", "hypothesis")

    def __init__(
        self,
        num_classes,
        num_buckets,
        word_ngrams=(1, 2),
        match_ngrams=(1, 2, 3),
        **kwargs,
    ):
        super().__init__(num_classes, num_buckets, word_ngrams, **kwargs)
        self.match_ngrams = validation.widths(match_ngrams, "match_ngrams")

    def build(self, input_shape):
        axes = ("batch", "steps")
        pair_of_shapes(input_shape, axes, self.input_names, self, same=(0,))
        self.input_spec = [spec(each) for each in input_shape]
        super().build(input_shape)

    def sequences(self, inputs):
        premise, hypothesis = pair(inputs, self.input_names, self)
        hypothesis = ops.cast(hypothesis, "int32")
        _, found = matches(premise, hypothesis)
        found = ops.cast(found, "int32")
        is_word = ops.not_equal(hypothesis, 0)
        words = 2 * hypothesis + found
        pattern = ops.where(is_word, 1 + found, 0)
        return [
            *((size, words) for size in self.word_ngrams),
            *((size, pattern) for size in self.match_ngrams),
        ]

    def adapt(self, batches):
        """Fill the table with a logistic regression of labeled pairs.

        Its features are those of `call`, the rows that two pairs or more
        have, and its kernel is the table: `W` of `½ ‖W‖² + 3 Σ loss`. The
        other rows have zeros. Of pairs with more than 4,194,304 n-grams every
        second batch is read, or every fourth, and so on.

        Args:
            batches: As in `NGramLogits.adapt`.

        Raises:
            ValueError: as there.
        """
        pairs, rows, labels = self._read(batches)
        values = 1 / np.sqrt(np.bincount(pairs))[pairs]
        occurs = np.bincount(self.once(pairs, rows)[1]) >= FEWEST_TEXTS
        there = occurs[rows]
        occurring = np.flatnonzero(occurs)
        table = np.zeros((self.num_buckets, self.num_classes))
        table[occurring] = fit_logistic_regression(
            pairs[there],
            np.searchsorted(occurring, rows[there]),
            values[there],
            labels,
            len(occurring),
        )
        self.table.assign(table)

    def _read(self, batches):
        """What `grams` gives of all batches, or of as many as there may be."""
        kept, stride, total = [], 1, 0
        for number, batch in enumerate(batches):
            if number % stride:
                continue
            kept.append(self.grams(*batch))
            total += len(kept[-1][0])
            if total > _MOST_GRAMS:
                kept, stride = kept[::2], 2 * stride
                total = sum(len(pairs) for pairs, *_ in kept)
        if not kept:
            raise ValueError("Expected at least one batch. Received: none")
        pairs, rows, labels = zip(*kept, strict=True)
        before = np.cumsum([0, *map(len, labels[:-1])])
        pairs = [
            batch + first for batch, first in zip(pairs, before, strict=True)
        ]
        return tuple(map(np.concatenate, (pairs, rows, labels)))

    def names_of_grams(self, tokens, matches):
        """What stands in the places of `return_shares`.

        Args:
            tokens: List of strings, the words of the hypothesis.
            matches: Sequence of booleans, whether each stands in the premise.

        Returns:
            A list, by word, of lists of strings, by place; `""` where there
            is no n-gram. A word that the premise has too begins with `=`, one
            that it has not with `+`; these signs alone are an n-gram of
            matches.
        """
        signs = ["=" if found else "+" for found in matches]
        words = [
            sign + token for sign, token in zip(signs, tokens, strict=True)
        ]
        kinds = [
            *((size, words) for size in self.word_ngrams),
            *((size, signs) for size in self.match_ngrams),
        ]
        return [
            [
                " ".join(names[first : first + size])
                if first + size <= len(names)
                else ""
                for size, names in kinds
            ]
            for first in range(len(tokens))
        ]

    def compute_output_shape(self, input_shape):
        return (
            pair(input_shape, self.input_names, self)[0][0],
            self.num_classes,
        )

    def compute_places_shape(self, input_shape):
        _, hypothesis = pair(input_shape, self.input_names, self)
        return (*hypothesis, len(self.word_ngrams) + len(self.match_ngrams))

    def get_config(self):
        return {
            **super().get_config(),
            "match_ngrams": self.match_ngrams,
        }

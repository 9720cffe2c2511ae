import keras
import numpy as np
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.scoring_layer import ScoringLayer

# h · 997 + id stays an int32 for all hashes and ids.
_MOST_BUCKETS = 2**20
MULTIPLIER = 997
_FEWEST_TEXTS = 2


@keras.saving.register_keras_serializable(package="keras_selfattn")
class NGramLogits(ScoringLayer):
    """The logits of a linear model of the n-grams of a text.

    It is the wide part of a wide and deep classifier, beside the deep one.

    1. Each run of `k` words, for the lengths `k` of `word_ngrams`, is an
        n-gram, and so is each run of `k` characters of a word, for those of
        `character_ngrams`, where the ends of a word count as a character.
    2. An n-gram of ids `x_1, ..., x_k` has the row `h_k` of the table, with
        `h_0 = ` the number of its kind and
        `h_i = (997 · h_{i-1} + x_i) mod num_buckets`. N-grams of the same row
        share it.
    3. The logits are the sum of the rows of all `m` n-grams over `√m`.

    So each n-gram has a share of each logit, and the shares sum to the logit.

    Args:
        num_classes: Integer, the number of logits.
        num_buckets: Integer, the number of rows of the table, up to
            1,048,576.
        word_ngrams: Sequence of integers, the lengths of n-grams of words.
            Defaults to `(1, 2)`.
        character_ngrams: Sequence of integers, those of n-grams of
            characters, for layers that read characters. Defaults to
            `(3, 4, 5)`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Integer tensor of shape `(batch, n)`, the ids of the words,
            where 0 is padding; or the pair of it and of one of shape `(batch,
            n, characters)`, the ids of the characters of each word, padded
            with 0 on the right.
        return_shares: Boolean, whether to return the shares too. Defaults to
            `False`.

    Returns:
        A tensor of shape `(batch, num_classes)`, and with `return_shares` one
        of shape `(batch, n, grams, num_classes)`: of the n-grams that begin
        with a word, and then of those within it, in the order that
        `names_of_grams` gives. A place without an n-gram has zeros.

    Raises:
        ValueError: if an argument is out of its range, or if the inputs are
            not of the ranks above.

    References:
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep
        - [Wang & Manning, 2012](https://aclanthology.org/P12-2018/),
            log-count ratios

    Example:

    >>> import numpy as np
    >>> layer = NGramLogits(num_classes=2, num_buckets=64)
    >>> token_ids = np.array([[3, 5], [5, 0], [3, 0]])
    >>> layer.build(token_ids.shape)
    >>> layer.adapt([(token_ids, np.array([0, 1, 1]))])
    >>> logits, shares = layer(token_ids, return_shares=True)
    >>> tuple(logits.shape), tuple(shares.shape)
    ((3, 2), (3, 2, 2, 2))
    >>> layer.names_of_grams(["not", "good"])
    [['not', 'not good'], ['good', '']]
    """

    def __init__(
        self,
        num_classes,
        num_buckets,
        word_ngrams=(1, 2),
        character_ngrams=(3, 4, 5),
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_classes = validation.integer(num_classes, "num_classes")
        self.num_buckets = check_buckets(num_buckets, "num_buckets")
        self.word_ngrams = validation.widths(word_ngrams, "word_ngrams")
        self.character_ngrams = validation.widths(
            character_ngrams, "character_ngrams"
        )

    def build(self, input_shape):
        words, characters = _pair(input_shape)
        if len(words) != 2 or len(characters or words) != 2 + bool(characters):
            raise ValueError(
                "NGramLogits takes word ids of shape (batch, n), or these and "
                "character ids of shape (batch, n, characters). Received: "
                f"inputs of shape {input_shape}"
            )
        # Cast to half precision, the whole table would be read and its
        # gradient be dense.
        self.table = self.add_weight(
            name="table",
            shape=(self.num_buckets, self.num_classes),
            initializer="zeros",
            autocast=False,
        )

    def call(self, inputs, return_shares=False):
        grams = self.find(inputs)
        count = sum(
            ops.sum(ops.cast(there, "float32"), axis=(1, 2))
            for _, there in grams
        )
        scale = ops.rsqrt(ops.maximum(count, 1.0))
        shares = []
        for rows, there in grams:
            values = ops.take(self.table, rows, axis=0)
            shares.append(
                ops.where(
                    ops.expand_dims(there, -1), values, ops.zeros_like(values)
                )
            )
        logits = sum(ops.sum(each, axis=(1, 2)) for each in shares)
        logits = ops.cast(logits * scale[:, None], self.compute_dtype)
        if not return_shares:
            return logits
        shares = ops.concatenate(shares, axis=2) * scale[:, None, None, None]
        return logits, ops.cast(shares, self.compute_dtype)

    def find(self, inputs):
        """The rows of the n-grams, and which of them there are.

        Args:
            inputs: As in `call`.

        Returns:
            A list of a pair for each length of n-grams: the rows, integers of
            shape `(batch, n, places)`, and booleans of the same shape, False
            where no n-gram begins.
        """
        words, characters = _pair(inputs)
        words = ops.cast(words, "int32")
        kinds = [(size, ops.expand_dims(words, 1)) for size in self.word_ngrams]
        if characters is not None:
            characters = _with_ends(words, ops.cast(characters, "int32"))
            kinds += [(size, characters) for size in self.character_ngrams]
        found = []
        for kind, (size, ids) in enumerate(kinds, start=1):
            rows, there = self._hash(ids, size, kind)
            if kind <= len(self.word_ngrams):
                rows, there = (
                    ops.swapaxes(each, 1, 2) for each in (rows, there)
                )
            found.append((rows, there))
        return found

    def _hash(self, ids, size, kind):
        """The rows of the runs of `size` ids along the last axis."""
        ids = ops.pad(ids, ((0, 0), (0, 0), (0, size - 1)))
        rows, shortest = kind, 1
        for first in range(size):
            taken = ids[:, :, first : first - size + 1 or None]
            rows = ops.mod(rows * MULTIPLIER + taken, self.num_buckets)
            shortest = ops.minimum(shortest, taken)
        return rows, ops.not_equal(shortest, 0)

    def adapt(self, batches, scale=0.3):
        """Fill the table with the log-count ratios of labeled texts.

        For a class, `p` of the `P` n-grams that its texts have, each counted
        once a text, are those of a row, and `q` of the `Q` that the texts of
        the other classes have. With `N` rows that two texts or more have, the
        row's weight is
        `scale · (log((p + 1) / (P + N)) - log((q + 1) / (Q + N)))`.
        The others have zeros, and are not counted: what one text alone has
        would tell its class, and be worth nothing elsewhere.

        Args:
            batches: Iterable of pairs of what `call` takes, and of the
                numbers of the classes, integers of shape `(batch,)`, or of
                how much a text is of each class, `(batch, num_classes)`.
            scale: Float, what the ratios are multiplied by. Defaults to
                `0.3`.
        """
        counts = np.zeros((self.num_buckets, self.num_classes))
        for inputs, labels in batches:
            labels = ops.convert_to_numpy(labels)
            if labels.ndim == 1:
                labels = np.eye(self.num_classes)[labels]
            found = []
            for pair in self.find(inputs):
                rows, there = map(ops.convert_to_numpy, pair)
                text, *_ = np.nonzero(there)
                found.append(text * self.num_buckets + rows[there])
            text, rows = np.divmod(
                np.unique(np.concatenate(found)), self.num_buckets
            )
            np.add.at(counts, rows, labels[text])
        occurs = counts.sum(axis=1) >= _FEWEST_TEXTS
        counts[~occurs] = 0
        known = counts[occurs]
        others = known.sum(axis=1, keepdims=True) - known
        counts[occurs] = scale * (_log_shares(known) - _log_shares(others))
        self.table.assign(counts)

    def names_of_grams(self, tokens, max_characters=0):
        """What stands in the places of `return_shares`.

        Args:
            tokens: List of strings, the words of a text.
            max_characters: Integer, how many characters of a word are read.

        Returns:
            A list, by word, of lists of strings, by place; `""` where there
            is no n-gram. An n-gram of characters has `_` where a word ends.

        Example:

        >>> layer = NGramLogits(2, 64, character_ngrams=[3])
        >>> layer.names_of_grams(["so", "good"], max_characters=2)
        [['so', 'so good', '_so', 'so_', '', ''], \
['good', '', '_go', 'go_', '', '']]
        """
        names = []
        for i, token in enumerate(tokens):
            names.append(
                [
                    " ".join(run) if len(run) == size else ""
                    for size in self.word_ngrams
                    for run in [tokens[i : i + size]]
                ]
            )
            spelled = f"_{token[:max_characters]}_"
            for size in self.character_ngrams * bool(max_characters):
                for first in range(max_characters + 2):
                    run = spelled[first : first + size]
                    names[-1].append(run if len(run) == size else "")
        return names

    def compute_output_shape(self, input_shape):
        return (_pair(input_shape)[0][0], self.num_classes)

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "num_buckets": self.num_buckets,
            "word_ngrams": self.word_ngrams,
            "character_ngrams": self.character_ngrams,
        }


def check_buckets(value, name):
    """The number of rows of a table, or `ValueError` where it can't be."""
    if validation.integer(value, name) > _MOST_BUCKETS:
        raise ValueError(
            f"`{name}` must be {_MOST_BUCKETS:,} or less. "
            f"Received: {name}={value}"
        )
    return value


def _log_shares(counts):
    counts = counts + 1
    return np.log(counts / counts.sum(axis=0))


def _pair(inputs):
    """Words and characters, or `None`, of tensors or of shapes."""
    is_pair = isinstance(inputs, (tuple, list)) and not isinstance(
        inputs[0], (int, type(None))
    )
    return inputs if is_pair else (inputs, None)


def _with_ends(words, ids):
    """Character ids from 2 up, with 1 before and after each word."""
    is_word = ops.expand_dims(ops.not_equal(words, 0), -1)
    has = ops.logical_and(is_word, ops.not_equal(ids, 0))
    ids = ops.pad(ops.where(has, ids + 1, 0), ((0, 0), (0, 0), (1, 1)))
    has = ops.cast(ops.pad(has, ((0, 0), (0, 0), (2, 2))), "int32")
    beside = ops.maximum(has[:, :, 2:], has[:, :, :-2])
    return ops.where(ops.equal(ids, 0), beside, ids)

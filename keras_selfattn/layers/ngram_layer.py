import numpy as np
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.scoring_layer import ScoringLayer

# h · 997 + id stays an int32 for all hashes and ids.
_MOST_BUCKETS = 2**20
MULTIPLIER = 997
_FEWEST_TEXTS = 2


class NGramLayer(ScoringLayer):
    """The logits of a linear model of n-grams, whose rows they are hashed to.

    Subclasses check the shapes of the inputs, say by `sequences` what has
    n-grams of which lengths, and name them.

    Args:
        num_classes: Integer, the number of logits.
        num_buckets: Integer, the number of rows of the table, up to
            1,048,576.
        word_ngrams: Sequence of integers, the lengths of n-grams of words.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

    def __init__(self, num_classes, num_buckets, word_ngrams, **kwargs):
        super().__init__(**kwargs)
        self.num_classes = validation.integer(num_classes, "num_classes")
        self.num_buckets = check_buckets(num_buckets, "num_buckets")
        self.word_ngrams = validation.widths(word_ngrams, "word_ngrams")

    def build(self, input_shape):
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
        found = []
        for kind, (size, ids) in enumerate(self.sequences(inputs), start=1):
            if len(ids.shape) == 3:
                found.append(self._hash(ids, size, kind))
                continue
            grams = self._hash(ops.expand_dims(ids, 1), size, kind)
            found.append(tuple(ops.swapaxes(each, 1, 2) for each in grams))
        return found

    def sequences(self, inputs):
        """What has n-grams, and of which lengths.

        Args:
            inputs: As in `call`.

        Returns:
            A list of a pair for each kind of n-grams: their length, and the
            ids that they are made of, integers of shape `(batch, n)`, or
            `(batch, n, characters)` where they lie within a word.
        """
        raise NotImplementedError

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

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "num_buckets": self.num_buckets,
            "word_ngrams": self.word_ngrams,
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

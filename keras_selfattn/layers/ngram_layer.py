import keras
import numpy as np
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.scoring_layer import ScoringLayer

# h · 997 + id stays an int32 for all hashes and ids.
_MOST_BUCKETS = 2**20
MULTIPLIER = 997
# What one text alone has would tell its class, and be worth nothing
# elsewhere.
FEWEST_TEXTS = 2


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

    def compute_output_spec(self, inputs, return_shares=False):
        logits = super().compute_output_spec(inputs)
        if not return_shares:
            return logits
        shapes = keras.tree.map_structure(lambda each: each.shape, inputs)
        batch, steps, places = self.compute_places_shape(shapes)
        return logits, keras.KerasTensor(
            (batch, steps, places, self.num_classes), self.compute_dtype
        )

    def compute_places_shape(self, input_shape):
        """The shape `(batch, n, places)` of where n-grams may begin."""
        raise NotImplementedError

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

    def grams(self, inputs, labels):
        """The n-grams and the labels of a batch, as NumPy arrays.

        Args:
            inputs: As in `call`.
            labels: The numbers of the classes, integers of shape `(batch,)`,
                or how much a text is of each class, of shape `(batch,
                num_classes)`.

        Returns:
            The numbers of the texts and the rows of their n-grams, two arrays
            of shape `(grams,)`, and the labels, of shape `(batch,
            num_classes)`.

        Raises:
            ValueError: if the layer is not built, or the labels are others.
        """
        if not self.built:
            raise ValueError(
                f"{type(self).__name__} must be built before it is adapted"
            )
        labels = self._shares_of_classes(ops.convert_to_numpy(labels))
        texts, found = [], []
        for pair in self.find(inputs):
            rows, there = map(ops.convert_to_numpy, pair)
            if len(rows) != len(labels):
                raise ValueError(
                    "Expected as many labels as texts. "
                    f"Received: {len(labels)} for {len(rows)} texts"
                )
            text, *_ = np.nonzero(there)
            texts.append(text)
            found.append(rows[there])
        return np.concatenate(texts), np.concatenate(found), labels

    def _shares_of_classes(self, labels):
        """Labels as `grams` returns them, or `ValueError`."""
        classes = self.num_classes
        if labels.ndim == 2 and labels.shape[1] == classes:
            return labels
        numbers = labels[:, 0] if labels.shape[1:] == (1,) else labels
        if (
            numbers.ndim != 1
            or not np.issubdtype(numbers.dtype, np.integer)
            or not np.isin(numbers, range(classes)).all()
        ):
            raise ValueError(
                f"{type(self).__name__} is adapted to the numbers of classes, "
                f"integers from 0 to {classes - 1} of shape (batch,), or to "
                f"shares of shape (batch, {classes}). Received: labels of "
                f"{labels.dtype} and shape {labels.shape}: "
                f"{labels.reshape(-1)[:5].tolist()}"
            )
        return np.eye(classes)[numbers]

    def once(self, texts, rows):
        """The n-grams of `grams`, each once a text."""
        return np.divmod(
            np.unique(texts * self.num_buckets + rows), self.num_buckets
        )

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

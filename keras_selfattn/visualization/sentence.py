"""A sentence and how much each of its words weighs."""

import dataclasses
import functools
import unicodedata
from collections.abc import Iterator

import numpy as np

from keras_selfattn import heads
from keras_selfattn.text import NULL
from keras_selfattn.text import UNKNOWN
from keras_selfattn.visualization import alignment


@dataclasses.dataclass(eq=False)
class Sentence:
    """A sentence with the attention that its words get.

    Args:
        text: String.
        tokens: List of `n` strings, the words as the model reads them.
        scores: Array of shape `(heads, n)`, the weight of each word in each
            head; every row sums to 1. In an alignment the heads are the words
            of the other sentence.
        features: Array of shape `(heads, n, D)`, the weight of each word for
            each feature, or `None` where all features of a word weigh the
            same.
        intra_scores: Array of shape `(n, n)`, how each word (row) looks at
            the words of its own sentence (columns), or `None`.
        effects: Dictionary of arrays of shape `(n,)` by method: the effect of
            each word on the predicted label, below 0 where it speaks against
            it.
        unread_words: How many words after `tokens` the model did not read.
            `None` counts what the text has after them.

    Raises:
        ValueError: if the shapes do not fit together, a weight is negative,
            or a weight or an effect not finite.

    Example:

    >>> import numpy as np
    >>> food = Sentence(
    ...     "Good food", ["Good", "food"], np.array([[1.0, 0.0], [0.5, 0.5]]))
    >>> food.overall
    array([0.75, 0.25])
    """

    text: str
    tokens: list
    scores: np.ndarray
    features: np.ndarray | None = dataclasses.field(default=None, kw_only=True)
    intra_scores: np.ndarray | None = dataclasses.field(
        default=None, kw_only=True
    )
    effects: dict = dataclasses.field(default_factory=dict, kw_only=True)
    unread_words: int | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self):
        n = len(self.tokens)
        self.scores = as_weights(self.scores, "scores", ("heads", n))
        if self.features is not None:
            shape = len(self.scores), n, "D"
            self.features = as_weights(
                self.features, "features", shape, "float32"
            )
        if self.intra_scores is not None:
            self.intra_scores = as_weights(
                self.intra_scores, "intra_scores", (n, n)
            )
        self.effects = {
            method: as_effects(effects, f"effects[{method!r}]", (n,))
            for method, effects in self.effects.items()
        }
        if self.unread_words is None:
            self.unread_words = len(self.unread.split())

    @property
    def overall(self) -> np.ndarray:
        """Weights `(n,)`: the mean over the heads, as shares of 1."""
        total = self.scores.sum(axis=0)
        return total / (total.sum() or 1.0)

    @property
    def head_overlap(self) -> np.ndarray:
        """For each head `(heads,)`, `keras_selfattn.heads.overlap`."""
        return heads.overlap(self.scores)

    @property
    def head_penalty(self) -> np.ndarray:
        """For each head `(heads,)`, `keras_selfattn.heads.penalty`."""
        return heads.penalty(self.scores)

    @property
    def overlap(self) -> float:
        """The mean overlap of all pairs of heads, from 0 to 1."""
        return float(self.head_overlap.mean())

    @property
    def redundancy(self) -> float:
        """The older name of `overlap`."""
        return self.overlap

    @property
    def penalty(self) -> float:
        """‖A Aᵀ − I‖²_F of the scores A (equation 8 of Lin et al.)."""
        return float(self.head_penalty.sum())

    def head_order(self) -> list[int]:
        """The heads' numbers from 0, those that differ most first.

        The most peaked head is the first. Each next one is the head that is
        least like any before it, by the cosine of their weights.
        """
        norms = np.linalg.norm(self.scores, axis=1)
        units = self.scores / np.where(norms > 0, norms, 1.0)[:, None]
        similarity = units @ units.T
        order = [int(np.argmax(norms))]
        nearest = similarity[order[0]].copy()
        while len(order) < len(units):
            nearest[order] = np.inf
            order.append(int(np.argmin(nearest)))
            nearest = np.maximum(nearest, similarity[order[-1]])
        return order

    @functools.cached_property
    def aligned(self) -> tuple:
        """The text to show and each token's `(start, end)` in it."""
        return alignment.align(self.text, self.tokens)

    @property
    def unread(self) -> str:
        """The end of the shown text that the model did not read."""
        shown, spans = self.aligned
        return shown[spans[-1][1] :].strip()

    @property
    def unread_note(self) -> str:
        """How many words were not read, in words; `""` if all were."""
        if not self.unread_words:
            return ""
        words = "word" if self.unread_words == 1 else "words"
        return f"{self.unread_words:,} {words} not read"

    @property
    def empty_note(self) -> str:
        """What stands for a text without words; `""` where it has some."""
        if self.text.strip() or self.tokens[-1] != UNKNOWN:
            return ""
        return f"{UNKNOWN} stands for a text without words."

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield each word of the shown text after the gap before it."""
        shown, spans = self.aligned
        position = 0
        for start, end in spans:
            yield shown[position:start], shown[start:end]
            position = end

    @property
    def direction(self) -> str:
        """The direction of the script: `"ltr"`, `"rtl"` or `"auto"`.

        The NULL token that a model may put before a text doesn't count.
        """
        shown, _ = self.aligned
        for char in shown.removeprefix(NULL):
            kind = unicodedata.bidirectional(char)
            if kind in ("L", "R", "AL"):
                return "ltr" if kind == "L" else "rtl"
        return "auto"

    @property
    def words(self) -> list[str]:
        """The words as the shown text writes them."""
        return [word for _, word in self.pieces()]

    def feature_groups(self, count: int) -> np.ndarray:
        """The features in few groups, for a picture of each head.

        The order of features means nothing. So those of a head are ordered
        by the word that they weigh most, and neighbors are averaged.

        Args:
            count: Integer, the largest number of groups.

        Returns:
            Array of shape `(heads, n, groups)`.

        Example:

        >>> import numpy as np
        >>> features = np.array([[[0, 1, 0.25, 1], [1, 0, 0.75, 0]]])
        >>> s = Sentence("a b", ["a", "b"], [[0.5625, 0.4375]],
        ...              features=features)
        >>> s.feature_groups(2)
        array([[[1.   , 0.125],
                [0.   , 0.875]]])
        """
        features = np.asarray(self.features, "float64")
        size = features.shape[-1]
        order = np.lexsort((-features.max(axis=1), features.argmax(axis=1)))
        ordered = np.take_along_axis(features, order[:, None, :], axis=-1)
        edges = np.linspace(0, size, min(count, size) + 1).astype(int)
        sums = np.add.reduceat(ordered, edges[:-1], axis=-1)
        return sums / np.diff(edges)


def as_weights(values, name, shape, dtype="float64"):
    """An array of weights, or `ValueError` where it holds something else.

    Args:
        values: What is to be the array.
        name: The name of the argument.
        shape: Tuple of integers, and of strings for sizes from 1 up.
        dtype: The dtype of the array.
    """
    values = _as_numbers(values, name, shape, dtype)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"`{name}` must be finite and not negative. Received: {name} from "
            f"{values.min()} to {values.max()}"
        )
    return values


def as_effects(values, name, shape):
    """The same, of numbers of any sign."""
    values = _as_numbers(values, name, shape, "float64")
    if not np.isfinite(values).all():
        raise ValueError(
            f"`{name}` must be finite. Received: {name} from "
            f"{values.min()} to {values.max()}"
        )
    return values


def _as_numbers(values, name, shape, dtype):
    values = np.asarray(values, dtype)
    if (
        not values.size
        or values.ndim != len(shape)
        or any(
            isinstance(expected, int) and size != expected
            for size, expected in zip(values.shape, shape, strict=True)
        )
    ):
        expected = str(shape).replace("'", "")
        raise ValueError(
            f"`{name}` must have the shape {expected} and not be empty. "
            f"Received: {name} of shape {values.shape}"
        )
    return values

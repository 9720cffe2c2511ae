"""What a classifier said of one text, and where it looked."""

import dataclasses
import functools

import numpy as np

from keras_selfattn.visualization import alignment


@dataclasses.dataclass(eq=False)
class Explanation:
    """A prediction for one text with the attention scores behind it.

    In a notebook the object shows itself; `rich.print` and `render` show it
    in a terminal.

    Args:
        text: str.
        tokens: list of n str, the words as the model reads them.
        scores: array `(heads, n)`, the weight of each word in each head;
            every row sums to 1.
        probabilities: array `(classes,)`.
        labels: list of str, the names of the classes.
        gold: str, the true label, or None where it is not known.

    Raises:
        ValueError: if the shapes do not fit together, or a score or
            probability is negative or not finite.

    Example:

    >>> import numpy as np
    >>> seen = Explanation(
    ...     text="Good food",
    ...     tokens=["Good", "food"],
    ...     scores=np.array([[1.0, 0.0], [0.5, 0.5]]),
    ...     probabilities=np.array([0.2, 0.8]),
    ...     labels=["bad", "good"],
    ...     gold="good",
    ... )
    >>> seen.predicted, seen.correct, seen.confidence
    ('good', True, 0.8)
    >>> seen.overall
    array([0.75, 0.25])
    >>> seen.redundancy, seen.penalty
    (0.5, 0.75)

    References:
        [Lin et al., 2017](https://arxiv.org/abs/1703.03130)
    """

    text: str
    tokens: list
    scores: np.ndarray
    probabilities: np.ndarray
    labels: list
    gold: str | None = None

    def __post_init__(self):
        self.scores = np.asarray(self.scores, "float64")
        self.probabilities = np.asarray(self.probabilities, "float64")
        if self.scores.ndim != 2 or self.scores.shape[1] != len(self.tokens):
            raise ValueError(
                f"Expected scores of shape (heads, {len(self.tokens)}), one "
                f"column for each token, got {self.scores.shape}."
            )
        if not self.scores.size:
            raise ValueError(
                "Expected at least one head and one token, got scores of "
                f"shape {self.scores.shape}."
            )
        if self.probabilities.shape != (len(self.labels),):
            raise ValueError(
                f"Expected probabilities of shape ({len(self.labels)},), one "
                f"for each label, got {self.probabilities.shape}."
            )
        for name in ("scores", "probabilities"):
            values = getattr(self, name)
            if not (np.isfinite(values) & (values >= 0)).all():
                raise ValueError(
                    f"Expected {name} that are finite and not negative, got "
                    f"values from {values.min()} to {values.max()}."
                )

    @property
    def predicted(self):
        """The most probable label."""
        return self.labels[int(np.argmax(self.probabilities))]

    @property
    def confidence(self):
        """The probability of the predicted label."""
        return float(self.probabilities.max())

    @property
    def correct(self):
        """Whether the prediction is the true label; None if not known."""
        return None if self.gold is None else self.predicted == self.gold

    @property
    def overall(self):
        """Weights `(n,)`: the heads summed and normalised to 1."""
        total = self.scores.sum(axis=0)
        return total / (total.sum() or 1.0)

    @property
    def head_overlap(self):
        """For each head `(heads,)`, its mean overlap with the others.

        The overlap of two heads is the sum over the words of the product of
        their weights, an element of A Aᵀ: 0 when they share no word, 1 when
        both see nothing but the same word.
        """
        products = self.scores @ self.scores.T
        np.fill_diagonal(products, 0.0)
        return products.sum(axis=1) / max(len(products) - 1, 1)

    @property
    def redundancy(self):
        """The mean overlap of all pairs of heads, from 0 to 1."""
        return float(self.head_overlap.mean())

    @property
    def penalty(self):
        """‖A Aᵀ − I‖²_F of the scores A (equation 8 of Lin et al.)."""
        products = self.scores @ self.scores.T
        return float(np.square(products - np.eye(len(products))).sum())

    def head_order(self):
        """Returns the heads' numbers, those that differ most first.

        The most peaked head leads; after it always comes the head whose
        nearest neighbour among those already chosen is the farthest (by
        the cosine of their weights).
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
    def aligned(self):
        """The text to show and each token's `(start, end)` in it."""
        return alignment.align(self.text, self.tokens)

    @property
    def unread(self):
        """The end of the shown text that the model did not read."""
        shown, spans = self.aligned
        return shown[spans[-1][1] :].strip()

    def pieces(self):
        """Yields the shown text as pairs of the gap before a word, word."""
        shown, spans = self.aligned
        position = 0
        for start, end in spans:
            yield shown[position:start], shown[start:end]
            position = end

    def render(self, console=None):
        """Prints both views: words by overall weight, then words by head.

        Args:
            console: a `rich.console.Console`; the standard output if None.
        """
        from rich.console import Console

        (console or Console()).print(self)

    def __rich_console__(self, console, options):
        from keras_selfattn.visualization import terminal

        yield from terminal.lines(self, console, options)

    def _repr_html_(self):
        from keras_selfattn.visualization import notebook

        return notebook.fragment(self)

    def figure(self):
        """Returns a `matplotlib.figure.Figure`, heads × words.

        Its first row is the overall weight. Long texts go on in further
        panels below.
        """
        from keras_selfattn.visualization import figure

        return figure.draw(self)

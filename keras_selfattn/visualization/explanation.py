"""What a classifier said of a text or a pair, and where it looked."""

import dataclasses
from collections.abc import Iterator

from keras_selfattn.visualization.prediction import Prediction
from keras_selfattn.visualization.prediction import accepts_gold
from keras_selfattn.visualization.sentence import Sentence


@accepts_gold("label")
@dataclasses.dataclass(eq=False)
class Explanation(Prediction, Sentence):
    """A prediction for one text with the attention scores behind it.

    In a notebook the object shows itself; `rich.print` and `render` show it
    in a terminal.

    Args:
        text: String.
        tokens: List of `n` strings, the words as the model reads them.
        scores: Array of shape `(heads, n)`, the weight of each word in each
            head; every row sums to 1.
        probabilities: Array of shape `(classes,)`.
        labels: List of the names of the classes.
        label: The true label, or `None` where it is not known.
        features: Array of shape `(heads, n, D)`, the weight of each word for
            each feature, or `None` where all features of a word weigh the
            same.
        effects: As in `Sentence`.
        unread_words: How many words after `tokens` the model did not read.
        ngrams: As in `Prediction`.

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
    ...     label="good",
    ... )
    >>> seen.predicted, seen.correct, seen.confidence
    ('good', True, 0.8)
    >>> seen.overall
    array([0.75, 0.25])
    >>> seen.overlap, seen.penalty
    (0.5, 0.75)

    References:
        [Lin et al., 2017](https://arxiv.org/abs/1703.03130)
    """

    has_heads = True

    def __post_init__(self):
        Sentence.__post_init__(self)
        Prediction.__post_init__(self)

    def sides(self) -> dict[str, Sentence]:
        """Dictionary of the sentences by name."""
        return {"": self}


@dataclasses.dataclass(eq=False)
class _Pair:
    premise: Sentence
    hypothesis: Sentence


@accepts_gold("label")
@dataclasses.dataclass(eq=False)
class PairExplanation(Prediction, _Pair):
    """A prediction for a pair, with the heads that read each sentence.

    Args:
        premise: `Sentence`.
        hypothesis: `Sentence` with as many heads.
        probabilities: Array of shape `(classes,)`.
        labels: List of the names of the classes.
        label: The true label, or `None` where it is not known.
        ngrams: As in `Prediction`.

    Raises:
        ValueError: if the shapes do not fit together, or a probability is
            negative or not finite.

    Example:

    >>> pair = PairExplanation(
    ...     premise=Sentence("It rains", ["It", "rains"], [[0.25, 0.75]]),
    ...     hypothesis=Sentence("Dry", ["Dry"], [[1.0]]),
    ...     probabilities=[0.1, 0.9],
    ...     labels=["entailment", "contradiction"],
    ... )
    >>> pair.predicted, pair.text
    ('contradiction', ('It rains', 'Dry'))

    References:
        [Chen et al., 2018](https://arxiv.org/abs/1806.09828)
    """

    has_heads = True

    def __post_init__(self):
        super().__post_init__()
        self._check_heads()

    def _check_heads(self):
        heads = [len(side.scores) for side in self.sides().values()]
        if heads[0] != heads[1]:
            raise ValueError(
                "Expected as many heads in both sentences. "
                f"Received: {heads[0]} and {heads[1]}"
            )

    @property
    def text(self) -> tuple[str, str]:
        """The two texts."""
        return self.premise.text, self.hypothesis.text

    def sides(self) -> dict[str, Sentence]:
        """Dictionary of the sentences by name."""
        return {"premise": self.premise, "hypothesis": self.hypothesis}


@accepts_gold("label")
@dataclasses.dataclass(eq=False)
class AlignmentExplanation(PairExplanation):
    """A prediction for a pair whose words look at each other.

    Args:
        premise: `Sentence` of n_p words with scores `(n_h, n_p)`: how each
            word of the hypothesis looks at it.
        hypothesis: `Sentence` of n_h words with scores `(n_p, n_h)`: how
            each word of the premise looks at it.
        probabilities: As in `PairExplanation`, and so are the rest.

    Raises:
        ValueError: if the shapes do not fit together, or a probability is
            negative or not finite.

    Example:

    >>> pair = AlignmentExplanation(
    ...     premise=Sentence("It rains", ["It", "rains"], [[0.25, 0.75]]),
    ...     hypothesis=Sentence("Dry", ["Dry"], [[1.0], [1.0]]),
    ...     probabilities=[0.1, 0.9],
    ...     labels=["entailment", "contradiction"],
    ... )
    >>> pair.premise.overall
    array([0.25, 0.75])

    References:
        [Parikh et al., 2016](https://arxiv.org/abs/1606.01933)
    """

    has_heads = False

    def _check_heads(self):
        for name, side, other in (
            ("premise", self.premise, self.hypothesis),
            ("hypothesis", self.hypothesis, self.premise),
        ):
            if len(side.scores) != len(other.tokens):
                raise ValueError(
                    f"Expected {len(other.tokens)} rows of scores of the "
                    f"{name}, one for each word of the other sentence. "
                    f"Received: {len(side.scores)}"
                )

    def matrices(self) -> Iterator[tuple]:
        """Yield each table of weights as `(title, looking, looked, weights)`.

        `weights` has a row for each word of the sentence that looks and a
        column for each word of the sentence looked at; rows sum to 1.
        """
        sides = list(self.sides().items())
        for (name, side), (other, looked) in (sides, sides[::-1]):
            title = f"The {name} (rows) looks at the {other} (columns)"
            yield title, side, looked, looked.scores
        for name, side in sides:
            if side.intra_scores is not None:
                title = f"The {name} (rows) looks at itself (columns)"
                yield title, side, side, side.intra_scores

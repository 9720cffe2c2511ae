"""What a classifier answered, and how the answer shows itself."""

import dataclasses
import functools

import numpy as np

from keras_selfattn.labels import Finder
from keras_selfattn.visualization.sentence import as_weights


def accepts_gold(name):
    """Decorate a function or class that has this name for `gold` now."""

    def decorate(function):
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)
            return function

        @functools.wraps(function)
        def call(*args, **kwargs):
            if "gold" in kwargs:
                # Python refuses an argument that is given by both names.
                return function(*args, **{name: kwargs.pop("gold")}, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def _is_missing(label):
    """Whether it is NaN or `pandas.NA`, as columns have where none is known."""
    try:
        return bool(label != label)
    except TypeError:
        return True


@dataclasses.dataclass(eq=False)
class Prediction:
    """The answer of a classifier, with the sentences behind it.

    In a notebook the object shows itself; `rich.print` and `render` show it
    in a terminal.

    Args:
        probabilities: Array of shape `(classes,)`.
        labels: List of the names of the classes.
        label: The true label, or `None`, NaN or `pandas.NA` where it is not
            known. It is one of `labels` if it has the value or the text of
            one. The older name `gold` is accepted too.
        ngrams: List of `NGram`, empty for a model without. Their shares sum
            to what the n-grams add to the logits, and are exact.

    Raises:
        ValueError: if the shapes do not fit together, or a probability is
            negative or not finite.
    """

    probabilities: np.ndarray
    labels: list
    label: str | float | None = None
    ngrams: list = dataclasses.field(default_factory=list, kw_only=True)

    def __post_init__(self):
        self.probabilities = as_weights(
            self.probabilities, "probabilities", (len(self.labels),)
        )
        if _is_missing(self.label):
            self.label = None
        known = Finder(self.labels)(self.label)
        if known is not None:
            self.label = self.labels[known]

    @property
    def gold(self):
        """The older name of `label`."""
        return self.label

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
        """Whether the predicted label is the true one; `None` if unknown."""
        return None if self.label is None else self.predicted == self.label

    def render(self, console=None):
        """Print the words by overall weight, and a table of all weights.

        Args:
            console: A `rich.console.Console`. Defaults to `None`, the
                standard output.
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
        """A `matplotlib.figure.Figure` with a map of each table of weights.

        A map of heads has the overall weight as its first row; an alignment
        has the looking words as rows and the words looked at as columns.
        Long texts go on in further panels below; that of a very long pair
        has fewer dots an inch. Colors are multiples of an even share, the
        same in all figures.
        """
        from keras_selfattn.visualization import figure

        return figure.draw(figure.views(self))

    def feature_figure(self):
        """A `matplotlib.figure.Figure` with a map, features × words, a head.

        Each feature has a row. Those of a head are ordered by the word that
        they weigh most, as their own order means nothing.

        Raises:
            ValueError: if the model does not weigh features by themselves.
        """
        from keras_selfattn.visualization import figure

        return figure.draw(figure.feature_views(self))

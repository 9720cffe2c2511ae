"""How far attention tells what a classifier relied on."""

import dataclasses
import itertools
from collections.abc import Iterable
from collections.abc import Sequence

import keras
import numpy as np

from keras_selfattn import heads
from keras_selfattn import validation
from keras_selfattn.effects.leaving_out import leave_one_out
from keras_selfattn.evaluation import with_label_ids
from keras_selfattn.faithfulness.ranking import agreement
from keras_selfattn.faithfulness.ranking import finds_first
from keras_selfattn.faithfulness.ranking import most_important
from keras_selfattn.faithfulness.reading import Reader
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.streams import chunks

METHODS = ("attention", "random", "gradient x input")
_LEAVE_ONE_OUT = "leave one out"
SHARES = (0.1, 0.2, 0.5)


@dataclasses.dataclass(frozen=True)
class Loss:
    """What a classifier loses with a method's most important words.

    All are means over the texts of the value for the whole text minus the
    value for what is left of it. A method that finds the words that count
    has a high comprehensiveness and a low sufficiency.

    Attributes:
        comprehensiveness: Float, the probability of the class predicted for
            the whole text that is lost when the words are removed.
        sufficiency: Float, the probability lost when only they are kept.
        accuracy_without: Float, the accuracy lost when they are removed.
        accuracy_with_only: Float, the accuracy lost when only they are kept.
    """

    comprehensiveness: float
    sufficiency: float
    accuracy_without: float
    accuracy_with_only: float


@dataclasses.dataclass(frozen=True)
class Agreement:
    """How well a method's weights find the words that decide.

    Attributes:
        precision: Float, the share of deciding words among the `k` words of
            most weight, `k` being the number of words that decide the text.
        mass: Float, the share of the positive weight on deciding words.
        first: Float, how often the word of most weight decides.
    """

    precision: float
    mass: float
    first: float


@dataclasses.dataclass(frozen=True)
class Faithfulness:
    """The result of `measure`.

    Attributes:
        texts: Integer, the number of texts.
        accuracy: Float, the accuracy on the whole texts.
        losses: Dictionary of `Loss` by `(method, share)`.
        agreement: Dictionary of `Agreement` by method; empty where the model
            reads no word that is known to decide.
        deciding: Integer, the number of words that are known to decide.
        deciding_unread: Integer, how many of them `agreement` leaves out, as
            they lie beyond the words that the model reads.
        num_heads: Integer; `None`, as what follows, for a model whose words
            look at each other.
        head_overlap: Float, the mean of `keras_selfattn.heads.overlap`.
        effective_heads: Float, the mean of
            `keras_selfattn.heads.effective_number`.
    """

    texts: int
    accuracy: float
    losses: dict
    agreement: dict
    deciding: int
    deciding_unread: int
    num_heads: int | None
    head_overlap: float | None
    effective_heads: float | None


def measure(
    model: keras.Model,
    records: Iterable,
    shares: Sequence[float] = SHARES,
    batch_size: int = 64,
    seed: int = 0,
    methods: Sequence[str] = METHODS,
) -> Faithfulness:
    """Compare attention with words taken at random and with gradients.

    The `ceil(share * n)` most important of a text's `n` words are removed,
    or only they are kept, and the classifier is asked again. Words are taken
    out, not masked: what is left moves together. A text of which nothing is
    left is read as an empty one. Of a pair, the same share of each sentence
    is removed, or kept, at once.

    Words are ordered by the attention scores summed over the heads, or, in
    decomposable attention, over the words of the other sentence that look at
    them; at random; and by gradient × input: the gradient of the
    log-probability of the predicted class to the word's vector, times the
    vector; or by the probability of the predicted class that is lost without
    the word alone. The sign of the last two counts, so words that speak for
    the predicted class come first.

    Only one batch is held in memory. The random words depend on the seed
    alone, not on the size of the batches.

    Args:
        model: A classifier with its `preprocessor` and `labels`.
        records: Iterable of `(text, label)`, the text of a pair being a pair
            of strings. Where a record has an attribute `deciding` too, as
            `keras_selfattn.data.generated` gives it, the positions in it are
            taken as the words that decide; for a pair it holds those of each
            sentence.
        shares: Sequence of floats above 0, at most 1.
        batch_size: Integer.
        seed: Integer, the seed of the random words.
        methods: Sequence of names, of `METHODS` and `"leave one out"`. That
            one asks the model once more for each word, and so takes longer
            than all others together.

    Returns:
        A `Faithfulness`.

    Raises:
        ValueError: if the model is no classifier, or has no preprocessor or
            no labels, if a share is out of range or a method not known, if
            there are no records, or one has a label that the model does not
            know.

    References:
        - [DeYoung et al., 2020](https://arxiv.org/abs/1911.03429),
            comprehensiveness and sufficiency
        - [Jain and Wallace, 2019](https://arxiv.org/abs/1902.10186),
            attention against gradients
    """
    if not isinstance(model, Classifier) or model.preprocessor is None:
        raise ValueError(
            "Faithfulness is measured on a `keras_selfattn.models.Classifier` "
            f"with a `preprocessor`. Received: {type(model).__name__}, "
            f"preprocessor {getattr(model, 'preprocessor', None)!r}"
        )
    for name, given in (("shares", shares), ("methods", methods)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ValueError(
                f"`{name}` must be several. Received: {name}={given!r}"
            )
    validation.integer(batch_size, "batch_size")
    shares, methods = tuple(shares), tuple(methods)
    if not shares or not all(0 < share <= 1 for share in shares):
        raise ValueError(
            "`shares` must be numbers above 0, at most 1. "
            f"Received: shares={shares!r}"
        )
    for method in methods:
        validation.one_of(method, (*METHODS, _LEAVE_ONE_OUT), "methods")
    measurement = Measurement(Reader(model), shares, seed, methods)
    for batch in chunks(with_label_ids(records, model.labels), batch_size):
        measurement.add(batch)
    if not measurement.counts:
        raise ValueError("There is nothing to measure: no text was given")
    return measurement.result()


class Measurement:
    """Sums and counts by name, for means over a stream of texts."""

    def __init__(self, reader, shares, seed, methods=METHODS):
        self.reader = reader
        self.shares = shares
        self.methods = methods
        self.num_heads = None
        self.random = np.random.default_rng(seed)
        self.sums = {}
        self.counts = {}

    def add(self, batch):
        """Measure a batch of pairs of a record and its label's number."""
        records, label_ids = zip(*batch, strict=True)
        features = self.reader.read([record[0] for record in records])
        outputs, scores, gradients = self.reader.look(features)
        words, always = self.reader.words(features)
        weights = {
            "attention": [side.sum(axis=1) for side in scores],
            "random": self._chance(words),
            "gradient x input": gradients,
        }
        if _LEAVE_ONE_OUT in self.methods:
            weights[_LEAVE_ONE_OUT] = leave_one_out(
                self.reader, features, outputs
            )
        if self.reader.has_heads:
            self.num_heads = scores[0].shape[1]
        predicted = outputs.argmax(axis=-1)
        rows = np.arange(len(batch))
        confidence = outputs[rows, predicted]
        right = (predicted == label_ids).astype(float)
        self._count("accuracy", right)
        for side in scores if self.reader.has_heads else ():
            self._count("head_overlap", heads.overlap(side).mean(axis=-1))
            self._count("effective_heads", heads.effective_number(side))

        for method, share in itertools.product(self.methods, self.shares):
            chosen = [
                most_important(weight, word, share)
                for weight, word in zip(weights[method], words, strict=True)
            ]
            removed = [w & ~c for w, c in zip(words, chosen, strict=True)]
            for keeps, probability, accuracy in (
                (removed, "comprehensiveness", "accuracy_without"),
                (chosen, "sufficiency", "accuracy_with_only"),
            ):
                keeps = [k | a for k, a in zip(keeps, always, strict=True)]
                left = self.reader.answer(features, keeps)
                lost = confidence - left[rows, predicted]
                self._count((method, share, probability), lost)
                lost = right - (left.argmax(axis=-1) == label_ids)
                self._count((method, share, accuracy), lost)

        for row, record in enumerate(records):
            positions = getattr(record, "deciding", None)
            if positions is None:
                continue
            if len(words) == 1:
                positions = [positions]
            for number, of_side in enumerate(positions):
                self._add_deciding(
                    of_side,
                    words[number][row],
                    {m: weights[m][number][row] for m in self.methods},
                )

    def _add_deciding(self, positions, words, weights):
        """Compare each method's weights in a sentence with what decides it."""
        decides = np.zeros(len(words), bool)
        # Words beyond those that the model reads are not there.
        places = np.array(positions, int) + self.reader.nulls
        decides[places[places < len(decides)]] = True
        decides &= words
        known = len(set(positions))
        self._count("deciding", [known])
        self._count("deciding_unread", [known - decides.sum()])
        if not decides.any():
            return
        for method in self.methods:
            precision, mass = agreement(weights[method], words, decides)
            first = finds_first(weights[method], words, decides)
            self._count((method, "precision"), [precision])
            self._count((method, "mass"), [mass])
            self._count((method, "first"), [first])

    def _chance(self, words):
        """A random weight for each word of each sentence."""
        chance = [np.zeros(side.shape) for side in words]
        # Text by text, so that the size of the batches changes nothing.
        for row in range(len(words[0])):
            for values, side in zip(chance, words, strict=True):
                values[row, side[row]] = self.random.random(side[row].sum())
        return chance

    def _count(self, name, values):
        self.sums[name] = self.sums.get(name, 0.0) + float(np.sum(values))
        self.counts[name] = self.counts.get(name, 0) + len(values)

    def _mean(self, name):
        """The mean, or `None` where nothing was counted."""
        if name not in self.sums:
            return None
        return self.sums[name] / self.counts[name]

    def result(self):
        """The `Faithfulness` of what has been measured."""
        return Faithfulness(
            texts=self.counts["accuracy"],
            accuracy=self._mean("accuracy"),
            losses={
                (method, share): Loss(
                    **{
                        field.name: self._mean((method, share, field.name))
                        for field in dataclasses.fields(Loss)
                    }
                )
                for method, share in itertools.product(
                    self.methods, self.shares
                )
            },
            agreement={
                method: Agreement(
                    self._mean((method, "precision")),
                    self._mean((method, "mass")),
                    self._mean((method, "first")),
                )
                for method in self.methods
                if (method, "mass") in self.counts
            },
            deciding=int(self.sums.get("deciding", 0)),
            deciding_unread=int(self.sums.get("deciding_unread", 0)),
            num_heads=self.num_heads,
            head_overlap=self._mean("head_overlap"),
            effective_heads=self._mean("effective_heads"),
        )

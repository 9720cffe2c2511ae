"""How far attention tells what a classifier relied on."""

import dataclasses
import itertools
import math

import keras
import numpy as np
from keras import ops

from keras_selfattn import heads
from keras_selfattn.backends import compiled
from keras_selfattn.backends import word_gradients
from keras_selfattn.evaluation import with_label_ids
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.decomposable_classifier import DecomposableClassifier
from keras_selfattn.streams import chunks

METHODS = ("attention", "random", "gradient x input")
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
    """

    precision: float
    mass: float


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


def measure(model, records, shares=SHARES, batch_size=64, seed=0):
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
    vector. Its sign counts, so words that speak for the predicted class come
    first.

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

    Returns:
        A `Faithfulness`.

    Raises:
        ValueError: if the model is no classifier or has no preprocessor, if
            a share is out of range, if there are no records, or one has a
            label that the model does not know.

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
    shares = tuple(shares)
    if not shares or not all(0 < share <= 1 for share in shares):
        raise ValueError(
            "`shares` must be numbers above 0, at most 1. "
            f"Received: shares={shares!r}"
        )
    reader = _Reader(model)
    totals = _Totals()
    random = np.random.default_rng(seed)
    for batch in chunks(_numbered(records, model.labels), batch_size):
        _measure_batch(reader, batch, shares, random, totals)
    if not totals.counts:
        raise ValueError("There is nothing to measure: no text was given")
    return Faithfulness(
        texts=totals.counts["accuracy"],
        accuracy=totals.mean("accuracy"),
        losses={
            (method, share): Loss(
                *(
                    totals.mean((method, share, field.name))
                    for field in dataclasses.fields(Loss)
                )
            )
            for method, share in itertools.product(METHODS, shares)
        },
        agreement={
            method: Agreement(
                totals.mean((method, "precision")),
                totals.mean((method, "mass")),
            )
            for method in METHODS
            if (method, "mass") in totals.counts
        },
        deciding=int(totals.sums.get("deciding", 0)),
        deciding_unread=int(totals.sums.get("deciding_unread", 0)),
        num_heads=reader.num_heads,
        head_overlap=totals.mean("head_overlap"),
        effective_heads=totals.mean("effective_heads"),
    )


class _Reader:
    """A classifier's answers, attention and gradients for features.

    What there is of each sentence comes in a list, of one for a single text.
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
        attention = model.attention_model()
        self.has_heads = not isinstance(model, DecomposableClassifier)
        self.num_heads = None
        if self.has_heads:
            scores = attention.output
            if len(self.sides) > 1:
                scores = scores[0]
            self.num_heads = scores.shape[1]
        embed = model.get_layer("word_vectors")
        rest = _behind(model, embed, [f"{s}token_ids" for s in self.sides])

        def answer_from(vectors, features):
            return compiled.as_probabilities(
                model,
                rest(
                    [*vectors, *(features[name] for name in model.input)],
                    training=False,
                ),
            )

        def look(features):
            vectors = [embed(features[f"{s}token_ids"]) for s in self.sides]
            outputs, gradients = word_gradients.of_largest_probability(
                lambda vectors: answer_from(vectors, features), vectors
            )
            products = [
                ops.sum(ops.cast(gradient * each, "float32"), axis=-1)
                for gradient, each in zip(gradients, vectors, strict=True)
            ]
            return outputs, attention(features, training=False), products

        self._answer = compiled.probabilities(model)
        self._look = compiled.function(look, model.input, model.weights)

    def read(self, texts):
        """The arrays of the features of texts."""
        # As long as what comes of them.
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

    def look(self, features):
        """What the model answers and where it looks.

        Returns:
            The probabilities `(B, classes)`; of each sentence the scores
            `(B, rows, n)`, a row being a head or a word of the other
            sentence; and of each sentence gradients × input `(B, n)`.
        """
        outputs, scores, gradients = self._look(features)
        scores = list(scores) if len(self.sides) > 1 else [scores]
        if not self.has_heads:
            # How the premise looks at the hypothesis comes first.
            scores.reverse()
        scores = [heads.of_words(side) for side in scores]
        return outputs, scores, gradients

    def answer(self, features, keeps):
        """Probabilities for the kept words, each of `keeps` being `(B, n)`."""
        left = {}
        for prefix, side, keep, empty in zip(
            self.sides, self.split(features), keeps, self.empty, strict=True
        ):
            taken = take(side, keep, empty)
            left.update({prefix + name: ids for name, ids in taken.items()})
        return self._answer(left)


def _behind(model, layer, names):
    """The part of a model behind what a layer makes of some inputs.

    Returns:
        A model of those outputs of the layer, in the order of `names`, and of
        all inputs of `model`.
    """
    made = {}

    def call(each, *arguments, **options):
        outputs = each(*arguments, **options)
        if each is layer:
            made[arguments[0].name] = outputs
        return outputs

    # A layer that both sentences share has several outputs, which it does not
    # tell apart by itself.
    again = keras.models.clone_model(
        model, clone_function=lambda each: each, call_function=call
    )
    inputs = [again.input[name] for name in model.input]
    return keras.Model([*(made[n] for n in names), *inputs], again.output)


class _Totals:
    """Sums and counts by name, for means over a stream."""

    def __init__(self):
        self.sums = {}
        self.counts = {}

    def add(self, name, values):
        self.sums[name] = self.sums.get(name, 0.0) + float(np.sum(values))
        self.counts[name] = self.counts.get(name, 0) + len(values)

    def mean(self, name):
        """The mean, or `None` where nothing was added."""
        return (
            self.sums[name] / self.counts[name] if name in self.sums else None
        )


def _numbered(records, labels):
    for record, label_id in with_label_ids(records, labels):
        yield record[0], label_id, getattr(record, "deciding", None)


def _measure_batch(reader, batch, shares, random, totals):
    texts, gold, deciding = zip(*batch, strict=True)
    gold = np.array(gold)
    features = reader.read(texts)
    outputs, scores, gradients = reader.look(features)
    words, always = [], []
    for side in reader.split(features):
        kept = side["token_ids"] != 0
        null = np.zeros_like(kept)
        null[:, : reader.nulls] = True
        words.append(kept & ~null)
        always.append(null)
    weights = dict(
        zip(
            METHODS,
            (
                [side.sum(axis=1) for side in scores],
                _chance(words, random),
                gradients,
            ),
            strict=True,
        )
    )
    predicted = outputs.argmax(axis=-1)
    rows = np.arange(len(batch))
    confidence = outputs[rows, predicted]
    right = (predicted == gold).astype(float)
    totals.add("accuracy", right)
    for side in scores if reader.has_heads else ():
        totals.add("head_overlap", heads.overlap(side).mean(axis=-1))
        totals.add("effective_heads", heads.effective_number(side))

    for method, share in itertools.product(METHODS, shares):
        chosen = [
            most_important(weight, word, share)
            for weight, word in zip(weights[method], words, strict=True)
        ]
        removed = [w & ~c for w, c in zip(words, chosen, strict=True)]
        for keeps, probability, accuracy in (
            (removed, "comprehensiveness", "accuracy_without"),
            (chosen, "sufficiency", "accuracy_with_only"),
        ):
            left = reader.answer(
                features,
                [k | a for k, a in zip(keeps, always, strict=True)],
            )
            totals.add(
                (method, share, probability),
                confidence - left[rows, predicted],
            )
            totals.add(
                (method, share, accuracy),
                right - (left.argmax(axis=-1) == gold),
            )

    for row, positions in enumerate(deciding):
        if positions is None:
            continue
        for number, of_side in enumerate(
            positions if len(words) > 1 else [positions]
        ):
            decides = np.zeros(words[number].shape[1], bool)
            # Words beyond those that the model reads are not there.
            places = np.array(of_side, int) + reader.nulls
            decides[places[places < len(decides)]] = True
            decides &= words[number][row]
            known = len(set(of_side))
            totals.add("deciding", [known])
            totals.add("deciding_unread", [known - decides.sum()])
            if not decides.any():
                continue
            for method in METHODS:
                precision, mass = agreement(
                    weights[method][number][row], words[number][row], decides
                )
                totals.add((method, "precision"), [precision])
                totals.add((method, "mass"), [mass])


def _chance(words, random):
    """A random weight for each word of each sentence."""
    chance = [np.zeros(side.shape) for side in words]
    # Text by text, so that the size of the batches changes nothing.
    for row in range(len(words[0])):
        for values, side in zip(chance, words, strict=True):
            values[row, side[row]] = random.random(side[row].sum())
    return chance


def most_important(weights, words, share):
    """The most important words of each text; of equals the first.

    Args:
        weights: Array of shape `(B, n)`.
        words: Boolean array of shape `(B, n)`, True at words.
        share: Float, the share of each text's words that is chosen, rounded
            up.

    Returns:
        Boolean array of shape `(B, n)`.

    Example:

    >>> import numpy as np
    >>> weights = np.array([[0.1, 0.5, 0.4, 0.9]])
    >>> most_important(weights, weights < 0.6, share=0.5).tolist()
    [[False, True, True, False]]
    """
    # A product such as 0.07 * 100 is a little more than it should be.
    limits = np.ceil(share * words.sum(axis=1) - 1e-9)
    return words & (_ranks(weights, words) < limits[:, None])


def _ranks(weights, words):
    order = np.argsort(np.where(words, -weights, math.inf), kind="stable")
    return np.argsort(order, axis=-1)


def agreement(weights, words, decides):
    """Precision and mass of one text's weights on its deciding words.

    Args:
        weights: Array of shape `(n,)`.
        words: Boolean array of shape `(n,)`, True at words.
        decides: Boolean array of shape `(n,)`, True at words that decide.

    Returns:
        The two values of `Agreement`. The mass is 0 where no weight is
        positive.

    Raises:
        ValueError: if no word decides, which leaves nothing to find.
    """
    if not np.any(decides):
        raise ValueError(
            "Expected at least one word that decides. Received: none"
        )
    top = _ranks(weights, words) < decides.sum()
    positive = np.maximum(np.where(words, weights, 0.0), 0.0)
    return (
        float(decides[top].mean()),
        float(positive[decides].sum() / (positive.sum() or 1.0)),
    )


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

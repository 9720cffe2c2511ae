"""How far attention tells what a classifier relied on."""

import dataclasses
import itertools
import math

import keras
import numpy as np

from keras_selfattn.evaluation import chunks
from keras_selfattn.models.sentence_classifier import SentenceClassifier

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
        agreement: Dictionary of `Agreement` by method; empty where no text
            has words known to decide.
        num_heads: Integer.
        head_overlap: Float, the mean of `head_overlap`.
        effective_heads: Float, the mean of `effective_heads`.
    """

    texts: int
    accuracy: float
    losses: dict
    agreement: dict
    num_heads: int
    head_overlap: float
    effective_heads: float


def measure(model, records, shares=SHARES, batch_size=64, seed=0):
    """Compare attention with words taken at random and with gradients.

    The `ceil(share * n)` most important of a text's `n` words are removed,
    or only they are kept, and the classifier is asked again. Words are taken
    out, not masked: what is left moves together. A text of which nothing is
    left is read as an empty one.

    Words are ordered by the attention scores summed over the heads, at
    random, and by gradient × input: the gradient of the log-probability of
    the predicted class to the word's vector, times the vector. Its sign
    counts, so words that speak for the predicted class come first.

    Only one batch is held in memory. The random words depend on the seed
    alone, not on the size of the batches.

    Args:
        model: A `SentenceClassifier` with its `preprocessor` and `labels`.
        records: Iterable of `(text, label)`. Where a record has an attribute
            `deciding` too, as `keras_selfattn.data.generated` gives it, the
            positions in it are taken as the words that decide.
        shares: Sequence of floats above 0, at most 1.
        batch_size: Integer.
        seed: Integer, the seed of the random words.

    Returns:
        A `Faithfulness`.

    Raises:
        ValueError: if the model classifies no single sentences or has no
            preprocessor, if a share is out of range, if there are no records,
            or one has a label that the model does not know.

    References:
        - [DeYoung et al., 2020](https://arxiv.org/abs/1911.03429),
            comprehensiveness and sufficiency
        - [Jain and Wallace, 2019](https://arxiv.org/abs/1902.10186),
            attention against gradients
    """
    if not isinstance(model, SentenceClassifier) or model.preprocessor is None:
        raise ValueError(
            "Faithfulness is measured on a `SentenceClassifier` with a "
            f"`preprocessor`. Received: {type(model).__name__}, preprocessor "
            f"{getattr(model, 'preprocessor', None)!r}"
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
        num_heads=reader.num_heads,
        head_overlap=totals.mean("head_overlap"),
        effective_heads=totals.mean("effective_heads"),
    )


def head_overlap(scores):
    """The mean overlap of all pairs of a text's attention heads.

    The overlap of two heads `a` and `b` is the weight they share,
    `Σ_t min(a_t, b_t)`: 1 where they are equal, 0 where they have no word in
    common, however much they spread.

    Args:
        scores: Array of shape `(B, heads, n)`; each row sums to 1.

    Returns:
        Array of shape `(B,)`; zeros for a single head.

    Example:

    >>> import numpy as np
    >>> head_overlap(np.array([[[1.0, 0.0], [0.25, 0.75]]]))
    array([0.25])
    """
    scores = np.asarray(scores, "float64")
    heads = scores.shape[1]
    total = np.zeros(len(scores))
    # Head by head: all pairs at once would be `heads` times as large.
    for first in range(heads - 1):
        shared = np.minimum(scores[:, first, None], scores[:, first + 1 :])
        total += shared.sum(axis=(1, 2))
    return total / max(heads * (heads - 1) / 2, 1)


def effective_heads(scores):
    """How many heads that differ wholly would be as diverse as a text's.

    With `K` the cosines of all pairs of heads and `λ` the eigenvalues of
    `K / heads`, which sum to 1, it is `exp(-Σ λ log λ)`: the number of heads
    where no two share a word, 1 where all are equal.

    Args:
        scores: Array of shape `(B, heads, n)`, not negative.

    Returns:
        Array of shape `(B,)`, from 1 to `min(heads, n)`.

    References:
        - [Friedman and Dieng, 2023](https://arxiv.org/abs/2210.02410), the
            Vendi score, here with the cosine as similarity
        - Roy and Vetterli, 2007, "The effective rank", of the matrix of the
            heads scaled to unit length where the squares of its singular
            values take the place of these values

    Example:

    >>> import numpy as np
    >>> heads = np.array([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> effective_heads(heads).round(6)
    array([1., 2.])
    """
    scores = np.asarray(scores, "float64")
    norms = np.linalg.norm(scores, axis=-1, keepdims=True)
    units = scores / np.where(norms > 0, norms, 1.0)
    cosines = units @ units.transpose(0, 2, 1)
    values = np.linalg.eigvalsh(cosines / scores.shape[1])
    return np.exp(_entropy(np.maximum(values, 0.0)))


def head_entropy(scores):
    """The entropy of each attention head, `-Σ_t a_t log a_t`, in nats.

    It is 0 for a head on a single word, and `log n` for one that is spread
    evenly over `n` words.

    Args:
        scores: Array of shape `(B, heads, n)`; each row sums to 1.

    Returns:
        Array of shape `(B, heads)`.

    Example:

    >>> import numpy as np
    >>> head_entropy(np.array([[[1.0, 0.0], [0.5, 0.5]]])).round(4)
    array([[0.    , 0.6931]])
    """
    return _entropy(np.asarray(scores, "float64"))


def _entropy(shares):
    logs = np.log(np.where(shares > 0, shares, 1.0))
    # The sum of -0.0 would be shown as such.
    return 0.0 - (shares * logs).sum(axis=-1)


class _Reader:
    """A classifier's answers, attention and gradients for features."""

    def __init__(self, model):
        import tensorflow as tf

        self.model = model
        self.nulls = int(model.preprocessor.prepend_null)
        self.empty = {
            name: ids.numpy()[0] for name, ids in model.preprocess([""]).items()
        }
        attention = model.attention_model()
        self.num_heads = attention.output.shape[1]
        embed = model.get_layer("word_vectors")
        # In a list, as names of inner tensors differ from version to version.
        names = list(model.input)
        rest = keras.Model(
            [embed.output, *(model.input[name] for name in names)],
            model.output,
        )
        are_logits = model.get_config()["activation"] is None

        def probabilities(outputs):
            return tf.nn.softmax(outputs) if are_logits else outputs

        # One trace for all lengths, where each removal makes new ones.
        signature = {
            name: tf.TensorSpec([None] * len(ids.shape), ids.dtype)
            for name, ids in model.input.items()
        }

        @tf.function(input_signature=[signature])
        def answer(features):
            return probabilities(model(features, training=False))

        @tf.function(input_signature=[signature])
        def look(features):
            # The copy is without the mask, which comes from the ids.
            vectors = tf.identity(embed(features["token_ids"]))
            with tf.GradientTape() as tape:
                tape.watch(vectors)
                inputs = [vectors, *(features[name] for name in names)]
                outputs = probabilities(rest(inputs, training=False))
                predicted = tf.math.log(tf.reduce_max(outputs, axis=-1))
            products = tape.gradient(predicted, vectors) * vectors
            return (
                outputs,
                attention(features, training=False),
                tf.reduce_sum(tf.cast(products, "float32"), axis=-1),
            )

        self._answer = answer
        self._look = look

    def read(self, texts):
        """The arrays of the features of texts."""
        features = self.model.preprocess(texts)
        return {name: ids.numpy() for name, ids in features.items()}

    def look(self, features):
        """Probabilities, scores `(B, heads, n)` and gradients × input."""
        outputs, scores, gradients = self._look(features)
        scores = np.asarray(scores, "float64")
        if scores.ndim == 4:
            # Generalized pooling weighs each feature by itself.
            scores = scores.mean(axis=-1)
        return np.asarray(outputs), scores, np.asarray(gradients)

    def answer(self, features, keep):
        """Probabilities for the kept words, `keep` being `(B, n)`."""
        return np.asarray(self._answer(take(features, keep, self.empty)))


class _Totals:
    """Sums and counts by name, for means over a stream."""

    def __init__(self):
        self.sums = {}
        self.counts = {}

    def add(self, name, values):
        self.sums[name] = self.sums.get(name, 0.0) + float(np.sum(values))
        self.counts[name] = self.counts.get(name, 0) + len(values)

    def mean(self, name):
        return self.sums[name] / self.counts[name]


def _numbered(records, labels):
    ids = {label: i for i, label in enumerate(labels)}
    for row, record in enumerate(records, start=1):
        text, label = record[:2]
        if label not in ids:
            raise ValueError(
                f"Unknown label of text {row}: the model knows "
                f"{', '.join(labels)}. Received: {label!r}"
            )
        yield text, ids[label], getattr(record, "deciding", None)


def _measure_batch(reader, batch, shares, random, totals):
    texts, gold, deciding = zip(*batch, strict=True)
    gold = np.array(gold)
    features = reader.read(texts)
    outputs, scores, gradients = reader.look(features)
    words = features["token_ids"] != 0
    always = np.zeros_like(words)
    always[:, : reader.nulls] = True
    words = words & ~always
    counts = words.sum(axis=1)
    chance = np.zeros(words.shape)
    # Text by text, so that the size of the batches changes nothing.
    chance[words] = np.concatenate([random.random(n) for n in counts])
    weights = dict(
        zip(METHODS, (scores.sum(axis=1), chance, gradients), strict=True)
    )
    predicted = outputs.argmax(axis=-1)
    rows = np.arange(len(batch))
    confidence = outputs[rows, predicted]
    right = (predicted == gold).astype(float)
    totals.add("accuracy", right)
    totals.add("head_overlap", head_overlap(scores))
    totals.add("effective_heads", effective_heads(scores))

    for method, share in itertools.product(METHODS, shares):
        chosen = most_important(weights[method], words, share)
        for keep, probability, accuracy in (
            (words & ~chosen, "comprehensiveness", "accuracy_without"),
            (chosen, "sufficiency", "accuracy_with_only"),
        ):
            left = reader.answer(features, keep | always)
            totals.add(
                (method, share, probability),
                confidence - left[rows, predicted],
            )
            totals.add(
                (method, share, accuracy),
                right - (left.argmax(axis=-1) == gold),
            )

    for row, positions in enumerate(deciding):
        decides = np.zeros(words.shape[1], bool)
        # Words beyond the longest row that the model reads are not there.
        positions = np.array(positions or (), int) + reader.nulls
        decides[positions[positions < len(decides)]] = True
        if not decides.any():
            continue
        for method in METHODS:
            precision, mass = agreement(
                weights[method][row], words[row], decides
            )
            totals.add((method, "precision"), [precision])
            totals.add((method, "mass"), [mass])


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
    """
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

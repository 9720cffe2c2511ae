"""What each n-gram of a text added to the logits."""

import dataclasses
import unicodedata

import numpy as np

from keras_selfattn.backends import compiled
from keras_selfattn.models.ngrams import find_ngrams
from keras_selfattn.models.ngrams import names_of_grams

# How many of them pictures show.
MOST = 12
_SIGNS = "= is a word that the premise has too, + one that it has not"


@dataclasses.dataclass(frozen=True, eq=False)
class NGram:
    """An n-gram of a text, and its share of each logit.

    Args:
        text: The words, or the characters of a word, with `_` for its ends.
            Of a pair, the words of the hypothesis, each after `=` where the
            premise has it too, else after `+`; or these signs alone.
        of_words: Whether it is one of words.
        shares: Array of shape `(classes,)`: what all its places in the text
            add to each logit.
    """

    text: str
    of_words: bool
    shares: np.ndarray

    @property
    def spread(self) -> float:
        """How far it moves the classes apart."""
        return float(np.ptp(self.shares))


def ngrams_of(model, features, tokens):
    """The n-grams of some texts, with their shares of the logits.

    Args:
        model: A classifier.
        features: Dictionary of the model's inputs for the texts.
        tokens: List of the lists of their words; of the hypotheses', for
            pairs.

    Returns:
        By text, a list of `NGram`, those first that move the classes most
        apart; empty for a model without n-grams.
    """
    layer = find_ngrams(model)
    if layer is None:
        return [[] for _ in tokens]
    shares = compiled.ngram_shares(model)(features)
    return [
        _summed(layer, *named)
        for named in zip(
            names_of_grams(model, features, tokens), shares, strict=True
        )
    ]


def kinds(prediction):
    """What a model has n-grams of, in words."""
    if isinstance(prediction.text, str):
        return (
            "n-grams of words, and of characters with _ at the ends of a word"
        )
    return f"n-grams of the hypothesis ({_SIGNS})"


def told(prediction):
    """What n-grams added to the logit of the answer, or `""` without any."""
    found = prediction.ngrams
    if not found:
        return ""
    answer = list(prediction.labels).index(prediction.predicted)
    shares = [
        f"“{_isolated(each.text)}” {each.shares[answer]:+.2f}"
        for each in found[:MOST]
    ]
    total = sum(each.shares[answer] for each in found)
    return (
        f"What {kinds(prediction)} added to the logit of "
        f"{prediction.predicted}: "
        f"{', '.join(shares)}; all {len(found)} together {total:+.2f}"
    )


def _isolated(text):
    # A script that runs to the left would reorder the numbers after it.
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in text):
        return f"\u2068{text}\u2069"
    return text


def _summed(layer, names, shares):
    sums = {}
    # Beyond the words is padding.
    for of_word, row in zip(names, shares, strict=False):
        for place, (name, share) in enumerate(zip(of_word, row, strict=True)):
            if name:
                key = name, place < len(layer.word_ngrams)
                sums[key] = sums.get(key, 0) + share
    found = [NGram(*key, share) for key, share in sums.items()]
    return sorted(found, key=lambda each: -each.spread)

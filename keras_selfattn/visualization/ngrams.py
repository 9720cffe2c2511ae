"""What each n-gram of a text added to the logits."""

import dataclasses

import numpy as np

from keras_selfattn.backends import compiled
from keras_selfattn.models.ngrams import find_ngrams

# How many of them pictures show.
MOST = 12


@dataclasses.dataclass(frozen=True, eq=False)
class NGram:
    """An n-gram of a text, and its share of each logit.

    Args:
        text: The words, or the characters of a word, with `_` for its ends.
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
        tokens: List of the lists of their words.

    Returns:
        By text, a list of `NGram`, those first that move the classes most
        apart; empty for a model without n-grams.
    """
    layer = find_ngrams(model)
    if layer is None:
        return [[] for _ in tokens]
    shares = compiled.ngram_shares(model)(features)
    characters = 0
    if "char_ids" in model.input:
        characters = model.preprocessor.max_characters
    return [
        _named(layer, words, characters, row)
        for words, row in zip(tokens, shares, strict=True)
    ]


def told(prediction):
    """What n-grams added to the logit of the answer, or `""` without any."""
    found = getattr(prediction, "ngrams", [])
    if not found:
        return ""
    answer = list(prediction.labels).index(prediction.predicted)
    shares = [
        f"“{each.text}” {each.shares[answer]:+.2f}" for each in found[:MOST]
    ]
    total = sum(each.shares[answer] for each in found)
    return (
        f"N-grams added to the logit of {prediction.predicted}: "
        f"{', '.join(shares)}; all {len(found)} together {total:+.2f}"
    )


def _named(layer, words, characters, shares):
    names = layer.names_of_grams(words, characters)
    sums = {}
    # Beyond the words is padding.
    for of_word, row in zip(names, shares, strict=False):
        for place, (name, share) in enumerate(zip(of_word, row, strict=True)):
            if name:
                key = name, place < len(layer.word_ngrams)
                sums[key] = sums.get(key, 0) + share
    found = [NGram(*key, share) for key, share in sums.items()]
    return sorted(found, key=lambda each: -each.spread)

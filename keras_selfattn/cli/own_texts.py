"""The recipe for one's own texts, where neither it nor a preset is named."""

import dataclasses
import itertools
import re

from keras_selfattn import sides
from keras_selfattn import zoo
from keras_selfattn.cli.notes import note
from keras_selfattn.training.settings import read_manifest
from keras_selfattn.zoo.shipped import shipped_words

# The installed model whose word vectors anyone may pass on.
INSTALLED_VECTORS = "reviews_structured"
# How many texts tell how many words have one, and the share that is enough: of
# German, Spanish, French, Italian or Dutch words a third to two fifths have one
# by chance, of English words in nine corpora five sixths to nine tenths.
_TEXTS = 1000
_LEAST_SHARE = 0.6
_WIDTH = "embedding_dim"
_WORD = re.compile(r"[^\W\d_]+")


def own_recipe(corpus, vectors, model_overrides, tells=True):
    """The recipe for labeled texts, or pairs of them.

    Those whose words are known to the installed vectors take these, where no
    others are given, and no width of their own is asked for.

    Args:
        corpus: Re-iterable of `(text, label)`.
        vectors: The word vectors that are given, or `None`.
        model_overrides: Dictionary of the model's arguments that are given,
            or to be searched.
        tells: Boolean, whether to say which word vectors are taken, and why.

    Returns:
        A pair of the `Recipe` and of what `vectors` of
        `keras_selfattn.training.train` is to be.
    """
    text, _ = next(iter(corpus), ("", None))
    is_pair = len(sides.sentences(text)) == 2
    if vectors is None and _WIDTH not in model_overrides:
        vectors = _installed(corpus, is_pair, note if tells else str)
    return recipe_for(is_pair, vectors, model_overrides), vectors


def recipe_of_prepared(folder, vectors, model_overrides):
    """As `own_recipe`, for the texts that `prepare` has made into ids.

    Args:
        folder: `pathlib.Path` of what it has made.
        vectors: The word vectors that are given, or `None`.
        model_overrides: As in `own_recipe`.
    """
    manifest = read_manifest(folder)
    made = manifest["settings"]["texts"].get("vectors")
    if vectors is None and made == INSTALLED_VECTORS:
        vectors = made
    return recipe_for(manifest.get("pairs"), vectors, model_overrides), vectors


def known_share(corpus, words):
    """The share of the words in the first texts that are known.

    Args:
        corpus: Iterable of `(text, label)`, or of pairs of texts and a label.
        words: Set of strings in lower case.
    """
    known = total = 0
    for text, _ in itertools.islice(corpus, _TEXTS):
        for sentence in sides.sentences(text):
            found = _WORD.findall(sentence.lower())
            known += sum(word in words for word in found)
            total += len(found)
    return known / total if total else 0.0


def recipe_for(is_pair, vectors, model_overrides=()):
    """The recipe for pairs, or for single texts.

    Args:
        is_pair: Boolean, whether they are pairs.
        vectors: The word vectors that it takes, or `None`.
        model_overrides: As in `own_recipe`.
    """
    without = _without_vectors(is_pair)
    if not vectors:
        return zoo.get_recipe(without)
    recipe = zoo.get_recipe(f"{without}_vectors")
    if is_pair or _WIDTH not in model_overrides:
        return recipe
    # Those that are learned would come on top of it.
    values = {**recipe.training, "learn_vectors": 0}
    return dataclasses.replace(recipe, training=values)


def _without_vectors(is_pair):
    return "own_pairs" if is_pair else "own_texts"


def _installed(corpus, is_pair, tell):
    """The installed vectors, or `None` where they are not for these texts."""
    share = known_share(corpus, shipped_words(INSTALLED_VECTORS))
    if share < _LEAST_SHARE:
        tell(
            f"word vectors: learned from the texts alone, as {share:.0%} of "
            "their words have installed ones"
        )
        return None
    learned = "" if is_pair else ", and others are learned from the texts"
    tell(
        f"word vectors: those of {INSTALLED_VECTORS}, which came with the "
        f"package; {share:.0%} of the words have one{learned} (--recipe "
        f"{_without_vectors(is_pair)} takes none)"
    )
    return INSTALLED_VECTORS

"""Explanations from what the signatures of a served model answer."""

from keras_selfattn import sides
from keras_selfattn.text import NULL
from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.visualization.explanation import AlignmentExplanation
from keras_selfattn.visualization.explanation import Explanation
from keras_selfattn.visualization.explanation import PairExplanation
from keras_selfattn.visualization.sentence import Sentence

_TOKENIZER = PennTreebankTokenizer(implementation="tensorflow")


def scores_signature(servable):
    """The signature that tells which words a model looked at."""
    return "align" if servable.is_pair else "attend"


def explanation(servable, texts, answer, scores):
    """The explanation of one text or pair.

    Args:
        servable: A `Servable`.
        texts: List of the text, or of the two of a pair.
        answer: Outputs of `serving_default` for this row alone.
        scores: Outputs of `scores_signature` for this row alone.

    Returns:
        An `Explanation`, a `PairExplanation` or an `AlignmentExplanation`.
    """
    prediction = {
        "probabilities": answer["probabilities"][0],
        "labels": servable.labels,
    }
    if not servable.is_pair:
        words = _words(scores["tokens"])
        return Explanation(
            texts[0],
            words,
            scores["scores"][0],
            unread_words=_count_unread(texts[0], words),
            **prediction,
        )
    names = sides.NAMES
    # What a word of one side looks at weighs the words of the other.
    givers = names[::-1] if servable.is_aligned else names
    found = []
    for name, giver, text in zip(names, givers, texts, strict=True):
        words = _words(scores[f"{name}_tokens"])
        intra = scores.get(f"{name}_intra_scores")
        found.append(
            Sentence(
                text,
                words,
                scores[f"{giver}_scores"][0],
                intra_scores=None if intra is None else intra[0],
                unread_words=_count_unread(text, words),
            )
        )
    kind = AlignmentExplanation if servable.is_aligned else PairExplanation
    return kind(*found, **prediction)


def tokens_of(texts):
    """The tokens of each text, all of them and in the text's own case."""
    return [[*map(decoded, tokens)] for tokens in _TOKENIZER(texts).to_list()]


def _words(tokens):
    return [*map(decoded, tokens[0])]


def _count_unread(text, words):
    """How many words of a text lie behind those that the model has read."""
    found = len(tokens_of([text])[0])
    # No word of a text is NULL, as brackets stand apart.
    read = len(words) - (words[:1] == [NULL])
    return max(found - read, 0)

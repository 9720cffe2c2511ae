"""A classifier's explanations for a stream of texts."""

import itertools
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

import keras

from keras_selfattn import heads
from keras_selfattn import validation
from keras_selfattn.backends import compiled
from keras_selfattn.effects import measuring
from keras_selfattn.effects.reader import Reader
from keras_selfattn.streams import chunks
from keras_selfattn.text.columns import rows_of
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.visualization.explanation import AlignmentExplanation
from keras_selfattn.visualization.explanation import Explanation
from keras_selfattn.visualization.explanation import PairExplanation
from keras_selfattn.visualization.ngrams import ngrams_of
from keras_selfattn.visualization.prediction import accepts_gold
from keras_selfattn.visualization.sentence import Sentence


@accepts_gold("labels")
def explain(
    model: keras.Model,
    texts: Any,
    labels: Iterable | None = None,
    batch_size: int = 32,
    effects: str | Sequence[str] | None = None,
) -> Iterator[Explanation | PairExplanation]:
    """Explain a classifier's answers to texts, a batch at a time.

    Attention says where a model looked. What decided is another question,
    and `effects` asks it of the model:

    - `"leave_one_out"`: the probability of the predicted label that is lost
      without the word, below 0 where the label is more probable without it.
      It asks the model once more for each word, a batch a text.
    - `"gradient_x_input"`: the gradient of the log-probability of the
      predicted label to the word's vector, times the vector: what a small
      change of the word would change. It costs about as much as an answer.

    Args:
        model: A classifier with its `preprocessor`.
        texts: Texts as `Classifier.fit` takes them, but for datasets; or
            any iterable of strings, or of pairs of strings.
        labels: Iterable of as many true labels, or `None`. They are compared
            with `model.labels` by value or as text. The older name `gold` is
            accepted too.
        batch_size: Integer.
        effects: A method, or a sequence of several, that gives the
            sentences' `effects`. Defaults to `None`.

    Returns:
        An iterator of `Explanation` for single texts, of `PairExplanation`
        for a model that reads both sentences with heads, and of
        `AlignmentExplanation` for one whose words look at each other.

    Raises:
        ValueError: if `texts` is one string, or holds anything but texts as
            the model takes them; if there are more or fewer labels than
            texts; if `batch_size` is not positive; if a method of `effects`
            is not known; or if the model has no preprocessor.

    References:
        - [Li et al., 2016](https://arxiv.org/abs/1612.08220), what is lost
            without a word
        - [Shrikumar et al., 2016](https://arxiv.org/abs/1605.01713),
            gradient × input
    """
    texts = rows_of(texts, model.sides)
    validation.integer(batch_size, "batch_size")
    methods = measuring.check(effects)
    if model.preprocessor is None:
        raise ValueError(
            "Explanations of texts need a model with a `preprocessor`. "
            "Received one without"
        )
    return _explain(model, texts, labels, batch_size, methods)


def _explain(model, texts, labels, batch_size, methods):
    look = compiled.explanations(model)
    reader = Reader(model) if methods else None
    for batch in chunks(_rows(texts, labels), batch_size):
        texts = [text for text, _ in batch]
        features = model.preprocess(texts)
        views = look(features)
        outputs = views.pop("outputs")
        effects = {}
        if methods:
            effects = measuring.measure(reader, reader.read(texts), methods)
        names = model.labels or [str(i) for i in range(outputs.shape[-1])]
        is_pair = len(model.sides) > 1
        make = _pair if is_pair else _single
        columns = zip(*texts, strict=True) if is_pair else [texts]
        tokens, unread = zip(
            *(_tokens(model.preprocessor, column) for column in columns),
            strict=True,
        )
        ngrams = ngrams_of(model, features, tokens[-1])
        for row, (_, label) in enumerate(batch):
            more = {"ngrams": ngrams[row]} if ngrams[row] else {}
            yield make(
                texts[row],
                [side[row] for side in tokens],
                [int(side[row]) for side in unread],
                {name: _row(scores, row) for name, scores in views.items()},
                {name: _row(found, row) for name, found in effects.items()},
                probabilities=outputs[row],
                labels=list(names),
                label=label,
                **more,
            )


def _tokens(preprocessor, texts):
    texts = list(texts)
    tokens = [
        [*map(decoded, row)] for row in preprocessor.tokenize(texts).to_list()
    ]
    return tokens, preprocessor.count_unread(texts)


def _row(scores, row):
    if isinstance(scores, (list, tuple)):
        return [part[row] for part in scores]
    return scores[row]


def _single(text, tokens, unread, views, effects, **prediction):
    return Explanation(
        text,
        tokens[0],
        unread_words=unread[0],
        effects=_of_side(effects, 0, len(tokens[0])),
        **_of_heads(views["attention_scores"], len(tokens[0])),
        **prediction,
    )


def _pair(texts, tokens, unread, views, effects, **prediction):
    sizes = [len(side) for side in tokens]
    if "alignment_scores" in views:
        kind = AlignmentExplanation
        # How the premise looks at the hypothesis comes first, and weighs the
        # words of the hypothesis.
        arguments = [
            {"scores": scores[:other, :size]}
            for scores, other, size in zip(
                views["alignment_scores"][::-1], sizes[::-1], sizes, strict=True
            )
        ]
    else:
        kind = PairExplanation
        arguments = [
            _of_heads(scores, size)
            for scores, size in zip(
                views["attention_scores"], sizes, strict=True
            )
        ]
    for side, scores in enumerate(views.get("intra_sentence_scores", ())):
        size = sizes[side]
        arguments[side]["intra_scores"] = scores[:size, :size]
    for side, size in enumerate(sizes):
        arguments[side]["effects"] = _of_side(effects, side, size)
    sentences = [
        Sentence(text, words, unread_words=count, **more)
        for text, words, count, more in zip(
            texts, tokens, unread, arguments, strict=True
        )
    ]
    return kind(*sentences, **prediction)


def _of_side(effects, side, size):
    return {method: found[side][:size] for method, found in effects.items()}


def _of_heads(scores, size):
    scores = scores[:, :size]
    if scores.ndim == 2:
        return {"scores": scores}
    # Generalized pooling weighs each feature by itself.
    return {"scores": heads.of_words(scores[None])[0], "features": scores}


def _rows(texts, labels):
    if labels is None:
        yield from ((text, None) for text in texts)
        return
    missing = object()
    for text, label in itertools.zip_longest(texts, labels, fillvalue=missing):
        if text is missing or label is missing:
            fewer = "texts" if text is missing else "labels"
            raise ValueError(
                f"Expected as many labels as texts. Received: fewer {fewer}"
            )
        yield text, label

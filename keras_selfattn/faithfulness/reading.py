"""A classifier taken apart: what it answers from word vectors, and why."""

import keras
import numpy as np
from keras import ops

from keras_selfattn import heads
from keras_selfattn.backends import compiled
from keras_selfattn.backends import word_gradients


class Reader:
    """A classifier's answers, attention and gradients for features.

    Values of each sentence come as a list: of one for a single text, of two
    for a pair.
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
        self.has_heads = model.has_heads
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
        # On JAX the outputs are padded, and must be as long as the inputs.
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

    # A layer that both sentences share is called twice: only the name of the
    # input tells which output is whose.
    again = keras.models.clone_model(
        model, clone_function=lambda each: each, call_function=call
    )
    inputs = [again.input[name] for name in model.input]
    return keras.Model([*(made[n] for n in names), *inputs], again.output)


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

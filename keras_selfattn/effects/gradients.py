"""Gradient × input, compiled as suits each backend."""

import keras
from keras import ops

from keras_selfattn.backends import compiled
from keras_selfattn.backends import word_gradients


def gradient_times_input(model):
    """A function that gives class probabilities and gradients × input.

    It is kept with the model for later calls.

    Returns:
        A function of a dictionary of the model's inputs, which returns the
        probabilities `(B, classes)` and, of each sentence, `(B, n)`: the
        gradient of the log of the largest probability to the word's vector,
        times the vector. On JAX `n` may be larger than in the inputs.
    """

    def make():
        embed = model.get_layer("word_vectors")
        rest = _behind(model, embed, [f"{s}token_ids" for s in model.sides])

        def answer_from(vectors, features):
            return compiled.as_probabilities(
                model,
                rest(
                    [*vectors, *(features[name] for name in model.input)],
                    training=False,
                ),
            )

        def multiply(features):
            vectors = [embed(features[f"{s}token_ids"]) for s in model.sides]
            outputs, gradients = word_gradients.of_largest_probability(
                lambda vectors: answer_from(vectors, features), vectors
            )
            products = [
                ops.sum(ops.cast(gradient * each, "float32"), axis=-1)
                for gradient, each in zip(gradients, vectors, strict=True)
            ]
            return outputs, products

        return multiply

    return compiled.kept(model, "gradient_times_input", make)


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

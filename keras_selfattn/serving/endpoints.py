"""What a served model answers: from texts to named outputs."""

import contextlib

import keras
import tensorflow as tf

from keras_selfattn import heads
from keras_selfattn import sides
from keras_selfattn.backends.compiled import as_probabilities


def input_names(model):
    """The names of the texts in each row of a request."""
    return sides.NAMES if len(model.sides) > 1 else ("text",)


def endpoints(model, read=contextlib.nullcontext):
    """The signatures of a model, as TensorFlow functions of one trace.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        read: Function that gives a context to call the model's layers in.

    Returns:
        Tuple of a dictionary by signature of functions from one string tensor
        `(B,)` for each of `input_names(model)` to a dictionary of outputs,
        and of a function to those of all signatures, from one pass through
        the encoder.
    """

    signature = [
        tf.TensorSpec((None,), tf.string, name=name)
        for name in input_names(model)
    ]

    def graph(function):
        return tf.function(function, input_signature=signature, autograph=False)

    # While a SavedModel is written, TensorFlow would trace a function anew.
    answer = graph(answers(model, read)).get_concrete_function()

    def endpoint(name):
        # What another signature answers is no part of the graph that runs.
        return graph(lambda *texts: answer(*texts)[name])

    def together(*texts):
        outputs = {}
        for part in answer(*texts).values():
            outputs |= part
        return outputs

    names = answer.structured_outputs
    return {name: endpoint(name) for name in names}, graph(together)


def answers(model, read=contextlib.nullcontext):
    """What a model answers to texts, from one pass through the encoder.

    Args:
        model: As in `endpoints`.
        read: The same.

    Returns:
        A function from one string tensor `(B,)` for each of
        `input_names(model)` to a dictionary by signature of dictionaries of
        outputs. Floats are float32.
    """
    views, responses = {}, {}
    for name, (wanted, response) in _parts(model).items():
        views |= wanted
        responses[name] = response
    view = keras.Model(model.input, views, name="served")

    def answer(*texts):
        tokens = [*map(model.preprocessor.tokenize, texts)]
        features = {
            side + name: ids
            for side, words in zip(model.sides, tokens, strict=True)
            for name, ids in model.preprocessor.ids_of_tokens(words).items()
        }
        with read():
            found = view(features, training=False)
        found = tf.nest.map_structure(lambda x: tf.cast(x, tf.float32), found)
        words = [side.to_tensor(default_value="") for side in tokens]
        return {
            name: response(found, words) for name, response in responses.items()
        }

    return _checking_rows(answer, input_names(model))


def _parts(model):
    """By signature the views of the model that it needs, and its outputs.

    Each is a pair of a dictionary of symbolic tensors, and a function of what
    they are for some texts, and of the padded tokens of each side.
    """
    names = input_names(model)
    is_pair = len(names) > 1
    labels = tf.constant([str(label) for label in model.labels])

    def classify(views, tokens):
        probabilities = as_probabilities(model, views["outputs"])
        return {
            "label": tf.gather(labels, tf.argmax(probabilities, axis=-1)),
            "probabilities": probabilities,
        }

    def attend(views, tokens):
        scores = heads.of_words(views["attention_scores"])
        return {"tokens": tokens[0], "scores": scores}

    def align(views, tokens):
        outputs = {}
        for side, name in enumerate(names):
            outputs[f"{name}_tokens"] = tokens[side]
            if "alignment_scores" in views:
                scores = views["alignment_scores"][side]
            else:
                scores = heads.of_words(views["attention_scores"][side])
            outputs[f"{name}_scores"] = scores
            if "intra_sentence_scores" in views:
                scores = views["intra_sentence_scores"][side]
                outputs[f"{name}_intra_scores"] = scores
        return outputs

    def embed(views, tokens):
        embeddings = views["sentence_embedding"]
        if not is_pair:
            return {"embedding": embeddings}
        return {
            f"{name}_embedding": embedding
            for name, embedding in zip(names, embeddings, strict=True)
        }

    parts = {"serving_default": ({"outputs": model.output}, classify)}
    if is_pair:
        scores = dict(model.explanation_model().output)
        del scores["outputs"]
        parts["align"] = scores, align
    else:
        scores = model.attention_model().output
        parts["attend"] = {"attention_scores": scores}, attend
    embedding = model.embedding_model().output
    # Decomposable attention has an embedding of the pair, none of a sentence.
    if not is_pair or isinstance(embedding, (list, tuple)):
        parts["embed"] = {"sentence_embedding": embedding}, embed
    return parts


def _checking_rows(function, names):
    """A function with clear errors for no rows and for unequal columns."""

    inputs = " and ".join(names)

    def checked(*texts):
        rows = [tf.size(text) for text in texts]
        checks = [
            tf.debugging.Assert(
                rows[0] > 0,
                [f"{inputs} must have at least one row"],
            )
        ]
        if len(rows) == 2:
            checks.append(
                tf.debugging.Assert(
                    tf.equal(*rows),
                    [f"{inputs} must have as many rows", *rows],
                )
            )
        with tf.control_dependencies(checks):
            texts = [tf.identity(text) for text in texts]
        return function(*texts)

    return checked

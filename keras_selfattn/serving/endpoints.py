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
    """The signatures of a model.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        read: Function that gives a context to call the model's layers in.

    Returns:
        A dictionary by signature of functions from one string tensor `(B,)`
        for each of `input_names(model)` to a dictionary of outputs. Floats
        are float32.
    """
    return {
        name: _endpoint(model, [part], read)
        for name, part in _parts(model).items()
    }


def together(model, read=contextlib.nullcontext):
    """The outputs of all signatures, from one pass through the encoder.

    Args:
        model: As in `endpoints`.
        read: The same.

    Returns:
        A function as those of `endpoints`.
    """
    return _endpoint(model, _parts(model).values(), read)


def _endpoint(model, parts, read):
    names = input_names(model)
    views = {}
    for wanted, _ in parts:
        views |= wanted
    view = keras.Model(model.input, views, name="served")

    def endpoint(*texts):
        features = {
            side + name: ids
            for side, text in zip(model.sides, texts, strict=True)
            for name, ids in model.preprocessor(text).items()
        }
        with read():
            found = view(features, training=False)
        found = tf.nest.map_structure(lambda x: tf.cast(x, tf.float32), found)
        outputs = {}
        for _, answer in parts:
            outputs |= answer(found, texts)
        return outputs

    return _checking_rows(endpoint, names)


def _parts(model):
    """By signature the views of the model that it needs, and its outputs.

    Each is a pair of a dictionary of symbolic tensors, and a function of what
    they are for some texts, and of the texts.
    """
    names = input_names(model)
    is_pair = len(names) > 1
    preprocessor = model.preprocessor
    labels = tf.constant([str(label) for label in model.labels])

    # It tokenizes the text a second time, yet only in the graph's definition:
    # TensorFlow merges equal ops.
    def tokens(text):
        return preprocessor.tokenize(text).to_tensor(default_value="")

    def classify(views, texts):
        probabilities = as_probabilities(model, views["outputs"])
        return {
            "label": tf.gather(labels, tf.argmax(probabilities, axis=-1)),
            "probabilities": probabilities,
        }

    def attend(views, texts):
        scores = heads.of_words(views["attention_scores"])
        return {"tokens": tokens(texts[0]), "scores": scores}

    def align(views, texts):
        outputs = {}
        for side, name in enumerate(names):
            outputs[f"{name}_tokens"] = tokens(texts[side])
            if "alignment_scores" in views:
                scores = views["alignment_scores"][side]
            else:
                scores = heads.of_words(views["attention_scores"][side])
            outputs[f"{name}_scores"] = scores
            if "intra_sentence_scores" in views:
                scores = views["intra_sentence_scores"][side]
                outputs[f"{name}_intra_scores"] = scores
        return outputs

    def embed(views, texts):
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
    """An endpoint with clear errors for no rows and for unequal columns."""

    inputs = " and ".join(names)

    def endpoint(*texts):
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

    return endpoint

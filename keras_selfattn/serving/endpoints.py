"""What a served model answers: from texts to named outputs."""

import contextlib

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
    names = input_names(model)
    is_pair = len(names) > 1
    preprocessor = model.preprocessor
    labels = tf.constant([str(label) for label in model.labels])

    def tokens(text):
        return preprocessor.tokenize(text).to_tensor(default_value="")

    def run(view, texts):
        features = {
            side + name: ids
            for side, text in zip(model.sides, texts, strict=True)
            for name, ids in preprocessor(text).items()
        }
        with read():
            outputs = view(features, training=False)
        return tf.nest.map_structure(lambda x: tf.cast(x, tf.float32), outputs)

    def classify(*texts):
        probabilities = as_probabilities(model, run(model, texts))
        return {
            "label": tf.gather(labels, tf.argmax(probabilities, axis=-1)),
            "probabilities": probabilities,
        }

    # It tokenizes the text a second time, yet only in the graph's definition:
    # TensorFlow merges equal ops.
    def attend(text):
        scores = heads.of_words(run(attention_model, [text]))
        return {"tokens": tokens(text), "scores": scores}

    def align(*texts):
        views = run(explanation_model, texts)
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

    def embed(*texts):
        embeddings = run(embedding_model, texts)
        if not is_pair:
            return {"embedding": embeddings}
        return {
            f"{name}_embedding": embedding
            for name, embedding in zip(names, embeddings, strict=True)
        }

    functions = {"serving_default": classify}
    if not is_pair:
        attention_model = model.attention_model()
        functions["attend"] = attend
    else:
        explanation_model = model.explanation_model()
        functions["align"] = align
    embedding_model = model.embedding_model()
    # Decomposable attention has an embedding of the pair, none of a sentence.
    if not is_pair or isinstance(embedding_model.output, (list, tuple)):
        functions["embed"] = embed
    return {
        name: _checking_rows(function, names)
        for name, function in functions.items()
    }


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

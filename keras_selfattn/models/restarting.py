"""A trained classifier as the start of another one."""

import numpy as np
from keras import ops

from keras_selfattn.labels import Finder
from keras_selfattn.labels import plain
from keras_selfattn.models.ngrams import NAME

# The names of the last layers: by what it gives, and that of the n-grams.
_LAST = ("probabilities", "logits", NAME)


def restarted(model, labels, preprocessor=None, **overrides):
    """A copy of a classifier that is to learn other classes.

    All weights are the model's but for those of the last layer, which are
    fresh where the labels are others, and of the words that the model does
    not know, whose vectors are drawn as its first ones were. Layers that were
    not trained are, but for fixed word vectors.

    Args:
        model: A classifier with its `preprocessor` and `labels`.
        labels: List of the names of the classes.
        preprocessor: A `keras_selfattn.text.TextPreprocessor` with the
            model's vocabulary and further words behind it. Defaults to the
            model's own.
        **overrides: Arguments of the model's class that take the place of
            the model's. They leave the weights' shapes as they are.

    Returns:
        The new classifier, not compiled.

    Raises:
        ValueError: if an argument can't be, or changes the weights' shapes.
    """
    preprocessor = preprocessor or model.preprocessor
    labels = plain(labels)
    config = model.get_config()
    for name in ("labels", "fixed_layers", "trainable"):
        config.pop(name, None)
    config.update(overrides, num_classes=len(labels))
    if preprocessor is not None:
        config["vocabulary_size"] = preprocessor.vocabulary_size()
    result = type(model).from_config(config)
    result.preprocessor = preprocessor
    result.labels = labels
    known = model.labels or []
    keeps_last = len(labels) == len(known) and (
        list(map(Finder(known), labels)) == list(range(len(known)))
    )
    olds = {layer.name: layer for layer in model.layers}
    for layer in result.layers:
        if layer.name in _LAST and not keeps_last:
            continue
        old = olds.get(layer.name)
        before = [] if old is None else old.get_weights()
        if layer.name == "word_vectors":
            before = [_with_new_rows(before[0], layer.embeddings)]
        if [each.shape for each in before] != [
            tuple(weight.shape) for weight in layer.weights
        ]:
            raise ValueError(
                "A model that starts from another has weights of the same "
                f"shapes. Received other shapes of the layer {layer.name!r}, "
                f"with {', '.join(overrides) or 'no arguments'}"
            )
        layer.set_weights(before)
    return result


def _with_new_rows(table, fresh):
    fresh = ops.convert_to_numpy(fresh)
    return np.concatenate([table, fresh[len(table) :]])

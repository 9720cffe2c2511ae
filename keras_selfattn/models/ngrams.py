"""The wide part of a classifier: the logits of n-grams."""

import numpy as np
from keras import ops

from keras_selfattn import layers
from keras_selfattn.layers.ngram_logits import check_buckets

NAME = "ngram_logits"
# Long texts have thousands of n-grams each.
_BATCH_SIZE = 64


def make_ngrams(arguments):
    """The layer of the n-grams' logits, or `None` without.

    Args:
        arguments: Dictionary of a sentence classifier's arguments.
    """
    if arguments["ngram_buckets"] is None:
        return None
    return layers.NGramLogits(
        arguments["num_classes"],
        check_buckets(arguments["ngram_buckets"], "ngram_buckets"),
        dtype="float32",
        name=NAME,
    )


def ngram_inputs(inputs):
    """What the layer takes of a model's inputs: words, or characters too."""
    taken = [inputs[name] for name in _names(inputs)]
    return taken if len(taken) > 1 else taken[0]


def adapt_ngrams(model, corpus):
    """Fill a fresh table with the log-count ratios of a corpus.

    A model without n-grams, or one that has been trained, stays as it is.

    Args:
        model: A classifier.
        corpus: A `keras_selfattn.data.batches.EncodedDataset`.
    """
    layer = find_ngrams(model)
    if layer is None or ops.convert_to_numpy(layer.table).any():
        return

    def batches():
        for features, labels, *_ in corpus.batches(_BATCH_SIZE):
            arrays = {
                name: np.asarray(features[name]) for name in _names(model.input)
            }
            yield ngram_inputs(arrays), np.asarray(labels)

    layer.adapt(batches())


def find_ngrams(model):
    """The layer of a classifier's n-grams, or `None` without."""
    found = [layer for layer in model.layers if layer.name == NAME]
    return found[0] if found else None


def _names(inputs):
    return [name for name in ("token_ids", "char_ids") if name in inputs]

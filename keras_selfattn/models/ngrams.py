"""The wide part of a classifier: the logits of n-grams."""

import numpy as np
from keras import ops

from keras_selfattn import layers
from keras_selfattn.layers.exact_match import matches
from keras_selfattn.layers.ngram_layer import check_buckets

NAME = "ngram_logits"
# Long texts have thousands of n-grams each.
_BATCH_SIZE = 64
_TAKEN = (
    "token_ids",
    "char_ids",
    "premise_token_ids",
    "hypothesis_token_ids",
)


def make_ngrams(arguments, make_layer=layers.NGramLogits):
    """The layer of the n-grams' logits, or `None` without.

    Args:
        arguments: Dictionary of a classifier's arguments.
        make_layer: The class of the layer.
    """
    if arguments["ngram_buckets"] is None:
        return None
    return make_layer(
        arguments["num_classes"],
        check_buckets(arguments["ngram_buckets"], "ngram_buckets"),
        dtype="float32",
        name=NAME,
    )


def wide_part(layer, inputs):
    """The logits of n-grams in a model, and the view of their shares.

    Args:
        layer: What `make_ngrams` gives.
        inputs: Dictionary of the model's inputs.

    Returns:
        The logits, or `None` without n-grams, and a dictionary of views.
    """
    if layer is None:
        return None, {}
    logits, shares = layer(_ngram_inputs(inputs), return_shares=True)
    return logits, {"ngram_shares": shares}


def adapt_ngrams(model, corpus, verbose=0):
    """Fill a fresh table with a linear model of a corpus.

    A model without n-grams, or one that has been trained, stays as it is, and
    so does one of a single output: there are no classes to tell apart.

    Args:
        model: A classifier.
        corpus: A `keras_selfattn.data.batches.EncodedDataset`.
        verbose: As in `keras.Model.fit`: but for 0, a line says so, as it
            takes long before the first epoch.
    """
    layer = find_ngrams(model)
    if layer is None or layer.num_classes == 1:
        return
    if ops.convert_to_numpy(layer.table).any():
        return
    if verbose:
        kind = "pairs" if corpus.is_pair else "texts"
        print(
            f"The n-grams begin as a linear model of {len(corpus):,} {kind}",
            flush=True,
        )

    def batches():
        for features, labels, *weights in corpus.batches(_BATCH_SIZE):
            # What weighs nothing teaches nothing.
            counts = np.asarray(weights[0]) != 0 if weights else slice(None)
            arrays = {
                name: np.asarray(features[name])[counts]
                for name in _names(model.input)
            }
            yield _ngram_inputs(arrays), np.asarray(labels)[counts]

    layer.adapt(batches())


def find_ngrams(model):
    """The layer of a classifier's n-grams, or `None` without."""
    found = [layer for layer in model.layers if layer.name == NAME]
    return found[0] if found else None


def names_of_grams(model, features, tokens):
    """What stands in the places of the shares of a model's n-grams.

    Args:
        model: A classifier with n-grams and a preprocessor.
        features: Dictionary of the model's inputs for some texts.
        tokens: List of the lists of their words; of the hypotheses', for
            pairs.

    Returns:
        By text, what the layer's `names_of_grams` gives.
    """
    layer = find_ngrams(model)
    if "hypothesis_token_ids" in features:
        _, found = matches(
            features["premise_token_ids"], features["hypothesis_token_ids"]
        )
        return [
            layer.names_of_grams(words, row[: len(words)])
            for words, row in zip(
                tokens, ops.convert_to_numpy(found), strict=True
            )
        ]
    characters = 0
    if "char_ids" in model.input:
        characters = model.preprocessor.max_characters
    return [layer.names_of_grams(words, characters) for words in tokens]


def _ngram_inputs(inputs):
    """What the layer takes of a model's inputs: one of them, or a list."""
    taken = [inputs[name] for name in _names(inputs)]
    return taken if len(taken) > 1 else taken[0]


def _names(inputs):
    return [name for name in _TAKEN if name in inputs]

"""Small models of each kind, and ids with padding wherever it may be."""

import keras
import numpy as np
from keras import ops

from keras_selfattn.backends.compiled import as_probabilities
from tests.models.small import CLASSES
from tests.models.small import inputs_for
from tests.models.small import small_preset

# A preset with changes for each rule there is.
MODELS = {
    "structured": ("lin2017_yelp", {}),
    "pruned": ("lin2017_age_pruned", {}),
    "logits": ("lin2017_bilstm_max_yelp", {"activation": None}),
    "n-grams": ("lin2017_yelp", {"ngram_buckets": 31}),
    "n-grams of characters": (
        "lin2017_cnn_max_age",
        {
            "ngram_buckets": 31,
            "character_vocabulary_size": 7,
            "character_cnn": False,
            "activation": None,
        },
    ),
    "n-grams, characters": (
        "chen2018_yelp",
        {"units": [4, 3], "ngram_buckets": 31},
    ),
    "convolution of 3": ("lin2017_cnn_max_age", {}),
    "convolution of 4": ("lin2017_yelp", {"encoder": "cnn", "kernel_size": 4}),
    "characters, shortcuts": ("chen2018_yelp", {"units": [4, 3]}),
    "gated": ("lin2017_snli", {}),
    "pair of convolutions": ("lin2017_snli", {"encoder": "cnn"}),
    "heuristic": ("chen2018_snli", {"units": [4]}),
    "heuristic, mean": ("chen2018_snli_mean", {"units": [4]}),
    "heuristic, last": ("chen2018_multinli_last", {"units": [4]}),
    "decomposable": ("parikh2016_snli", {}),
    "decomposable, exact match": ("parikh2016_snli", {"exact_match": True}),
    "decomposable, n-grams": (
        "parikh2016_snli",
        {"exact_match": True, "ngram_buckets": 31},
    ),
    "decomposable, characters": (
        "parikh2016_snli",
        {"character_vocabulary_size": 7, "exact_match": True},
    ),
    "intra-sentence": ("parikh2016_snli_intra", {"max_distance": 1}),
}


def small_model(name):
    keras.utils.set_random_seed(0)
    preset, overrides = MODELS[name]
    model = small_preset(preset, **overrides)
    model.labels = [str(number) for number in range(CLASSES)]
    # Biases start at 0.
    model.set_weights(
        [w + 0.3 * np.random.normal(size=w.shape) for w in model.get_weights()]
    )
    return model


def keras_answers(model, ids):
    answer = as_probabilities(model, model(ids, training=False))
    return ops.convert_to_numpy(answer)


def paddings(model):
    """Ids with padding on the right, on the left, between words, and alone."""
    ids = inputs_for(model, batch=5, steps=(7, 6))
    changed = {}
    for name, array in ids.items():
        array = array.copy()
        array[1] = 0
        array[2] = np.roll(array[0], 2, axis=0)
        array[2, :2] = 0
        array[3] = array[0]
        if name.endswith("token_ids"):
            # Of a word that is none the characters may be any.
            array[3, [1, 4]] = 0
        changed[name] = array
        if name.startswith("hypothesis"):
            array[4] = 0
    return [ids, changed]

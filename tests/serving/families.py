"""A small export of each family of models, made once for all tests."""

import functools
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn.serving.endpoints import answers
from keras_selfattn.text import TextPreprocessor
from tests.models.small import CHARACTERS
from tests.models.small import VOCABULARY
from tests.models.small import small_preset

# A preset for each, with changes that make it cheap; the first has characters.
FAMILIES = {
    "single": ("chen2018_yelp", {}),
    "pair": ("lin2017_snli", {"encoder": "cnn"}),
    "decomposable": (
        "parikh2016_snli_intra",
        {"exact_match": True, "ngram_buckets": 31},
    ),
}
LABELS = ["no", "maybe", "gütig"]
WORDS = ["the", "food", "good", "bad", "n't", "view", ".", "was", "great"]

TEXTS = [
    b"The food wasn't good, but the view was great!",
    b"",
    b" \n\t ",
    "great \U0001f600\U0001f44d\U0001f3fd 食物".encode(),
    b"good \xff\xfe\xc3( food",
    b"good\x00food",
    b"the bad view was great . " * 3,
]
PAIRS = list(zip(TEXTS, TEXTS[::-1], strict=True))


def small_classifier(name, implementation="auto", **overrides):
    """A small model of a preset, with a vocabulary, trained for a step."""
    keras.utils.set_random_seed(1)
    if len(np.atleast_1d(models.get_preset(name).model.get("units", 0))) > 2:
        # A third recurrent layer adds seconds, and nothing of its own.
        overrides = {"units": [4, 3], **overrides}
    model = small_preset(name, **overrides)
    training = models.get_preset(name).training
    prepend_null = training.get("prepend_null", False)
    characters = any("char_ids" in tensor.name for tensor in model.inputs)
    num_oov_indices = min(2, training.get("num_oov_indices", 1))
    words = VOCABULARY - 1 - num_oov_indices - prepend_null
    model.preprocessor = TextPreprocessor(
        WORDS[:words],
        lowercase=training["lowercase"],
        num_oov_indices=num_oov_indices,
        prepend_null=prepend_null,
        characters="abdeo"[: CHARACTERS - 2] if characters else None,
        implementation=implementation,
    )
    assert model.preprocessor.vocabulary_size() == VOCABULARY
    model.labels = LABELS
    model.compile("sgd", "sparse_categorical_crossentropy", run_eagerly=True)
    texts = ["the food was good", "bad", ""]
    if rows_of(model) is PAIRS:
        texts = list(zip(texts, texts[1:] + texts[:1], strict=True))
    model.train_on_batch(model.preprocess(texts), np.array([0, 1, 2]))
    return model


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="served_")


@functools.cache
def exported(family):
    """A small model of a family, and the folder it was exported to."""
    name, overrides = FAMILIES[family]
    model = small_classifier(name, **overrides)
    folder = pathlib.Path(_folder().name) / family
    return model, serving.export(model, folder, version=7)


def rows_of(model):
    """The texts, or pairs of texts, that a model is asked."""
    return PAIRS if len(model.sides) > 1 else TEXTS


def keras_answers(model, rows):
    """By signature and output what the Keras model itself answers."""
    columns = zip(*rows, strict=True) if rows[0] in PAIRS else [rows]
    tensors = [tf.constant(list(column)) for column in columns]
    return {
        (name, key): output.numpy()
        for name, outputs in answers(model)(*tensors).items()
        for key, output in outputs.items()
    }

"""Law 6: dropout, L2 and fixed weights are where a row has them."""

import itertools

import keras
import numpy as np
from keras import ops

from keras_selfattn import models
from tests.conformance.models import structure
from tests.conformance.models.table import VOCABULARY
from tests.conformance.models.table import built


def test_weight_names_and_shapes(model_row):
    assert structure.weight_shapes(
        built(model_row)
    ) == structure.expected_weight_shapes(model_row)


def test_dropout_rates(model_row):
    assert structure.dropout_rates(
        built(model_row)
    ) == structure.expected_dropout_rates(model_row.config)


def test_weight_regularizers(model_row):
    assert structure.regularizers(
        built(model_row)
    ) == structure.expected_regularizers(model_row.config)


def test_fixed_word_vectors_are_all_that_does_not_train(model_row):
    fixed = [w.path for w in built(model_row).non_trainable_weights]
    trains = model_row.config["trainable_embeddings"]
    assert fixed == ([] if trains else ["word_vectors/embeddings"])


def test_parameter_counts_add_up(model_row):
    model = built(model_row)
    counts = model.parameter_counts()
    assert sum(counts.values()) == model.count_params()
    assert counts["word vectors"] == VOCABULARY * 8


def test_weights_before_training(model_row):
    keras.utils.set_random_seed(6)
    model = model_row.create()
    arrays = {w.path: ops.convert_to_numpy(w) for w in model.weights}
    words = arrays.pop("word_vectors/embeddings")
    if model_row.config["embeddings_initializer"] == "uniform":
        assert 0.03 < np.abs(words).max() <= 0.05
    else:
        assert 1.6 < words.std() < 2.4
    # It starts from a linear model, once there are texts.
    assert not arrays.pop("ngram_logits/table", np.zeros(1)).any()
    kernels = {p: a for p, a in arrays.items() if "bias" not in p}
    for path, kernel in kernels.items():
        assert (kernel != 0).any(), path
    for one, other in itertools.combinations(kernels, 2):
        if kernels[one].shape == kernels[other].shape:
            assert (kernels[one] != kernels[other]).any(), (one, other)
    for path, bias in arrays.items():
        if path not in kernels:
            # An LSTM starts by forgetting little.
            allowed = {0.0, 1.0} if "lstm" in path else {0.0}
            assert set(bias.flat) <= allowed, path
    if model_row.model is models.DecomposableClassifier:
        kernels.pop("character_cnn/embeddings", None)
        check_spread(kernels, model_row.config["initializer_stddev"])


def check_spread(kernels, stddev):
    for path, kernel in kernels.items():
        if "character_cnn" in path:
            continue
        if stddev is not None:
            assert stddev / 2 < kernel.std() < 2 * stddev, path
        else:
            limit = np.sqrt(6 / sum(kernel.shape))
            assert limit / 2 < np.abs(kernel).max() < 1.001 * limit, path

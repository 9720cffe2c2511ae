import numpy as np

from keras_selfattn.training.balancing import class_weights


def test_each_class_has_the_same_share():
    labels = np.array([0] * 6 + [1] * 3 + [2])
    weights = class_weights(labels, 3, {"class_weight": "balanced"})
    shares = np.bincount(labels) * list(weights.values())
    np.testing.assert_allclose(shares, 10 / 3)
    assert class_weights(labels, 3, {}) is None


def test_a_class_without_texts_has_a_weight_too():
    weights = class_weights([0, 0, 1], 3, {"class_weight": "balanced"})
    assert weights == {0: 0.5, 1: 1.0, 2: 1.0}

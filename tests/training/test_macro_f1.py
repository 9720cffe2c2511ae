import keras
import numpy as np
import pytest

from keras_selfattn.evaluation import Evaluation
from keras_selfattn.training.macro_f1 import MacroF1


def test_batches_count_together_as_in_an_evaluation():
    generator = np.random.default_rng(0)
    true = generator.integers(0, 3, 50)
    scores = generator.normal(size=(50, 4))
    metric = MacroF1(4)
    for start in range(0, 50, 20):
        rows = slice(start, start + 20)
        metric.update_state(true[rows], scores[rows])
    confusion = np.zeros((4, 4), "int64")
    np.add.at(confusion, (true, scores.argmax(axis=-1)), 1)
    expected = Evaluation(list("abcd"), confusion).macro_f1
    assert float(metric.result()) == pytest.approx(expected)
    metric.reset_state()
    assert float(metric.result()) == 0
    copy = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(metric)
    )
    assert copy.num_classes == 4


def test_rows_of_numbers_tell_a_class_by_the_largest():
    scores = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]]
    found = []
    for labels in (
        [0, 1, 1],
        [[0], [1], [1]],
        [[0.8, 0.1, 0.1], [0.0, 0.6, 0.4], [0.2, 0.5, 0.3]],
    ):
        metric = MacroF1(3)
        metric.update_state(labels, scores)
        found.append(float(metric.result()))
    # F1 of 1, 2 / 3 and 0.
    assert found == pytest.approx([5 / 9] * 3)


def test_weights_of_rows():
    metric = MacroF1(2)
    metric.update_state([0, 1], [[1, 0], [1, 0]], sample_weight=[1, 0])
    assert float(metric.result()) == 1


def test_small_weights_count_among_each_other():
    metric = MacroF1(3)
    labels, scores = [0, 0, 1], [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    metric.update_state(labels, scores, sample_weight=[1e-4] * 3)
    # F1 of 2 / 3 twice, and a class that is nowhere.
    assert float(metric.result()) == pytest.approx(2 / 3)

"""The start of the wide part of pairs, against its own equation."""

import numpy as np
import pytest

from keras_selfattn.layers.logistic_regression import fit_logistic_regression

ROWS, COLUMNS, CLASSES = 40, 7, 3


def problem(rows=ROWS):
    """Sparse features, of which column 5 is rare and column 6 has none."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(rows, COLUMNS)) * rng.integers(
        0, 2, (rows, COLUMNS)
    )
    dense[:, 5] = 0
    dense[1, 5] = -0.3
    dense[:, 6] = 0
    labels = rng.dirichlet(np.ones(CLASSES), rows)
    return dense, labels


def fitted(dense, labels):
    rows, columns = np.nonzero(dense)
    return fit_logistic_regression(
        rows, columns, dense[rows, columns], labels, COLUMNS
    )


def loss_and_gradient(kernel, dense, labels):
    logits = dense @ kernel
    logits = logits - logits.max(axis=1, keepdims=True)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    loss = 0.5 * (kernel**2).sum() - 3 * (labels * np.log(shares)).sum()
    return loss, kernel + 3 * dense.T @ (shares - labels)


@pytest.mark.parametrize("hard", [False, True])
def test_the_gradient_is_zero_at_the_kernel(hard):
    dense, labels = problem()
    if hard:
        labels = np.eye(CLASSES)[labels.argmax(axis=1)]
    kernel = fitted(dense, labels)
    _, gradient = loss_and_gradient(kernel, dense, labels)
    _, at_zero = loss_and_gradient(0 * kernel, dense, labels)
    assert np.abs(gradient).max() < 1e-3 * np.abs(at_zero).max()
    assert np.abs(kernel[:5]).min() > 1e-3
    assert (kernel[6] == 0).all()


def test_it_is_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    dense, labels = problem()
    numbers = labels.argmax(axis=1)
    model = linear_model.LogisticRegression(
        C=3, fit_intercept=False, tol=1e-8, max_iter=1000
    ).fit(dense, numbers)
    kernel = fitted(dense, np.eye(CLASSES)[numbers])
    np.testing.assert_allclose(kernel, model.coef_.T, rtol=0, atol=1e-3)


def test_features_of_a_row_add_up():
    rows, columns = np.array([0, 0, 1]), np.array([0, 0, 1])
    labels = np.eye(2)
    twice = fit_logistic_regression(rows, columns, np.ones(3), labels, 2)
    once = fit_logistic_regression(
        rows[1:], columns[1:], np.array([2.0, 1.0]), labels, 2
    )
    np.testing.assert_allclose(twice, once, rtol=1e-12)


def test_any_scale():
    """Values that are thousands times as large, and rows without features."""
    dense, labels = problem()
    dense[[0, -1]] = 0
    kernel = fitted(dense * 1e4, labels)
    assert np.isfinite(kernel).all()
    loss, _ = loss_and_gradient(kernel, dense * 1e4, labels)
    assert loss < loss_and_gradient(0 * kernel, dense, labels)[0]


def test_no_features():
    nothing = np.zeros(0, "int64")
    kernel = fit_logistic_regression(
        nothing, nothing, np.zeros(0), np.eye(3), COLUMNS
    )
    np.testing.assert_array_equal(kernel, np.zeros((COLUMNS, 3)))

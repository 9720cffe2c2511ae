import numpy as np

_STRENGTH = 3.0
_STEPS = 100


def fit_logistic_regression(rows, columns, values, labels, num_columns):
    """The kernel of a logistic regression of features that are mostly zero.

    It minimizes `½ ‖W‖² - 3 Σ_i Σ_k y_ik log softmax(x_i W)_k`, without a
    bias, by 100 steps of Nesterov's accelerated gradient. Each column has a
    step of its own, as long as its curvature allows, `1 / (1 + 3/2 Σ_i |x_ij|
    Σ_l |x_il|)`, so that rare features come as far as frequent ones.

    Args:
        rows: Array of integers of shape `(features,)`, `i` of each feature of
            `x` that is not zero. One that is named twice counts twice.
        columns: Array of integers of shape `(features,)`, its `j`.
        values: Array of shape `(features,)`, its value.
        labels: Array of shape `(rows, num_classes)`, how much a row is of
            each class, `y`, with a sum of 1.
        num_columns: Integer, how many columns there are.

    Returns:
        A float64 array of shape `(num_columns, num_classes)`.

    References:
        - [Nesterov, 1983](https://www.mathnet.ru/eng/dan46009)
        - [Böhning, 1992](https://doi.org/10.1007/BF00048682), the bound of
            the curvature

    Example:

    >>> kernel = fit_logistic_regression(
    ...     rows=np.array([0, 1]),
    ...     columns=np.array([0, 1]),
    ...     values=np.array([1.0, 1.0]),
    ...     labels=np.eye(2),
    ...     num_columns=3,
    ... )
    >>> kernel.round(2).tolist()
    [[0.65, -0.65], [-0.65, 0.65], [0.0, 0.0]]
    """
    num_rows, num_classes = labels.shape

    def product(places, others, matrix, count):
        """The features, or their transpose, times a matrix."""
        sums = [
            np.bincount(places, values * column[others], count)
            for column in matrix.T
        ]
        return np.stack(sums, axis=1)

    def gradient(kernel):
        logits = product(rows, columns, kernel, num_rows)
        errors = _softmax(logits) - labels
        return kernel + _STRENGTH * product(columns, rows, errors, num_columns)

    size = np.abs(values)
    reach = np.bincount(rows, size, num_rows)
    curvature = np.bincount(columns, size * reach[rows], num_columns)
    step = 1 / (1 + _STRENGTH / 2 * curvature[:, None])
    kernel = ahead = np.zeros((num_columns, num_classes))
    momentum = 1.0
    for _ in range(_STEPS):
        moved = ahead - step * gradient(ahead)
        longer = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / longer * (moved - kernel)
        kernel, momentum = moved, longer
    return kernel


def _softmax(logits):
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)

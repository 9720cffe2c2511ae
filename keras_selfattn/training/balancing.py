"""Weights by which rare classes count as much as frequent ones."""

from collections.abc import Mapping

import numpy as np


def class_weights(
    labels: np.ndarray, num_classes: int, training: Mapping
) -> dict[int, float] | None:
    """What `class_weight` of `keras.Model.fit` is to be.

    A class has the weight rows / (classes * rows of the class), so that each
    class has the same share of the loss.

    Args:
        labels: Integer array, the number of each text's class.
        num_classes: Integer.
        training: Dictionary of training values.

    Returns:
        A dictionary by class, or `None` without `class_weight`.

    Example:

    >>> class_weights([0, 0, 0, 1], 2, {"class_weight": "balanced"})
    {0: 0.666..., 1: 2.0}
    """
    counts = np.bincount(labels, minlength=num_classes)
    return balanced_weights(counts, training)


def balanced_weights(
    counts: np.ndarray, training: Mapping
) -> dict[int, float] | None:
    """What `class_weights` gives, of the number of rows of each class."""
    if training.get("class_weight") is None:
        return None
    shares = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return dict(enumerate(shares.tolist()))

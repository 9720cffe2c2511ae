"""Classifiers as scikit-learn's estimators of raw texts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from keras import ops

from keras_selfattn.backends.compiled import as_probabilities
from keras_selfattn.first_use import import_extra
from keras_selfattn.labels import plain
from keras_selfattn.text import TextPreprocessor

import_extra("sklearn.base", "SKLearnTextClassifier", "scikit-learn", "sklearn")

from sklearn.base import BaseEstimator  # noqa: E402
from sklearn.base import ClassifierMixin  # noqa: E402
from sklearn.utils import column_or_1d  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class SKLearnTextClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier of raw texts, or of pairs of them.

    `keras.wrappers.SKLearnClassifier` takes arrays of numbers; this one takes
    what `Classifier.fit` does, but for datasets, and makes the vocabulary of
    each fold from its training texts alone.

    Args:
        model: Function of `preprocessor`, `labels` and `model_kwargs` that
            returns a compiled `keras_selfattn.models.Classifier`.
        preprocessor_kwargs: Dictionary of the arguments of the
            `keras_selfattn.text.TextPreprocessor`, or `None`.
        model_kwargs: Dictionary of the further arguments of `model`, or
            `None`.
        fit_kwargs: Dictionary of the arguments of `Classifier.fit`, or
            `None`.

    Attributes:
        model_: The trained classifier.
        classes_: Array of the labels, sorted.

    Example:

    >>> from keras_selfattn.models import SentenceClassifier
    >>> def model(units=3, **arguments):
    ...     model = SentenceClassifier(
    ...         embedding_dim=4, units=units, pooling="max", hidden_units=5,
    ...         **arguments)
    ...     model.compile("adam", "sparse_categorical_crossentropy")
    ...     return model
    >>> classifier = SKLearnTextClassifier(model, fit_kwargs={"verbose": 0})
    >>> texts, labels = ["good", "bad", "very good"], ["+", "-", "+"]
    >>> classifier.fit(texts, labels).predict_proba(["not bad"]).shape
    (1, 2)
    """

    def __init__(
        self,
        model: Any,
        preprocessor_kwargs: Mapping | None = None,
        model_kwargs: Mapping | None = None,
        fit_kwargs: Mapping | None = None,
    ) -> None:
        self.model = model
        self.preprocessor_kwargs = preprocessor_kwargs
        self.model_kwargs = model_kwargs
        self.fit_kwargs = fit_kwargs

    def fit(self, X: Any, y: Any, **kwargs: Any) -> "SKLearnTextClassifier":
        """Make a vocabulary and a model, and train it.

        Args:
            X: Raw texts.
            y: Their labels.
            **kwargs: Arguments of `Classifier.fit` that take the place of
                `fit_kwargs`.

        Returns:
            The estimator.
        """
        y = column_or_1d(y, warn=True)
        plain(dict.fromkeys(y.tolist()))
        # scikit-learn's scores take the columns in the order that it sorts.
        labels = plain(np.unique(y))
        preprocessor = TextPreprocessor(**self.preprocessor_kwargs or {})
        preprocessor.adapt(X)
        self.classes_ = np.array(labels)
        self.model_ = self.model(
            preprocessor=preprocessor,
            labels=labels,
            **self.model_kwargs or {},
        )
        self.model_.fit(X, y, **{**(self.fit_kwargs or {}), **kwargs})
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes.

        Args:
            X: Raw texts.

        Returns:
            A float32 array `(rows, classes)`.
        """
        check_is_fitted(self)
        verbose = (self.fit_kwargs or {}).get("verbose", "auto")
        outputs = self.model_.predict(X, verbose=verbose)
        return ops.convert_to_numpy(as_probabilities(self.model_, outputs))

    def predict(self, X: Any) -> np.ndarray:
        """The label of the largest probability.

        Args:
            X: Raw texts.

        Returns:
            An array `(rows,)` of labels.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=-1)]

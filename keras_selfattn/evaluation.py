"""How well a classifier answers texts with labels."""

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_selfattn.backends import compiled
from keras_selfattn.data.labeled_rows import check_row
from keras_selfattn.labels import Finder
from keras_selfattn.labels import unknown
from keras_selfattn.streams import chunks
from keras_selfattn.streams import several
from keras_selfattn.text.columns import rows_of
from keras_selfattn.validation import integer


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The counts of a classifier's answers, and what follows from them.

    Attributes:
        labels: List of the names of the classes, as the model has them.
        confusion: Integer array of shape `(classes, classes)`: rows are the
            true classes, columns the predicted ones.
    """

    labels: list
    confusion: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes that are true or predicted somewhere."""
        known = self.confusion.sum(axis=0) + self.confusion.sum(axis=1) > 0
        f1 = [figures["f1"] for figures in self.per_class().values()]
        return float(np.mean(np.array(f1)[known]))

    def per_class(self) -> dict[Any, dict]:
        """Precision, recall, F1 and the number of rows of each class.

        Returns:
            A dictionary by label of dictionaries with the keys
            `"precision"`, `"recall"`, `"f1"` and `"rows"`. A share of
            nothing is 0.
        """
        right = np.diag(self.confusion)
        predicted = self.confusion.sum(axis=0)
        rows = self.confusion.sum(axis=1)
        return {
            label: {
                "precision": float(right[i] / max(predicted[i], 1)),
                "recall": float(right[i] / max(rows[i], 1)),
                "f1": float(2 * right[i] / max(predicted[i] + rows[i], 1)),
                "rows": int(rows[i]),
            }
            for i, label in enumerate(self.labels)
        }


def predict(
    model: keras.Model, texts: Iterable, batch_size: int = 64
) -> Iterator[tuple[list, np.ndarray]]:
    """Class probabilities of texts, a batch at a time.

    Args:
        model: A classifier with its `preprocessor`.
        texts: Texts as `Classifier.fit` takes them, but for datasets; or
            any iterable of strings, or of pairs of strings.
        batch_size: Integer.

    Yields:
        For each batch, the list of its texts and the float32 array of
        probabilities, of shape `(B, num_classes)`.

    Raises:
        ValueError: if `texts` is one string, or holds anything but texts as
            the model takes them.
    """
    integer(batch_size, "batch_size")
    return _predict(model, rows_of(texts, model.sides), batch_size)


def _predict(model, texts, batch_size):
    answer = compiled.probabilities(model)
    for chunk in chunks(texts, batch_size):
        yield chunk, answer(model.preprocess(chunk))


def evaluate(
    model: keras.Model, records: Iterable, batch_size: int = 64
) -> Evaluation:
    """Compare a classifier's answers with the labels.

    Args:
        model: A classifier with its `preprocessor` and `labels`.
        records: Iterable of `(text, label)`.
        batch_size: Integer.

    Returns:
        An `Evaluation`.

    Raises:
        ValueError: if the model has no labels, if there are no records, or a
            label that the model does not know.
    """
    if model.labels is None:
        raise ValueError(
            f"The model {model.name!r} is evaluated with `labels`. "
            "Received: one without"
        )
    return count(answers(records, model, batch_size), model.labels)


def count(
    answers: Iterable[tuple[list[int], np.ndarray]], labels: Sequence
) -> Evaluation:
    """Count answers beside the true labels.

    Args:
        answers: Iterable of what `answers` yields.
        labels: List of the labels of the model.

    Returns:
        An `Evaluation`.

    Raises:
        ValueError: if there are no answers.
    """
    confusion = np.zeros((len(labels), len(labels)), dtype="int64")
    for label_ids, probabilities in answers:
        np.add.at(confusion, (label_ids, probabilities.argmax(axis=-1)), 1)
    if not confusion.sum():
        raise ValueError("There is nothing to evaluate: no text was given")
    return Evaluation(list(labels), confusion)


def answers(
    records: Iterable, model: keras.Model, batch_size: int = 64
) -> Iterator[tuple[list[int], np.ndarray]]:
    """The labels of texts beside what a classifier answers.

    Args:
        records: Iterable of `(text, label)`.
        model: A classifier with its `preprocessor` and `labels`.
        batch_size: Integer.

    Yields:
        For each batch, the list of the numbers of its labels and the float32
        array of probabilities, of shape `(B, num_classes)`.

    Raises:
        ValueError: if the model has no labels, or does not know that of a text.
    """
    integer(batch_size, "batch_size")
    answer = compiled.probabilities(model)
    for batch in chunks(with_label_ids(records, model.labels), batch_size):
        texts = [record[0] for record, _ in batch]
        label_ids = [label_id for _, label_id in batch]
        yield label_ids, answer(model.preprocess(texts))


def with_label_ids(
    records: Iterable, labels: Sequence | None
) -> Iterator[tuple[tuple, int]]:
    """Each record with the number of its label.

    A label is known by its value or by its text.

    Args:
        records: Iterable of tuples that begin with a text and its label.
        labels: The labels that a model knows, in the order of its outputs;
            `None` where it has none.

    Yields:
        Pairs of a record and an integer.

    Raises:
        ValueError: if the model has no labels, if a label is none of them,
            or a record no such tuple, or if `records` is one string.
    """
    if labels is None:
        raise ValueError(
            "The labels of texts are looked up among a model's `labels`. "
            "Received: a model without"
        )
    records = several(records)
    find = Finder(labels)
    for row, record in enumerate(records, start=1):
        _, label, *_ = check_row(record, row, most=None)
        found = find(label)
        if found is None:
            raise unknown(label, labels, f"text {row}")
        yield record, found

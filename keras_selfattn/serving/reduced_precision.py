"""Models of fewer bits, and what that costs in accuracy."""

import dataclasses
import itertools
from collections.abc import Iterable

import keras
import numpy as np

from keras_selfattn import validation
from keras_selfattn.evaluation import answers
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.serving.bfloat16 import Bfloat16Classifier
from keras_selfattn.serving.int8 import Int8Classifier
from keras_selfattn.streams import several

PRECISIONS = ("bfloat16", "int8")
# Of accuracy, as a share.
LARGEST_LOSS = 0.01


def reduce_precision(model: keras.Model, precision: str) -> keras.Model:
    """A copy of a classifier with weights of fewer bits, to be exported.

    Args:
        model: A classifier.
        precision: `"bfloat16"`: weights and products have half the bits
            (see `Bfloat16Classifier`).
            `"int8"`: weights have a quarter, products stay float32 (see
            `Int8Classifier`).

    Returns:
        A `keras_selfattn.models.Classifier` that answers, and is exported,
        as any other. It can't be trained or saved.

    Raises:
        ValueError: if `precision` is none of them, or the model is no
            classifier of `keras_selfattn.models`, or one that is quantized
            or reduced already.
    """
    validation.one_of(precision, PRECISIONS, "precision")
    if not isinstance(model, Classifier):
        raise ValueError(
            "Reduced precision is for a classifier of `keras_selfattn.models`. "
            f"Received: {type(model).__name__}"
        )
    kind = Int8Classifier if precision == "int8" else Bfloat16Classifier
    return kind.of(model)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How a model of reduced precision answers beside the one it came from.

    Attributes:
        rows: Integer, the number of texts.
        accuracy: The share of right answers of the model.
        reduced_accuracy: That of the reduced model.
        agreement: The share of texts that both give the same label.
        largest_difference: The largest difference of a probability.
    """

    rows: int
    accuracy: float
    reduced_accuracy: float
    agreement: float
    largest_difference: float

    def __str__(self):
        return (
            f"Accuracy {self.reduced_accuracy:.2%}, in float32 "
            f"{self.accuracy:.2%}; the same answer to {self.agreement:.2%} of "
            f"{self.rows:,} texts, largest difference of a probability "
            f"{self.largest_difference:.2g}"
        )

    def check(self):
        """Raises `ValueError` where more than a point of accuracy is lost."""
        # Of shares the difference is rounded, of texts it is not.
        right = round(self.accuracy * self.rows)
        lost = right - round(self.reduced_accuracy * self.rows)
        if lost / self.rows > LARGEST_LOSS:
            raise ValueError(
                f"Reduced precision may cost {LARGEST_LOSS:.0%} of accuracy "
                f"at most. {self}"
            )


def compare(
    model: keras.Model,
    reduced: keras.Model,
    records: Iterable,
    batch_size: int = 64,
) -> Comparison:
    """Ask a model and its reduced copy the same texts.

    Args:
        model: A classifier with its `preprocessor` and `labels`.
        reduced: What `reduce_precision` made of it.
        records: Iterable of `(text, label)`.
        batch_size: Integer.

    Returns:
        A `Comparison`.

    Raises:
        ValueError: if there are no records, or a label that the model does
            not know.
    """
    # Side by side, so that no more than a batch is held.
    ours, theirs = itertools.tee(several(records))
    batches = zip(
        answers(ours, model, batch_size),
        answers(theirs, reduced, batch_size),
        strict=True,
    )
    rows, right, reduced_right, same, difference = 0, 0, 0, 0, 0.0
    for (label_ids, full), (_, few) in batches:
        found, reduced_found = full.argmax(axis=-1), few.argmax(axis=-1)
        rows += len(label_ids)
        right += np.sum(found == label_ids)
        reduced_right += np.sum(reduced_found == label_ids)
        same += np.sum(found == reduced_found)
        difference = max(difference, float(np.abs(full - few).max()))
    if not rows:
        raise ValueError("There is nothing to compare: no text was given")
    return Comparison(
        rows,
        float(right / rows),
        float(reduced_right / rows),
        float(same / rows),
        difference,
    )

"""The mean F1 of the classes, as a Keras metric."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_selfattn")
class MacroF1(keras.metrics.Metric):
    """The mean F1 of the classes that are true or predicted somewhere.

    Labels are numbers of classes, `(B,)` or `(B, 1)`, or rows
    `(B, num_classes)` of which the largest number tells the class.

    Args:
        num_classes: Integer, 2 or more.
        name: The name in the logs.
        **kwargs: Further arguments of `keras.metrics.Metric`.

    Example:

    >>> metric = MacroF1(3)
    >>> metric.update_state([0, 0, 1], [[1, 0, 0], [0, 1, 0], [0, 1, 0]])
    >>> round(float(metric.result()), 4)
    0.6667
    """

    def __init__(
        self, num_classes: int, name: str = "macro_f1", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        # Rows are the true classes, columns the predicted ones.
        self.confusion = self.add_variable(
            (num_classes, num_classes), "zeros", name="confusion"
        )

    def update_state(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        y_true = ops.convert_to_tensor(y_true)
        if len(y_true.shape) == 2 and y_true.shape[-1] == self.num_classes:
            y_true = ops.argmax(y_true, axis=-1)
        true = ops.reshape(ops.cast(y_true, "int32"), (-1,))
        predicted = ops.argmax(y_pred, axis=-1)
        rows = ops.one_hot(true, self.num_classes, dtype="float32")
        columns = ops.one_hot(predicted, self.num_classes, dtype="float32")
        if sample_weight is not None:
            weights = ops.cast(ops.reshape(sample_weight, (-1, 1)), "float32")
            rows = rows * weights
        counts = ops.matmul(ops.transpose(rows), columns)
        self.confusion.assign_add(ops.cast(counts, self.confusion.dtype))

    def result(self) -> Any:
        right = ops.diagonal(self.confusion)
        either = ops.sum(self.confusion, axis=0) + ops.sum(
            self.confusion, axis=1
        )
        known = either > 0
        f1 = 2 * right / ops.where(known, either, 1.0)
        known = ops.cast(known, f1.dtype)
        return ops.sum(f1) / ops.maximum(ops.sum(known), 1.0)

    def get_config(self) -> dict:
        return {**super().get_config(), "num_classes": self.num_classes}

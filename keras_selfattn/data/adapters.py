"""Datasets of TensorFlow Datasets and Hugging Face as corpora."""

import collections.abc
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

import numpy as np

from keras_selfattn.data import values
from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.checked_texts import check_differ
from keras_selfattn.data.lines import line_error


class DatasetTexts(CheckedTexts):
    """The labeled texts of a `tf.data.Dataset` or a Hugging Face dataset.

    Neither TensorFlow Datasets nor `datasets` is imported: what they give is
    taken as it is, one split, not batched.

    Args:
        dataset: A `tf.data.Dataset` of dictionaries or, as with
            `as_supervised=True`, of pairs `(text, label)`; or a re-iterable
            of dictionaries, such as a split of a Hugging Face dataset.
        text: The name of the text.
        text_pair: The name of the second text of a pair, another than that of
            the first, or `None` for single texts.
        label: The name of the label, another than those of the texts. Numbers
            below 0, NaN and `None` stand for no gold label; with
            `label=None`, each label is `None` and no row is left out.
        label_names: Sequence of the names of the labels 0, 1, ...; `None` for
            those of the dataset's `features`, as Hugging Face's have them,
            or else the labels as they would stand in a file: 5.0 is `"5"`,
            and `True` is `"true"`. TensorFlow Datasets has them in
            `builder.info.features["label"].names`.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows; see
            `keras_selfattn.data.checked_texts.CheckedTexts`.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.

    Raises:
        ValueError: if `dataset` can be read only once or holds several
            splits, or one name is to be two things, and while reading as
            `CheckedTexts` does.

    Example:

    >>> rows = [{"text": "Nice.", "label": 1}, {"text": "Meh.", "label": -1}]
    >>> list(DatasetTexts(rows, label_names=["bad", "good"]))
    [('Nice.', 'good')]
    """

    def __init__(
        self,
        dataset: Iterable,
        text: str = "text",
        label: str | None = "label",
        text_pair: str | None = None,
        label_names: Sequence | None = None,
        max_bad_rate: float = MAX_BAD_RATE,
    ) -> None:
        if isinstance(dataset, collections.abc.Mapping):
            raise ValueError(
                "`dataset` must be one split of a dataset. "
                f"Received: those named {', '.join(map(str, dataset))}"
            )
        if isinstance(dataset, collections.abc.Iterator):
            raise ValueError(
                "`dataset` must be one that can be read again and again. "
                f"Received: {type(dataset).__name__}"
            )
        if label_names is None:
            features = getattr(dataset, "features", None) or {}
            label_names = getattr(features.get(label), "names", None)
        super().__init__(label is not None, label_names, max_bad_rate)
        check_differ(text=text, text_pair=text_pair, label=label)
        # Labels that are told later name no numbers.
        self.label_names = self.labels
        self.dataset = dataset
        self.text = text
        self.label = label
        self.text_pair = text_pair

    def read(self) -> Iterator[Row | ValueError]:
        rows = self.dataset
        if hasattr(rows, "as_numpy_iterator"):
            rows = rows.as_numpy_iterator()
        for number, row in enumerate(rows, 1):
            try:
                yield self._row(number, row)
            except ValueError as error:
                yield error

    def _row(self, number, row):
        if isinstance(row, tuple) and len(row) == 2:
            row = dict(zip((self.text, self.label), row, strict=True))
        fields = [self.text, self.text_pair, self.label]
        names = [name for name in fields if name is not None]
        if not isinstance(row, dict) or not row.keys() >= set(names):
            expected = f"the fields {', '.join(names)}"
            raise line_error("dataset", number, expected, _shown(row))
        text = _string(number, self.text, row[self.text])
        if self.text_pair is not None:
            text = text, _string(number, self.text_pair, row[self.text_pair])
        label = None
        if self.labelled:
            label = self._label(number, row[self.label])
        return Row("dataset", number, text, label)

    def _label(self, number, found):
        if isinstance(found, bytes):
            found = found.decode(errors="replace")
        elif isinstance(found, (np.generic, np.ndarray)):
            found = found.tolist()
        if isinstance(found, (int, float)) and found < 0:
            return None
        names = self.label_names or ()
        if isinstance(found, int) and found < len(names):
            return names[found]
        return values.value("dataset", number, self.label, found, may_miss=True)


def _string(number, name, value):
    if isinstance(value, bytes):
        value = value.decode(errors="surrogateescape")
    if not isinstance(value, str):
        raise line_error(
            "dataset", number, f"a string as {name!r}", _shown(value)
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise line_error("dataset", number, "UTF-8", str(error)) from error
    return value


def _shown(value):
    if isinstance(value, dict):
        return f"the fields {', '.join(map(str, value))}"
    if isinstance(value, np.ndarray):
        return f"an array of the shape {value.shape}"
    return repr(value)

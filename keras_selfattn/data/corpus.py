"""A file of labeled texts, or pairs, that can be read again and again."""

import os
import pathlib
from collections.abc import Iterable
from collections.abc import Iterator

from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.checked_texts import check_differ
from keras_selfattn.data.lines import place
from keras_selfattn.data.readers import read_table


class Corpus(CheckedTexts):
    """Labeled texts of a file, streamed anew each time it is iterated.

    Args:
        path: Path of the file, in a format that
            `keras_selfattn.data.readers.read_rows` reads.
        text: The name of the field with the text.
        label: The name of the field with the label, another than those of
            the texts; with `None`, each label is `None` and no row is left
            out.
        text_pair: The name of the field with the second text of a pair,
            another than that of the first, or `None` for single texts.
        labels: The labels there are, or `None` if any will do.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows; see
            `keras_selfattn.data.checked_texts.CheckedTexts`.
        format: As in `read_rows`.
        delimiter: The same.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        text: str = "text",
        label: str | None = "label",
        text_pair: str | None = None,
        labels: Iterable | None = None,
        max_bad_rate: float = MAX_BAD_RATE,
        format: str | None = None,
        delimiter: str | None = None,
    ) -> None:
        super().__init__(label is not None, labels, max_bad_rate)
        check_differ(text=text, text_pair=text_pair, label=label)
        self.path = pathlib.Path(path)
        self.text = text
        self.label = label
        self.text_pair = text_pair
        self.format = format
        self.delimiter = delimiter

    def table(self) -> Iterator[tuple[dict, Row | ValueError]]:
        fields = [self.text, self.text_pair, self.label]
        names = [name for name in fields if name is not None]
        # A label that is missing is no fault, as in the published corpora.
        may_miss = names[-1:] if self.labelled else []
        for number, columns, record in read_table(
            self.path, names, self.format, self.delimiter, may_miss
        ):
            if isinstance(record, ValueError):
                yield columns, record
                continue
            text = record[self.text]
            if self.text_pair is not None:
                text = (text, record[self.text_pair])
            label = record.get(self.label)
            yield columns, Row(place(self.path), number, text, label)

    def read(self) -> Iterator[Row | ValueError]:
        return (row for _, row in self.table())

"""A file of labeled texts, or pairs, that can be read again and again."""

import pathlib

from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.readers import read_rows


class Corpus(CheckedTexts):
    """Labeled texts of a file, streamed anew each time it is iterated.

    Args:
        path: Path of the file, in a format that
            `keras_selfattn.data.readers.read_rows` reads.
        text: The name of the field with the text.
        label: The name of the field with the label; with `None`, each label
            is `None` and no row is left out.
        text_pair: The name of the field with the second text of a pair, or
            `None` for single texts.
        labels: The labels there are, or `None` if any will do.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows; see
            `keras_selfattn.data.checked_texts.CheckedTexts`.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.
    """

    def __init__(
        self,
        path,
        text="text",
        label="label",
        text_pair=None,
        labels=None,
        max_bad_rate=MAX_BAD_RATE,
    ):
        super().__init__(label is not None, labels, max_bad_rate)
        self.path = pathlib.Path(path)
        self.text = text
        self.label = label
        self.text_pair = text_pair

    def read(self):
        fields = [self.text, self.text_pair, self.label]
        names = [name for name in fields if name is not None]
        for number, record in read_rows(self.path, names):
            if isinstance(record, ValueError):
                yield record
                continue
            text = record[self.text]
            if self.text_pair is not None:
                text = (text, record[self.text_pair])
            yield Row(self.path, number, text, record.get(self.label))

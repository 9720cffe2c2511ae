"""A file of labelled texts, or pairs, that can be read again and again."""

import pathlib

from keras_selfattn.data.readers import read_records


class Corpus:
    """Labelled texts of a file, streamed anew each time it is iterated.

    Args:
        path: Path of the file, in a format that
            `keras_selfattn.data.readers.read_records` reads.
        text: The name of the field with the text.
        label: The name of the field with the label; with `None`, each label
            is `None`.
        text_pair: The name of the field with the second text of a pair, or
            `None` for single texts.
    """

    def __init__(self, path, text="text", label="label", text_pair=None):
        self.path = pathlib.Path(path)
        self.text = text
        self.label = label
        self.text_pair = text_pair

    def __iter__(self):
        fields = [self.text, self.text_pair, self.label]
        names = [name for name in fields if name is not None]
        for record in read_records(self.path, names):
            text = record[self.text]
            if self.text_pair is not None:
                text = (text, record[self.text_pair])
            yield text, record.get(self.label)

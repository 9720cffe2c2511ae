"""A file of labelled texts that can be read again and again."""

import pathlib

from keras_selfattn.data.readers import read_labelled_texts


class Corpus:
    """Labelled texts of a file, streamed anew each time it is iterated.

    Args:
        path: Path of the file, in a format that
            `keras_selfattn.data.readers.read_records` reads.
        text: The name of the field with the text.
        label: The name of the field with the label.
    """

    def __init__(self, path, text="text", label="label"):
        self.path = pathlib.Path(path)
        self.text = text
        self.label = label

    def __iter__(self):
        return read_labelled_texts(self.path, text=self.text, label=self.label)

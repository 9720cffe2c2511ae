"""Callbacks with a TensorBoard writer, and those that read texts."""

import pathlib

import keras

from keras_selfattn.models.classifier import Classifier
from keras_selfattn.streams import chunks
from keras_selfattn.streams import column_names
from keras_selfattn.streams import several

_BATCH_SIZE = 64


class Writer(keras.callbacks.Callback):
    """A callback with a TensorBoard writer while the model is trained."""

    folder: str

    def __init__(self, log_dir):
        super().__init__()
        self.path = pathlib.Path(log_dir) / self.folder
        self.writer = None

    def on_train_begin(self, logs=None):
        self.writer = writer(self.path)

    def on_train_end(self, logs=None):
        self.writer.close()

    def scalars(self, values, epoch):
        write_scalars(self.writer, values, epoch)


def writer(path):
    """TensorFlow's writer of summaries into a folder."""
    import tensorflow as tf

    return tf.summary.create_file_writer(str(path))


def write_scalars(writer, values, epoch):
    """Write a dictionary of numbers by name as those of an epoch."""
    import tensorflow as tf

    with writer.as_default(step=epoch):
        for name, value in values.items():
            tf.summary.scalar(name, value)
    writer.flush()


class Probe(Writer):
    """A callback that looks at the same texts after each epoch."""

    def __init__(self, log_dir, texts):
        super().__init__(log_dir)
        if names := column_names(texts):
            raise ValueError(
                "`texts` must be a list of texts, or one column of a table. "
                f"Received: a table of {', '.join(map(str, names))}"
            )
        self.texts = list(several(texts))
        if not self.texts:
            raise ValueError(
                "`texts` must hold at least one text. Received: none"
            )

    def check(self):
        """`ValueError` where the model can't read the texts."""
        if not isinstance(self.model, Classifier):
            raise ValueError(
                f"The model of {type(self).__name__} must be a "
                "`keras_selfattn.models.Classifier`. Received: "
                f"{type(self.model).__name__}"
            )
        # Texts of another kind fail before the first epoch, not after it.
        self.model.preprocess(self.texts[:1])

    def on_train_begin(self, logs=None):
        self.check()
        super().on_train_begin(logs)

    def batches(self):
        """The model's inputs for the texts, a batch at a time."""
        for chunk in chunks(self.texts, _BATCH_SIZE):
            yield self.model.preprocess(chunk)

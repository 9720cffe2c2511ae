"""Which implementation of its layers an exported model has."""

import contextlib

import keras

from keras_selfattn.layers import CharacterCNN
from keras_selfattn.layers import StackedBiLSTM


class ExportsPortably:
    """What a `keras.Model` is, too, whose `export` converters understand."""

    def export(self, filepath, format="tf_saved_model", *args, **kwargs):
        """Write the model of ids in one of Keras's formats.

        `keras_selfattn.serving` writes models that read texts, or have their
        tokenizer beside them, and faster ones.

        Args:
            filepath: Path to write to.
            format: String, as in `keras.Model.export`.
            *args: Further arguments of `keras.Model.export`.
            **kwargs: Further arguments of it.
        """
        with without_cudnn(self, portable=format != "tf_saved_model"):
            super().export(filepath, format, *args, **kwargs)


@contextlib.contextmanager
def without_cudnn(model, portable=False):
    """Keep cuDNN's ops, which run on a GPU only, out of a traced graph.

    Args:
        model: A classifier.
        portable: Boolean, whether to take Keras's own code even where layers
            have faster code for TensorFlow, whose ops converters to other
            formats don't know.
    """
    changes = []
    for layer in _layers(model):
        if isinstance(layer, keras.layers.LSTM):
            changes.append((layer, "use_cudnn", False))
        elif portable and isinstance(layer, StackedBiLSTM):
            changes.append((layer, "implementation", "keras"))
        elif portable and isinstance(layer, CharacterCNN):
            changes.append((layer, "encodes_words_once", False))
    before = [getattr(layer, name) for layer, name, _ in changes]
    for layer, name, value in changes:
        setattr(layer, name, value)
    try:
        yield
    finally:
        for (layer, name, _), value in zip(changes, before, strict=True):
            setattr(layer, name, value)


def _layers(model):
    for layer in model.layers:
        if isinstance(layer, keras.layers.Wrapper):
            layer = layer.layer
        yield layer
        if isinstance(layer, StackedBiLSTM):
            for direction in layer.directions:
                yield direction.forward_layer
                yield direction.backward_layer

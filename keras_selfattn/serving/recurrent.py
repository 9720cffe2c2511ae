"""Which code a model's layers run while it is written."""

import contextlib

import keras

from keras_selfattn.layers import CharacterCNN
from keras_selfattn.layers import StackedBiLSTM


@contextlib.contextmanager
def without_cudnn(model, portable=False):
    """Keeps cuDNN's ops, which run on a GPU only, out of a traced graph.

    Args:
        model: A classifier.
        portable: Boolean, whether to take Keras's own code even where layers
            have faster code for TensorFlow, whose ops converters to other
            formats don't know.
    """
    changes = []
    for layer in _layers(model):
        lstms = (keras.layers.LSTM, StackedBiLSTM)
        if isinstance(layer, lstms if portable else keras.layers.LSTM):
            changes.append((layer, "use_cudnn"))
        elif portable and isinstance(layer, CharacterCNN):
            changes.append((layer, "finds_distinct_words"))
    before = [getattr(layer, name) for layer, name in changes]
    for layer, name in changes:
        setattr(layer, name, False)
    try:
        yield
    finally:
        for (layer, name), value in zip(changes, before, strict=True):
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

"""Which code a model's LSTMs run while it is written."""

import contextlib

import keras

from keras_selfattn.layers import StackedBiLSTM


@contextlib.contextmanager
def without_cudnn(model, keras_loops=False):
    """Keeps cuDNN's ops, which run on a GPU only, out of a traced graph.

    Args:
        model: A classifier.
        keras_loops: Boolean, whether to take Keras's own loops even where
            `StackedBiLSTM` has faster ones.
    """
    layers = list(_recurrent_layers(model, keras_loops))
    before = [layer.use_cudnn for layer in layers]
    for layer in layers:
        layer.use_cudnn = False
    try:
        yield
    finally:
        for layer, use_cudnn in zip(layers, before, strict=True):
            layer.use_cudnn = use_cudnn


def _recurrent_layers(model, keras_loops):
    for layer in model.layers:
        if isinstance(layer, keras.layers.Wrapper):
            layer = layer.layer
        if isinstance(layer, StackedBiLSTM):
            if keras_loops:
                yield layer
            for direction in layer.directions:
                yield direction.forward_layer
                yield direction.backward_layer

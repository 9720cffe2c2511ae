"""Checks of the shapes that layers are built with, and called with."""

import keras


def rank(input_shape, axes, layer):
    """Raise `ValueError` unless a shape has the axes that a layer takes."""
    if len(input_shape) != len(axes):
        raise ValueError(
            f"{type(layer).__name__} takes inputs of shape "
            f"({', '.join(axes)}), of rank {len(axes)}. "
            f"Received: inputs of shape {tuple(input_shape)}"
        )


def static_axis(input_shape, axis, name, layer):
    """The size of an axis, or `ValueError` where it is not known."""
    if input_shape[axis] is None:
        raise ValueError(
            f"{type(layer).__name__} needs the size of the axis of {name} "
            f"(axis {axis}) when it is built. "
            f"Received: inputs of shape {tuple(input_shape)}"
        )
    return input_shape[axis]


def spec(input_shape, *axes):
    """What a built layer takes: the rank of a shape, and its size in axes."""
    sizes = {axis: input_shape[axis] for axis in axes}
    return keras.layers.InputSpec(ndim=len(input_shape), axes=sizes)

"""Checks of constructor arguments that several layers share."""


def positive_integer(value, name):
    """The value, or `ValueError` unless it is an integer of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(
            f"`{name}` must be an integer of 1 or more. "
            f"Received: {name}={value!r}"
        )
    return value


def positive_integers(values, name):
    """A tuple of integers of 1 or more, or `ValueError`."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"`{name}` must be a sequence of integers of 1 or more. "
            f"Received: {name}={values!r}"
        )
    return tuple(positive_integer(value, name) for value in values)


def widths(values, name):
    """The same, of one integer or more."""
    found = positive_integers(values, name)
    if not found:
        raise ValueError(
            f"`{name}` must hold at least one integer. "
            f"Received: {name}={values!r}"
        )
    return found


def fraction(value, name):
    """The value as a float, or `ValueError` unless 0 <= value < 1."""
    if not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number from 0 up to, but not including, 1. "
            f"Received: {name}={value!r}"
        )
    return float(value)


def rank(input_shape, axes, layer):
    """Raise `ValueError` unless a shape has the axes that a layer takes.

    Args:
        input_shape: The shape received.
        axes: Tuple of the names of the axes expected.
        layer: The layer, named in the message.
    """
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

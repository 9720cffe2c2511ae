"""Checks of layers that take a pair of inputs."""

from keras_selfattn.layers.shapes import rank


def pair(values, names, layer):
    """The two values, or `ValueError` unless they are a pair."""
    if not _is_pair(values) or isinstance(values[0], (int, type(None))):
        raise ValueError(
            f"{type(layer).__name__} takes a pair of inputs, "
            f"({', '.join(names)}). Received: {_describe(values)}"
        )
    return tuple(values)


def pair_of_shapes(input_shape, axes, names, layer, same=(0, -1)):
    """Two shapes that agree in some axes.

    Args:
        input_shape: What should be a pair of shapes.
        axes: Names of the axes of each.
        names: Names of the two inputs.
        layer: The layer that takes them.
        same: Those axes, by default the batch and the features.

    Returns:
        The two shapes.

    Raises:
        ValueError: if there are not two shapes, if one has not the axes
            expected, or if they differ where they should agree.
    """
    shapes = pair(input_shape, names, layer)
    for shape in shapes:
        rank(shape, axes, layer)
    for axis in same:
        _check_same(shapes, axis, axes[axis], names, layer)
    return shapes


def _check_same(shapes, axis, name, names, layer):
    if len({shape[axis] for shape in shapes} - {None}) > 1:
        raise ValueError(
            f"{type(layer).__name__} takes two inputs with the same size of "
            f"the axis of {name}. Received: inputs of shapes "
            f"{tuple(shapes[0])} ({names[0]}) and "
            f"{tuple(shapes[1])} ({names[1]})"
        )


class TakesPair:
    """A layer of a pair of inputs, which are told apart by `input_names`."""

    def __call__(self, inputs, *args, **kwargs):
        # Of another number of inputs Keras would show all values.
        both = pair(inputs, self.input_names, self)
        shapes = [getattr(each, "shape", ()) for each in both]
        # That of TensorFlow's scalars is true.
        if all(shape and len(shape) for shape in shapes):
            _check_same(shapes, 0, "batch", self.input_names, self)
        return super().__call__(inputs, *args, **kwargs)


def pair_of_masks(mask, names, layer):
    """A mask, or `None`, for each of the two inputs."""
    if mask is None:
        return None, None
    if not _is_pair(mask):
        raise ValueError(
            f"{type(layer).__name__} takes a pair of masks, "
            f"({', '.join(names)}), each of which may be None, or None for "
            f"both. Received: {_describe(mask)}"
        )
    return tuple(mask)


def _is_pair(values):
    return isinstance(values, (list, tuple)) and len(values) == 2


def _describe(values):
    if hasattr(values, "shape"):
        return f"one tensor of shape {tuple(values.shape)}"
    if isinstance(values, (list, tuple)) and any(
        hasattr(value, "shape") for value in values
    ):
        return f"{len(values)} tensors"
    return repr(values)

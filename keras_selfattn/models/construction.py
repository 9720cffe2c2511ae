"""How a classifier is made: from arguments, or by Keras as a clone."""

import contextlib
import functools
import inspect

import keras

from keras_selfattn import validation
from keras_selfattn.controls import one_line
from keras_selfattn.models import arguments
from keras_selfattn.models.memory import check_memory
from keras_selfattn.models.sizes import with_sizes
from keras_selfattn.private_names import run_graph


def constructor(build):
    """Decorates the `__init__` of a classifier that is built from arguments.

    It refuses arguments that there are not, or that change nothing, derives
    sizes from `preprocessor` and `labels` and keeps the two, gives all
    layers the `dtype`, and takes what `keras.models.clone_model` calls a
    functional model with.
    """
    signature = inspect.signature(build)

    # Keras tells by the two stars that a clone can have the class.
    @functools.wraps(build)
    def __init__(self, /, *args, **kwargs):
        if is_graph(args):
            self._become_clone(*args, **kwargs)
            return
        try:
            # Keras fails where `__init__` could do without any argument, so
            # the sizes are none that have defaults.
            bound = signature.bind_partial(self, *args, **kwargs)
        except TypeError as error:
            raise ValueError(f"{type(self).__name__}: {error}") from None
        given = bound.arguments
        del given[next(iter(signature.parameters))]
        given.update(given.pop("kwargs", {}))
        given = arguments.by_new_names(given)
        fixed = given.pop("fixed_layers", [])
        arguments.check(type(self), given)
        handed = {name: given.pop(name, None) for name in arguments.HANDED}
        given = with_sizes(type(self), arguments.plain(given), **handed)
        trainable = validation.boolean(
            given.pop("trainable", True), "trainable"
        )
        check_memory(type(self), given)
        with dtype_scope(given.pop("dtype", None)):
            try:
                build(self, **given)
            # As of an initializer whose configuration holds other types.
            except TypeError as error:
                raise ValueError(
                    f"{type(self).__name__} can't be built of its arguments: "
                    f"{one_line(error)}"
                ) from error
        for name, value in handed.items():
            if value is not None:
                setattr(self, name, value)
        if not trainable:
            # Setting it to True would tune fixed word vectors.
            self.trainable = False
        for name in fixed:
            self.get_layer(name).trainable = False

    return __init__


@contextlib.contextmanager
def dtype_scope(dtype):
    """Layers made within have a dtype policy, unless that is `None`."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(arguments.dtype_policy(dtype))
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def is_graph(args):
    """Whether a class is called with the inputs and outputs of a graph."""
    return len(args) == 2 and isinstance(args[1], keras.KerasTensor)


def clone_of(outputs):
    """What `run_as_clone` left with the outputs of a graph, or `None`."""
    return getattr(outputs, "_clone_of", None)


def run_as_clone(model, views, inputs, operation_fn):
    """Run a model's graph with operations in place of its own.

    Args:
        model: A classifier.
        views: Dictionary of its inner tensors.
        inputs: The inputs of the new graph.
        operation_fn: Function that gives what takes an operation's place.

    Returns:
        The outputs of the new graph. Where each operation is as the one
        whose place it takes, `clone_of` gives the model and the new graph's
        inner tensors for them.
    """
    changed = []

    def in_place_of(operation):
        taken = operation_fn(operation)
        if not _is_same(operation, taken):
            changed.append(taken)
        return taken

    graph = keras.Function(
        model.input, {"outputs": model.output, "views": views}
    )
    made = run_graph(graph, inputs, in_place_of)
    outputs = made["outputs"]
    if not changed and isinstance(outputs, keras.KerasTensor):
        outputs._clone_of = (model, made["views"])
    return outputs


def _is_same(operation, other):
    return other is operation or (
        type(other) is type(operation)
        and _settings(other.get_config()) == _settings(operation.get_config())
    )


def _settings(config):
    """A configuration without what a layer that a wrapper holds was built on.

    What takes its place is not built yet.
    """
    if isinstance(config, dict):
        return {
            name: _settings(value)
            for name, value in config.items()
            if name != "build_config"
        }
    return config

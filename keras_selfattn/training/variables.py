"""What of a model training changes, and what it leaves alone."""

import zlib

import numpy as np
from keras import ops


def changing_variables(model):
    """All variables that training changes, in a fixed order.

    Those of the optimizer and the states of the dropouts are among them;
    fixed word vectors, often most of a model, are not.
    """
    fixed = {id(variable) for variable in fixed_variables(model)}
    variables = [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in fixed
    ]
    return variables + model.optimizer.variables


def random_states(model):
    """The states that dropouts draw from, of those variables."""
    weights = {id(weight) for weight in model.weights}
    return [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in weights and tuple(variable.shape) == (2,)
    ]


def fixed_checksum(model):
    """A number that differs for other weights that training leaves alone."""
    checksum = 0
    for variable in fixed_variables(model):
        array = np.ascontiguousarray(ops.convert_to_numpy(variable))
        checksum = zlib.crc32(array, checksum)
    return checksum


def fixed_variables(model):
    """The weights of the layers that training leaves alone."""
    return [
        variable
        for layer in model.layers
        if not layer.trainable
        for variable in layer.weights
    ]


def build_metrics(model):
    """Make the variables of a compiled classifier's metrics, at their start."""
    one = np.ones((1, *model.output.shape[1:]), "float32")
    model.compute_metrics(None, np.zeros(1, "int32"), one)
    model.reset_metrics()


def metric_variables(model):
    """The variables of a model's metrics, once they are made."""
    return [v for metric in model.metrics for v in metric.variables]


def arrays_of(variables):
    """The values of variables, as a list of NumPy arrays that it can save."""
    return [_of_numpy(ops.convert_to_numpy(each)) for each in variables]


def _of_numpy(array):
    # NumPy saves bfloat16, which is not its own, as bytes of no kind. float32
    # holds all its values.
    return array.astype("float32") if array.dtype.kind == "V" else array


def assign(variables, values):
    """Give each of some variables its value, of as many."""
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)

"""Classifiers whose weights are rounded to what fewer bits can hold."""

import functools

import tensorflow as tf

from keras_selfattn.models.classifier import Classifier


def _refusing(name):
    @functools.wraps(getattr(Classifier, name))
    def refuse(self, *args, **kwargs):
        raise ValueError(
            "A model of reduced precision answers and is exported; "
            f"`{name}` is for the model that it was made of. Received: "
            f"{self.name!r}, {self.precision}"
        )

    return refuse


class ReducedClassifier(Classifier):
    """A copy of a classifier with weights of fewer bits.

    Its weights have the rounded values: however it is asked, it answers as
    it will when it is served. What would change or save them raises
    `ValueError`.

    Attributes:
        precision: String, the type of the weights, set by subclasses.
    """

    precision: str

    fit = _refusing("fit")
    get_config = _refusing("get_config")
    load_weights = _refusing("load_weights")
    quantize = _refusing("quantize")
    save = _refusing("save")
    save_to_preset = _refusing("save_to_preset")
    save_weights = _refusing("save_weights")
    set_weights = _refusing("set_weights")
    train_on_batch = _refusing("train_on_batch")

    @classmethod
    def of(cls, model, **changes):
        """The reduced copy of a classifier, with some arguments changed.

        It computes in float32 if these name no other type.
        """
        origin = type(model), {**model.get_config(), "dtype": "float32"}
        reduced_class = _reduced_class(cls, origin[0])
        copy = reduced_class.from_config({**origin[1], **changes})
        vars(copy)["_origin"] = origin
        super(ReducedClassifier, copy).set_weights(model.get_weights())
        copy._take_over(model)
        copy.round_weights()
        copy.trainable = False
        return copy

    def _become_clone(self, *args, **kwargs):
        raise ValueError(
            "A model of reduced precision is not cloned. Clone the model that "
            "it was made of"
        )

    def in_float32(self):
        """A float32 classifier that, reduced, gives this one."""
        model_class, config = self._origin
        model = model_class.from_config(config)
        for layer, rounded in zip(model.layers, self.layers, strict=True):
            layer.set_weights(self.values_of(rounded))
        model._take_over(self)
        return model

    def values_of(self, layer):
        """The weights of a layer, for the same layer of a float32 model."""
        return layer.get_weights()

    def round_weights(self):
        """Give the weights the values that they are stored with."""
        raise NotImplementedError

    def stored_weights(self):
        """How a SavedModel stores weights.

        Returns:
            List of pairs of a weight and of the `StoredWeight` that is
            written in its place. All other weights are written as they are.
        """
        raise NotImplementedError


class StoredWeight:
    """A weight as a SavedModel keeps it.

    Args:
        arrays: List of arrays or tensors.
        restore: Function of them that gives the weight in float32.

    Attributes:
        variables: List of `tf.Variable`, the arrays.
    """

    def __init__(self, arrays, restore):
        self.variables = [tf.Variable(a, trainable=False) for a in arrays]
        self.restore = restore

    def in_float32(self):
        """The weight as a float32 tensor."""
        return self.restore(*self.variables)


@functools.cache
def _reduced_class(kind, model_class):
    name = kind.__name__.replace("Classifier", model_class.__name__)
    return type(name, (kind, model_class), {"__doc__": kind.__doc__})

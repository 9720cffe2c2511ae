"""The variables in which an export keeps a model's weights."""

import keras

from keras_selfattn.serving.reduced_classifier import ReducedClassifier


class Storage:
    """The variables that are written for a model's weights.

    Args:
        model: A classifier.

    Attributes:
        variables: List of `tf.Variable`: the model's own, or those that a
            model of reduced precision has in their place.
    """

    def __init__(self, model):
        self._stored = []
        if isinstance(model, ReducedClassifier):
            self._stored = model.stored_weights()
        instead = {id(weight): kept for weight, kept in self._stored}
        self.variables = []
        for weight in model.weights:
            if id(weight) in instead:
                self.variables += instead[id(weight)].variables
            else:
                self.variables.append(weight.value)

    def read(self):
        """A context in which the model's layers read what is stored."""
        return keras.StatelessScope(
            [(weight, kept.in_float32()) for weight, kept in self._stored]
        )

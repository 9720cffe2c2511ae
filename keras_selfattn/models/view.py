import keras

from keras_selfattn.layers.penalty_layer import KeepsPenalties
from keras_selfattn.models.portable import ExportsPortably


@keras.saving.register_keras_serializable(package="keras_selfattn")
class View(ExportsPortably, KeepsPenalties, keras.Model):
    """A model of a classifier's inputs that gives what is within it."""

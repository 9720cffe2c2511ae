import keras

from keras_selfattn.layers.penalty_layer import KeepsPenalties


@keras.saving.register_keras_serializable(package="keras_selfattn")
class View(KeepsPenalties, keras.Model):
    """A model of a classifier's inputs that gives what is within it."""

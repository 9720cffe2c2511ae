import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_selfattn")
class LossTypeL2(keras.regularizers.L2):
    """Keras's L2 in the type of the loss, whatever type the weights have.

    TensorFlow adds up no penalties of several types.
    """

    def __call__(self, x):
        return super().__call__(ops.cast(x, keras.config.floatx()))

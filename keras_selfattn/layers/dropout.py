import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import dropping


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Dropout(keras.layers.Dropout):
    """A dropout that costs little, also under XLA.

    A `keras.layers.Dropout` that draws its random numbers by a hash of the
    seed, of the number of the call and of the place of each element: the same
    ones on TensorFlow, JAX and torch, compiled or not. The `rate` is rounded
    to 16 bits, and what is kept is scaled by the rounded one, so that the
    mean of the inputs stays.

    Args:
        rate: Float from 0 to 1, the share of the inputs that training sets to
            zero.
        noise_shape: Tuple of integers, the shape of what is drawn, with `None`
            or 1 where it is that of the inputs or one for all of them; or
            `None`, the default, for the shape of the inputs.
        seed: Integer that makes the dropout repeat itself, or `None`, the
            default.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of any shape.
        training: Boolean, whether to drop; otherwise the inputs are returned
            as they are.

    Returns:
        A tensor of the shape of the inputs.

    Raises:
        ValueError: if `rate` is not from 0 to 1, or `seed` no integer.

    Example:

    >>> import numpy as np
    >>> layer = Dropout(0.5, seed=0)
    >>> outputs = layer(np.ones((100, 100), dtype="float32"), training=True)
    >>> np.unique(keras.ops.convert_to_numpy(outputs)).tolist()
    [0.0, 2.0]
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        # Keras looks at no seed where nothing is dropped.
        validation.seed(seed)
        super().__init__(rate, noise_shape=noise_shape, seed=seed, **kwargs)

    def get_build_config(self):
        # Keras builds it when it is made, and no second time from a file.
        return None

    def call(self, inputs, training=False):
        inputs = ops.cast(inputs, self.compute_dtype)
        if not training or not self.rate:
            return inputs
        if self.rate == 1:
            return ops.zeros_like(inputs)
        return dropping.drop(
            inputs, self.rate, self.seed_generator, self._drawn_shape(inputs)
        )

    def _drawn_shape(self, inputs):
        if self.noise_shape is None:
            return None
        sizes = zip(self.noise_shape, ops.shape(inputs), strict=True)
        return tuple(size if own is None else own for own, size in sizes)

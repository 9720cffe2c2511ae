import keras
from keras import ops

from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_shapes
from keras_selfattn.layers.penalty_layer import PenaltyLayer
from keras_selfattn.layers.shapes import spec


@keras.saving.register_keras_serializable(package="keras_selfattn")
class SummedLogits(TakesPair, PenaltyLayer):
    """The logits of a model of two parts, the sum of theirs.

    `logits = deep + wide`

    Args:
        ambiguity_regularizer: Penalty on the logits of both parts, such as
            `keras_selfattn.regularizers.Ambiguity`. It is added to the
            model's losses, once for each call. Defaults to `None`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Pair of tensors `(deep, wide)` of shape
            `(batch, num_classes)`.

    Returns:
        A tensor of shape `(batch, num_classes)`.

    Raises:
        ValueError: if the inputs are not a pair of rank 2 with the same batch
            and classes.

    References:
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep

    Example:

    >>> import numpy as np
    >>> from keras_selfattn.regularizers import Ambiguity
    >>> layer = SummedLogits(ambiguity_regularizer=Ambiguity(1.0))
    >>> deep = np.array([[3.0, 1.0]], dtype="float32")
    >>> wide = np.array([[0.0, 1.0]], dtype="float32")
    >>> keras.ops.convert_to_numpy(layer((deep, wide))).tolist()
    [[3.0, 2.0]]
    >>> round(float(layer.losses[0]), 4)
    0.7593
    """

    input_names = ("deep", "wide")

    def __init__(self, ambiguity_regularizer=None, **kwargs):
        super().__init__(**kwargs)
        self.ambiguity_regularizer = keras.regularizers.get(
            ambiguity_regularizer
        )

    def build(self, input_shape):
        pair_of_shapes(
            input_shape, ("batch", "classes"), self.input_names, self
        )
        self.input_spec = [spec(each, -1) for each in input_shape]

    def call(self, inputs):
        parts = ops.stack(
            [
                ops.cast(logits, self.compute_dtype)
                for logits in pair(inputs, self.input_names, self)
            ]
        )
        if self.ambiguity_regularizer is not None:
            self.add_loss(self.ambiguity_regularizer(parts))
        # Addition takes the logits of no rows for a bias, which it refuses.
        return ops.sum(parts, axis=0)

    def compute_output_shape(self, input_shape):
        return tuple(input_shape[0])

    def get_config(self):
        return {
            **super().get_config(),
            "ambiguity_regularizer": keras.regularizers.serialize(
                self.ambiguity_regularizer
            ),
        }

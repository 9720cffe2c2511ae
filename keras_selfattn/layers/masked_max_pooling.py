import keras
from keras import ops

from keras_selfattn.layers.masked_pooling import MaskedPooling
from keras_selfattn.layers.masking import masked_max


@keras.saving.register_keras_serializable(package="keras_selfattn")
class MaskedMaxPooling(MaskedPooling):
    """The maximum of each feature over the steps: `v_d = max_t h_td`.

    Args:
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
            A row without any step gives zeros.
        return_attention_scores: Boolean, whether to return as well, of shape
            `(batch, 1, n)` and float32, the part of the features that have
            their maximum at each step. Defaults to `False`.

    Returns:
        A tensor of shape `(batch, D)`.

    Raises:
        ValueError: if the inputs are not of rank 3, or if the mask does not
            fit them.

    Example:

    >>> import numpy as np
    >>> states = np.array([[[1.0, 5.0], [3.0, 4.0], [9.0, 9.0]]])
    >>> mask = np.array([[True, True, False]])
    >>> np.array(MaskedMaxPooling()(states, mask=mask)).tolist()
    [[3.0, 5.0]]
    """

    def pool(self, inputs, mask):
        return masked_max(inputs, mask)

    def compute_shares(self, inputs, mask):
        highest = ops.expand_dims(self.pool(inputs, mask), 1)
        is_highest = ops.logical_and(
            ops.expand_dims(mask, -1), ops.equal(inputs, highest)
        )
        # Of equal steps the first.
        count = ops.cumsum(ops.cast(is_highest, "int32"), axis=1)
        first = ops.logical_and(is_highest, ops.equal(count, 1))
        return ops.mean(ops.cast(first, "float32"), axis=-1)

import keras
from keras import ops

from keras_selfattn.layers.masked_pooling import MaskedPooling
from keras_selfattn.layers.masking import masked_mean
from keras_selfattn.layers.masking import masked_softmax


@keras.saving.register_keras_serializable(package="keras_selfattn")
class MaskedMeanPooling(MaskedPooling):
    """The mean of each feature over the steps: `v = 1/n Σ_t h_t`.

    Args:
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
            A row without any step gives zeros.
        return_attention_scores: Boolean, whether to return as well, of shape
            `(batch, 1, n)` and float32, the equal weight of each kept step.
            Defaults to `False`.

    Returns:
        A tensor of shape `(batch, D)`.

    Raises:
        ValueError: if the inputs are not of rank 3, or if the mask does not
            fit them.

    Example:

    >>> import numpy as np
    >>> states = np.array([[[1.0, 5.0], [3.0, 4.0], [9.0, 9.0]]])
    >>> mask = np.array([[True, True, False]])
    >>> np.array(MaskedMeanPooling()(states, mask=mask)).tolist()
    [[2.0, 4.5]]
    """

    def pool(self, inputs, mask):
        return masked_mean(inputs, mask)

    def compute_shares(self, inputs, mask):
        return masked_softmax(ops.zeros_like(inputs[..., 0]), mask, axis=-1)

"""The poolings that the papers compare with: maximum, mean and last state."""

import keras
from keras import ops

from keras_selfattn.layers import validation
from keras_selfattn.layers.masking import masked_max
from keras_selfattn.layers.masking import masked_mean
from keras_selfattn.layers.masking import masked_softmax
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked

_AXES = ("batch", "steps", "features")


class MaskedPooling(keras.layers.Layer):
    """A pooling of `(batch, n, D)` over the steps that the mask keeps.

    Subclasses say how to `pool` and which share each step has in the result.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        validation.rank(input_shape, _AXES, self)

    def call(self, inputs, mask=None, return_attention_scores=False):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.compute_dtype)
        pooled = self.pool(inputs, mask)
        if not return_attention_scores:
            return pooled
        shares = ops.cast(self.compute_shares(inputs, mask), "float32")
        return pooled, ops.expand_dims(shares, 1)

    def pool(self, inputs, mask):
        raise NotImplementedError

    def compute_shares(self, inputs, mask):
        """The share `(batch, n)` of each step in the result."""
        raise NotImplementedError

    def compute_mask(self, inputs, mask=None):
        return None

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])

    def compute_output_spec(self, *args, **kwargs):
        # Traced, because the shares are float32 under every dtype policy.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)


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


@keras.saving.register_keras_serializable(package="keras_selfattn")
class LastPooling(MaskedPooling):
    """The last state of each direction of a bidirectional encoder.

    The first half of the features is the forward direction's, taken at the
    last kept step; the second half is the backward direction's, taken at the
    first kept step: `v = [h→_n; h←_1]`.

    Args:
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`, `D` even.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
            A row without any step gives zeros.
        return_attention_scores: Boolean, whether to return as well, of shape
            `(batch, 1, n)` and float32, the part of the features that comes
            from each step. Defaults to `False`.

    Returns:
        A tensor of shape `(batch, D)`.

    Raises:
        ValueError: if the inputs are not of rank 3, if `D` is odd, or if the
            mask does not fit the inputs.

    Example:

    >>> import numpy as np
    >>> states = np.array([[[1.0, 5.0], [3.0, 4.0], [9.0, 9.0]]])
    >>> mask = np.array([[True, True, False]])
    >>> np.array(LastPooling()(states, mask=mask)).tolist()
    [[3.0, 5.0]]
    """

    def build(self, input_shape):
        super().build(input_shape)
        features = validation.static_axis(input_shape, -1, "features", self)
        if features % 2:
            raise ValueError(
                "LastPooling takes an even number of features, a forward and "
                "a backward half. Received: inputs of shape "
                f"{tuple(input_shape)}"
            )

    def pool(self, inputs, mask):
        first, last = self._ends(mask)
        forward, backward = ops.split(inputs, 2, axis=-1)
        ends = (
            zero_masked(forward, last),
            zero_masked(backward, first),
        )
        return ops.concatenate([ops.sum(end, axis=1) for end in ends], -1)

    def compute_shares(self, inputs, mask):
        first, last = self._ends(mask)
        return (ops.cast(first, "float32") + ops.cast(last, "float32")) / 2

    def _ends(self, mask):
        """Where the first and where the last kept step is, `(batch, n)`."""
        count = ops.cumsum(ops.cast(mask, "int32"), axis=1)
        first = ops.logical_and(mask, ops.equal(count, 1))
        last = ops.logical_and(mask, ops.equal(count, count[:, -1:]))
        return first, last

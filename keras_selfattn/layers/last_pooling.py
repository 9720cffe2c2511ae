import keras
from keras import ops

from keras_selfattn.layers import shapes
from keras_selfattn.layers.masked_pooling import MaskedPooling
from keras_selfattn.layers.masking import zero_masked


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
        features = shapes.static_axis(input_shape, -1, "features", self)
        self.input_spec = shapes.spec(input_shape, -1)
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

import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.dropout import Dropout
from keras_selfattn.layers.masking import check_mask_shape
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked


@keras.saving.register_keras_serializable(package="keras_selfattn")
class MaskedConv1D(keras.layers.Conv1D):
    """A convolution over words that reads padding as zeros.

    A `keras.layers.Conv1D` with `"same"` padding, one output step for each
    input step, that takes a mask and hands it on; masked steps give zeros.

    Args:
        filters: Integer, the number of features of the output.
        kernel_size: Integer, the number of words each output step sees.
        dropout: Float, the part of the inputs to drop in training. Defaults
            to `0.0`.
        **kwargs: Arguments of `keras.layers.Conv1D`, but for `padding` and
            `strides`; `data_format` is `"channels_last"`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
        training: Boolean, whether to apply the dropout.

    Returns:
        A tensor of shape `(batch, n, filters)`.

    Raises:
        ValueError: if an argument is out of its range, if `padding` or
            `strides` is given, or if the mask does not fit the inputs.

    Example:

    >>> import numpy as np
    >>> layer = MaskedConv1D(filters=4, kernel_size=3, activation="relu")
    >>> tuple(layer(np.ones((2, 5, 6), dtype="float32")).shape)
    (2, 5, 4)
    """

    def __init__(self, filters, kernel_size, dropout=0.0, **kwargs):
        for name in ("padding", "strides"):
            if name in kwargs:
                raise ValueError(
                    "MaskedConv1D gives one output step for each input step, "
                    f"and takes no `{name}`. Received: {name}={kwargs[name]!r}"
                )
        # Whatever Keras's own setting is: words have their features last.
        data_format = kwargs.pop("data_format", None) or "channels_last"
        if data_format != "channels_last":
            raise ValueError(
                "MaskedConv1D takes inputs with the features last. "
                f"Received: data_format={data_format!r}"
            )
        super().__init__(
            filters,
            kernel_size,
            strides=1,
            padding="same",
            data_format=data_format,
            **kwargs,
        )
        self.dropout = validation.fraction(dropout, "dropout")
        self.input_dropout = Dropout(self.dropout, dtype=self.dtype_policy)
        self.supports_masking = True

    def call(self, inputs, mask=None, training=None):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.compute_dtype)
        inputs = self.input_dropout(inputs, training=training)
        if 0 in inputs.shape[:2]:
            # TensorFlow's convolution gives nothing its inputs' features.
            shape = (*ops.shape(inputs)[:2], self.filters)
            return ops.zeros(shape, dtype=self.compute_dtype)
        return zero_masked(self.convolve(inputs), mask)

    def convolve(self, inputs):
        """The outputs before those of masked steps are zeros."""
        outputs = self.convolution_op(inputs, self.kernel)
        # There may be none in a graph too, which would drop a reshaping that
        # changes nothing else.
        is_flat = None in inputs.shape[:2]
        if is_flat:
            outputs = ops.reshape(outputs, (-1, self.filters))
        if self.use_bias and self.compute_dtype == "bfloat16":
            # The fused one's gradient is a sum in 16 bits, of 256 at most.
            outputs = outputs + self.bias
        elif self.use_bias:
            outputs = ops.add(outputs, self.bias)
        if is_flat:
            shape = (*ops.shape(inputs)[:2], self.filters)
            outputs = ops.reshape(outputs, shape)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_spec(self, inputs, mask=None, training=None):
        check_mask_shape(mask, inputs)
        return super().compute_output_spec(inputs)

    def get_config(self):
        config = super().get_config()
        del config["padding"], config["strides"]
        return {**config, "dropout": self.dropout}

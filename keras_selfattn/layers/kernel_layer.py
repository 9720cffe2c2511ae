import keras

_KINDS = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}


class KernelLayer(keras.layers.Layer):
    """A layer with kernels and biases, set up as in `keras.layers.Dense`."""

    def __init__(
        self,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.supports_masking = True

    def add_kernel(self, name, shape, matrices=1, **kwargs):
        """A weight with the kernels' initializer, regularizer, constraint.

        One initializer object gives the same values at every call, so each
        kernel gets a copy of it: kernels of one shape would start equal.

        Args:
            name: Name of the weight.
            shape: Its shape.
            matrices: Integer, 1 unless the kernel is a stack of this many
                matrices along its first axis.
            **kwargs: Further arguments of `add_weight`.

        Returns:
            The variable.
        """
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=_by_matrix(self.kernel_initializer, matrices),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            **kwargs,
        )

    def add_bias(self, name, shape, **kwargs):
        """A weight with the biases' initializer, regularizer, constraint."""
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
            **kwargs,
        )

    def get_config(self):
        config = super().get_config()
        for role in ("kernel", "bias"):
            for kind, module in _KINDS.items():
                key = f"{role}_{kind}"
                config[key] = module.serialize(getattr(self, key))
        return config


def _by_matrix(initializer, matrices):
    if isinstance(initializer, keras.initializers.Initializer):
        initializer = initializer.clone()
    if matrices == 1 or not isinstance(
        initializer, keras.initializers.VarianceScaling
    ):
        return initializer
    # Variance scaling takes the first axis for a convolution's window and
    # divides the variance by its size.
    return lambda shape, dtype=None: matrices**0.5 * initializer(shape, dtype)

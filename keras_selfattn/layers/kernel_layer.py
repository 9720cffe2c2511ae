import keras

_KINDS = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}


class KernelLayer(keras.layers.Layer):
    """A layer with kernels and biases, set up as in `keras.layers.Dense`.

    Args:
        kernel_initializer: Initializer of each kernel. Defaults to
            `"glorot_uniform"`.
        bias_initializer: Initializer of each bias. Defaults to `"zeros"`.
        kernel_regularizer: Regularizer of each kernel.
        bias_regularizer: Regularizer of each bias.
        kernel_constraint: Constraint on each kernel.
        bias_constraint: Constraint on each bias.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

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

    def add_kernel(self, name, shape):
        """A weight with the kernels' initializer, regularizer, constraint."""
        return self._add("kernel", name, shape)

    def add_bias(self, name, shape):
        """A weight with the biases' initializer, regularizer, constraint."""
        return self._add("bias", name, shape)

    def _add(self, role, name, shape):
        settings = {kind: getattr(self, f"{role}_{kind}") for kind in _KINDS}
        return self.add_weight(name=name, shape=shape, **settings)

    def get_config(self):
        config = super().get_config()
        for role in ("kernel", "bias"):
            for kind, module in _KINDS.items():
                key = f"{role}_{kind}"
                config[key] = module.serialize(getattr(self, key))
        return config

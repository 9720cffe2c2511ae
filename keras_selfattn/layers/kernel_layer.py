import keras
from keras import ops

_KINDS = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}

# Whose values of a stack are not those of its matrices.
_OF_MATRICES = (
    keras.initializers.OrthogonalInitializer,
    keras.initializers.IdentityInitializer,
)


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

    @property
    def hidden_dtype(self):
        """The type of hidden units that float16, ending at 65,504, can't hold.

        Under a policy of float16 it is float32, otherwise the policy's own.
        """
        if self.compute_dtype == "float16":
            return "float32"
        return self.compute_dtype

    def add_kernel(self, name, shape, matrices=None, **kwargs):
        """A weight with the kernels' initializer, regularizer, constraint.

        One initializer object gives the same values at every call, so each
        kernel gets a copy of it: kernels of one shape would start equal.

        Args:
            name: Name of the weight.
            shape: Its shape.
            matrices: Integer, where the kernel is a stack of this many
                matrices along its first axis, each of which is set up as the
                kernel of a `keras.layers.Dense`; or `None`, the default.
            **kwargs: Further arguments of `add_weight`.

        Returns:
            The variable.
        """
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=_by_matrix(self.kernel_initializer, matrices),
            regularizer=self.kernel_regularizer,
            constraint=_of_each(self.kernel_constraint, matrices),
            **kwargs,
        )

    def add_bias(self, name, shape, vectors=None, **kwargs):
        """A weight with the biases' initializer, regularizer, constraint.

        Args:
            name: Name of the weight.
            shape: Its shape.
            vectors: Integer, where the bias is a stack of this many vectors
                along its first axis, each of which is constrained as the bias
                of a `keras.layers.Dense`; or `None`, the default.
            **kwargs: Further arguments of `add_weight`.

        Returns:
            The variable.
        """
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=_of_each(self.bias_constraint, vectors),
            **kwargs,
        )

    def get_config(self):
        config = super().get_config()
        for role in ("kernel", "bias"):
            for kind, module in _KINDS.items():
                key = f"{role}_{kind}"
                config[key] = module.serialize(getattr(self, key))
        return config


class _OfEach(keras.constraints.Constraint):
    """A constraint on each part of a stack along the first axis."""

    def __init__(self, constraint):
        self.constraint = constraint

    def __call__(self, w):
        # `vectorized_map` refuses a constraint that looks at the values.
        parts = ops.unstack(ops.convert_to_tensor(w))
        return ops.stack([self.constraint(part) for part in parts])


def _of_each(constraint, parts):
    if constraint is None or parts is None:
        return constraint
    return _OfEach(constraint)


def _by_matrix(initializer, matrices):
    if isinstance(initializer, keras.initializers.Initializer):
        initializer = initializer.clone()
    if matrices is None:
        return initializer
    if isinstance(initializer, _OF_MATRICES):
        each = _apart(initializer, matrices)
        return lambda shape, dtype=None: ops.stack(
            [one(shape[1:], dtype) for one in each]
        )
    if not isinstance(initializer, keras.initializers.VarianceScaling):
        return initializer
    # Variance scaling takes the first axis for a convolution's window and
    # divides the variance by its size.
    return lambda shape, dtype=None: matrices**0.5 * initializer(shape, dtype)


def _apart(initializer, count):
    """Copies of an initializer that give other values, each its own."""
    config = initializer.get_config()
    seed = config.get("seed")
    if isinstance(seed, int):
        return [
            initializer.from_config({**config, "seed": seed + number})
            for number in range(count)
        ]
    if seed is None:
        return [initializer.clone() for _ in range(count)]
    # A generator gives another seed at every call.
    return [initializer] * count

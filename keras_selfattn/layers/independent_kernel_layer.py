import keras

from keras_selfattn.layers.kernel_layer import KernelLayer


class IndependentKernelLayer(KernelLayer):
    """A layer of several kernels, each drawn by itself and at its own scale.

    One initializer object gives the same values at every call, so each kernel
    gets a copy of it: kernels of one shape would otherwise start equal.

    Args:
        **kwargs: Arguments of `KernelLayer`.
    """

    def add_kernel(self, name, shape, matrices=1, **kwargs):
        """A weight with the kernels' initializer, regularizer, constraint.

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

import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import shapes
from keras_selfattn.layers.kernel_layer import KernelLayer
from keras_selfattn.layers.masking import saturating_cast
from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_shapes


@keras.saving.register_keras_serializable(package="keras_selfattn")
class GatedEncoder(TakesPair, KernelLayer):
    """Gated encoder: how two sentence embeddings relate, row by row.

    Inputs are the embeddings `L` and `R` of two sentences, each of shape
    `(batch, r, D)`. Row `i` of each is multiplied with a matrix of its own,
    and the products with one another:

    `outputs[i] = (L[i] left_kernel[i]) ⊙ (R[i] right_kernel[i])`

    Under a policy of float16 it computes in float32, and what is too large
    for float16 becomes its largest number, 65,504, with its sign.

    Args:
        units: Integer, the length of each row of the outputs.
        **kwargs: The initializer, regularizer and constraint of the kernels,
            as in `keras.layers.Dense`, and the arguments of
            `keras.layers.Layer`. There are no biases.

    Call arguments:
        inputs: Pair of tensors of shape `(batch, r, D)`, left and right.

    Returns:
        A tensor of shape `(batch, r, units)`.

    Raises:
        ValueError: if `units` is not positive, if the inputs are not a pair
            of rank 3, or if their shapes differ.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), equations 10
            to 12

    Example:

    >>> import numpy as np
    >>> layer = GatedEncoder(units=2, kernel_initializer="ones")
    >>> left = np.array([[[1.0, 2.0], [0.0, 1.0]]])
    >>> right = np.array([[[1.0, 1.0], [3.0, 4.0]]])
    >>> keras.ops.convert_to_numpy(layer((left, right))).tolist()
    [[[6.0, 6.0], [7.0, 7.0]]]
    """

    input_names = ("left", "right")

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = validation.integer(units, "units")

    def build(self, input_shape):
        axes = ("batch", "rows", "features")
        left, right = pair_of_shapes(input_shape, axes, self.input_names, self)
        rows = shapes.static_axis(left, 1, "rows", self)
        features = shapes.static_axis(left, -1, "features", self)
        if tuple(left[1:]) != tuple(right[1:]):
            raise ValueError(
                "GatedEncoder takes two inputs with the same rows and "
                f"features. Received: inputs of shapes {tuple(left)} (left) "
                f"and {tuple(right)} (right)"
            )
        self.input_spec = [shapes.spec(left, 1, -1)] * 2
        shape = (rows, features, self.units)
        self.left_kernel, self.right_kernel = (
            self.add_kernel(
                f"{name}_kernel", shape, matrices=rows, autocast=False
            )
            for name in self.input_names
        )

    def call(self, inputs):
        dtype = self.hidden_dtype
        left, right = (
            ops.einsum(
                "brd,rdk->brk", ops.cast(side, dtype), ops.cast(kernel, dtype)
            )
            for side, kernel in zip(
                pair(inputs, self.input_names, self),
                (self.left_kernel, self.right_kernel),
                strict=True,
            )
        )
        return saturating_cast(left * right, self.compute_dtype)

    def compute_mask(self, inputs, mask=None):
        # The rows are heads, not steps.
        return None

    def compute_output_shape(self, input_shape):
        left, _ = input_shape
        return (*left[:2], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units}

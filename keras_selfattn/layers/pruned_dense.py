import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import shapes
from keras_selfattn.layers.kernel_layer import KernelLayer


@keras.saving.register_keras_serializable(package="keras_selfattn")
class PrunedDense(KernelLayer):
    """A dense layer on a matrix that keeps only few of its connections.

    Inputs are sentence embeddings `M` of shape `(batch, r, D)`. Every row has
    `row_units` units connected with that row alone, and every column has
    `column_units` units connected with that column alone:

    `rows[i] = activation(M[i] row_kernel[i] + row_bias[i])`

    `columns[j] = activation(M[:, j] column_kernel[j] + column_bias[j])`

    That is `r D row_units + D r column_units` weights, where a dense layer of
    `b` units on the flattened matrix has `r D b`. Rows and columns are
    matrices again, so that the pruning may be stacked on either.

    Args:
        row_units: Integer, the units of each row, or `None` for no rows.
            Defaults to `None`.
        column_units: Integer, the units of each column, or `None` for no
            columns. Defaults to `None`. One of the two must be given.
        activation: Activation of the units. Defaults to `"relu"`.
        use_bias: Boolean, whether to add biases. Defaults to `True`.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for both kernels
            and both biases, and the arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, r, D)`; both `r` and `D` must be
            known when the layer is built.

    Returns:
        The rows, of shape `(batch, r, row_units)`, and the columns, of shape
        `(batch, D, column_units)`; a single tensor where one of the two units
        is `None`.

    Raises:
        ValueError: if both units are `None` or one is not positive, if the
            inputs are not of rank 3, or if `r` or `D` is not known.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), appendix A

    Example:

    >>> import numpy as np
    >>> layer = PrunedDense(
    ...     row_units=1, column_units=2, kernel_initializer="ones"
    ... )
    >>> rows, columns = layer(np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]))
    >>> keras.ops.convert_to_numpy(rows).tolist()
    [[[6.0], [15.0]]]
    >>> keras.ops.convert_to_numpy(columns).tolist()
    [[[5.0, 5.0], [7.0, 7.0], [9.0, 9.0]]]
    """

    def __init__(
        self,
        row_units=None,
        column_units=None,
        activation="relu",
        use_bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if row_units is None and column_units is None:
            raise ValueError(
                "PrunedDense needs `row_units`, `column_units` or both. "
                "Received: row_units=None, column_units=None"
            )
        self.row_units = self.column_units = None
        if row_units is not None:
            self.row_units = validation.integer(row_units, "row_units")
        if column_units is not None:
            self.column_units = validation.integer(column_units, "column_units")
        self.activation = keras.activations.get(activation)
        self.use_bias = validation.boolean(use_bias, "use_bias")

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "rows", "columns"), self)
        rows = shapes.static_axis(input_shape, 1, "rows", self)
        columns = shapes.static_axis(input_shape, 2, "columns", self)
        self.input_spec = shapes.spec(input_shape, 1, 2)
        if self.row_units is not None:
            self.row_kernel, self.row_bias = self.add_units(
                "row", rows, columns, self.row_units
            )
        if self.column_units is not None:
            self.column_kernel, self.column_bias = self.add_units(
                "column", columns, rows, self.column_units
            )

    def add_units(self, name, groups, features, units):
        """A kernel, and a bias or `None`, for `units` units of each group."""
        kernel = self.add_kernel(
            f"{name}_kernel", (groups, features, units), matrices=groups
        )
        if not self.use_bias:
            return kernel, None
        return kernel, self.add_bias(
            f"{name}_bias", (groups, units), vectors=groups
        )

    def call(self, inputs):
        inputs = ops.cast(inputs, self.compute_dtype)
        outputs = []
        if self.row_units is not None:
            rows = ops.einsum("brd,rdp->brp", inputs, self.row_kernel)
            outputs.append(self.activate(rows, self.row_bias))
        if self.column_units is not None:
            columns = ops.einsum("brd,drq->bdq", inputs, self.column_kernel)
            outputs.append(self.activate(columns, self.column_bias))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def activate(self, products, bias):
        """The activation of the products plus the bias, if there is one."""
        return self.activation(products if bias is None else products + bias)

    def compute_mask(self, inputs, mask=None):
        # The rows are heads, not steps.
        return None

    def compute_output_shape(self, input_shape):
        batch, rows, columns = input_shape
        shapes = []
        if self.row_units is not None:
            shapes.append((batch, rows, self.row_units))
        if self.column_units is not None:
            shapes.append((batch, columns, self.column_units))
        return shapes[0] if len(shapes) == 1 else tuple(shapes)

    def get_config(self):
        return {
            **super().get_config(),
            "row_units": self.row_units,
            "column_units": self.column_units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
        }

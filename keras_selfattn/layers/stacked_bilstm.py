import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import padding
from keras_selfattn.layers import shapes
from keras_selfattn.layers.dropout import Dropout
from keras_selfattn.layers.masking import check_mask_shape
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked

# By its name, what `keras.layers.LSTM` calls it.
IMPLEMENTATIONS = {"auto": "auto", "cudnn": True, "keras": False}


@keras.saving.register_keras_serializable(package="keras_selfattn")
class StackedBiLSTM(keras.layers.Layer):
    """Bidirectional LSTMs on top of each other, with shortcuts.

    With `e` the inputs and `h^0` nothing, layer `l` computes, at each step,

    `h^l = [LSTM→([e; h^(l-1)]); LSTM←([e; h^(l-1)])]`

    and the states of the last layer are returned. Masked steps are passed
    over, wherever they are, and give zeros.

    Args:
        units: Integer, or a sequence of one integer a layer: the width of
            each direction.
        shortcut: Boolean, whether the layers after the first read the inputs
            as well as the layer below. Defaults to `True`.
        dropout: Float, the part of each layer's input to drop in training.
            Defaults to `0.0`.
        use_cudnn: The older name of `implementation`, whose values are
            `"auto"`, `True` for `"cudnn"` and `False` for `"keras"`.
        seed: Integer, the seed of the dropout. Defaults to `None`.
        implementation: The code that runs the LSTMs. `"keras"` is that of
            `keras.layers.LSTM`, a loop that XLA can compile. `"cudnn"` is
            cuDNN's, for a GPU and padding on the right. `"auto"` is the
            fastest there is: cuDNN on a GPU; under TensorFlow on a CPU, in
            float32 and bfloat16, a loop that leaves padding out, and which
            can't be compiled by XLA once it is part of a `tf.function` or a
            SavedModel; on torch, in float32, PyTorch's own, which takes any
            padding and gives no gradients of gradients on a CPU; Keras's
            elsewhere. Defaults to `"auto"`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
        training: Boolean, whether to apply the dropout.

    Returns:
        A tensor of shape `(batch, n, 2 * units[-1])`.

    Raises:
        ValueError: if an argument is out of its range, if the inputs are not
            of rank 3, or if the mask does not fit them.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), equation 4
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828), equations 1
            to 3

    Example:

    >>> import numpy as np
    >>> layer = StackedBiLSTM([4, 3])
    >>> tuple(layer(np.ones((2, 5, 6), dtype="float32")).shape)
    (2, 5, 6)
    """

    def __init__(
        self,
        units,
        shortcut=True,
        dropout=0.0,
        use_cudnn="auto",
        seed=None,
        implementation=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        units = [units] if isinstance(units, int) else units
        self.units = validation.widths(units, "units")
        self.shortcut = validation.boolean(shortcut, "shortcut")
        self.dropout = validation.fraction(dropout, "dropout")
        self.implementation = _implementation(implementation, use_cudnn)
        self.seed = validation.seed(seed)
        self.supports_masking = True
        self.directions = [
            keras.layers.Bidirectional(
                keras.layers.LSTM(
                    width,
                    return_sequences=True,
                    name="lstm",
                    use_cudnn=self.use_cudnn,
                    dtype=self.dtype_policy,
                ),
                dtype=self.dtype_policy,
                name=f"bilstm_{number}",
            )
            for number, width in enumerate(self.units, start=1)
        ]
        self.dropouts = [
            Dropout(
                self.dropout,
                seed=None if seed is None else seed + number,
                dtype=self.dtype_policy,
            )
            for number in range(len(self.units))
        ]

    @property
    def use_cudnn(self):
        return IMPLEMENTATIONS[self.implementation]

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "steps", "features"), self)
        features = shapes.static_axis(input_shape, -1, "features", self)
        self.input_spec = shapes.spec(input_shape, -1)
        width = features
        for layer, units in zip(self.directions, self.units, strict=True):
            if not layer.built:
                layer.build((*input_shape[:-1], width))
            width = 2 * units + (features if self.shortcut else 0)
        if not self.trainable:
            # Keras tells layers within others only where it changes.
            for layer in self.directions:
                layer.trainable = False

    def call(self, inputs, mask=None, training=None):
        mask = validate_mask(mask, inputs)
        inputs = ops.cast(inputs, self.compute_dtype)
        if 0 in inputs.shape[:2]:
            # Not every loop over the steps can do without one.
            shape = (*ops.shape(inputs)[:2], 2 * self.units[-1])
            return ops.zeros(shape, dtype=self.compute_dtype)
        if self.implementation == "auto" and padding.packs_lstm(
            self.compute_dtype
        ):
            return padding.packed_bilstms(
                lambda run, packed: self._stack(run, packed, training),
                inputs,
                mask,
                training,
            )

        def run(layer, below):
            states = layer(below, mask=mask, training=training)
            # A masked step repeats the state before it.
            return zero_masked(states, mask)

        return self._stack(run, zero_masked(inputs, mask), training)

    def _stack(self, run, inputs, training):
        """The states of the last layer, where `run(layer, inputs)` runs one."""
        states = None
        for layer, dropout in zip(self.directions, self.dropouts, strict=True):
            if states is None:
                below = inputs
            elif self.shortcut:
                below = ops.concatenate([inputs, states], axis=-1)
            else:
                below = states
            states = run(layer, dropout(below, training=training))
        return states

    def compute_output_spec(self, inputs, mask=None, training=None):
        check_mask_shape(mask, inputs)
        return super().compute_output_spec(inputs)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * self.units[-1])

    def get_config(self):
        return {
            **super().get_config(),
            "units": list(self.units),
            "shortcut": self.shortcut,
            "dropout": self.dropout,
            "use_cudnn": self.use_cudnn,
            "seed": self.seed,
            "implementation": self.implementation,
        }


def _implementation(implementation, use_cudnn):
    if implementation is None:
        known = {value: name for name, value in IMPLEMENTATIONS.items()}
        if not isinstance(use_cudnn, (str, bool)) or use_cudnn not in known:
            raise ValueError(
                "`use_cudnn` must be 'auto', True or False. "
                f"Received: use_cudnn={use_cudnn!r}"
            )
        return known[use_cudnn]
    validation.one_of(implementation, IMPLEMENTATIONS, "implementation")
    if use_cudnn not in ("auto", IMPLEMENTATIONS[implementation]):
        raise ValueError(
            "`use_cudnn` is the older name of `implementation`: expected one "
            f"of them. Received: use_cudnn={use_cudnn!r}, "
            f"implementation={implementation!r}"
        )
    return implementation

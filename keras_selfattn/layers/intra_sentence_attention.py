import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import shapes
from keras_selfattn.layers.feed_forward_layer import FeedForwardLayer
from keras_selfattn.layers.masking import masked_softmax
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked
from keras_selfattn.layers.padding import kept_steps


@keras.saving.register_keras_serializable(package="keras_selfattn")
class IntraSentenceAttention(FeedForwardLayer):
    """Intra-sentence attention: each word with what it looks at around it.

    Inputs are the words `a` of a sentence, of shape `(batch, n, D)`. With
    `F`, a network of ReLU layers:

    1. `f[i, j] = F(a[i])ᵀ F(a[j])`.
    2. `a'[i] = Σ_j softmax_j(f[i, j] + d(i - j)) a[j]`, where `d` is a
        learned scalar for each distance.
    3. The outputs `[a[i]; a'[i]]`.

    The distance is signed and counts the steps that the mask keeps. The
    weight `distance_bias`, of shape `(2 * max_distance + 2,)`, holds `d` for
    the distances from `-max_distance` to `max_distance` and, last, the one
    that all longer distances share, to either side.

    Args:
        attention_units: Sequence of integers, the width of each layer of `F`.
            Defaults to `(200, 200)`.
        max_distance: Integer, the longest distance with a bias of its own.
            Defaults to `10`.
        dropout: Float from 0 up to, but not including, 1. The share of the
            inputs of each ReLU layer that training sets to zero. Defaults to
            `0.0`.
        seed: Integer that makes the dropout repeat itself, or `None`, the
            default.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for all kernels
            and all biases, and the arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
            Where `None`, the mask that comes with the inputs is used; without
            one all steps count. Masked steps get scores of exactly 0 and
            outputs of 0. The outputs carry the mask on.
        training: Boolean, whether dropout is on.
        return_attention_scores: Boolean, whether to return the attention
            scores as well. Defaults to `False`.

    Returns:
        A tensor of shape `(batch, n, 2 * D)` and, with
        `return_attention_scores=True`, the float32 scores, of shape
        `(batch, n, n)`: row `i` holds how step `i` looks at the others.

    Raises:
        ValueError: if an argument is out of its range, if the inputs are not
            of rank 3, or if the mask does not fit them.

    References:
        - [Parikh et al., 2016](https://arxiv.org/abs/1606.01933), section 4

    Example:

    >>> import numpy as np
    >>> layer = IntraSentenceAttention(attention_units=(4,), max_distance=2)
    >>> words = np.ones((2, 3, 5), dtype="float32")
    >>> outputs, scores = layer(words, return_attention_scores=True)
    >>> tuple(outputs.shape), tuple(scores.shape)
    ((2, 3, 10), (2, 3, 3))
    """

    def __init__(
        self,
        attention_units=(200, 200),
        max_distance=10,
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.attention_units = validation.widths(
            attention_units, "attention_units"
        )
        self.max_distance = validation.integer(max_distance, "max_distance")

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "steps", "features"), self)
        features = shapes.static_axis(input_shape, -1, "features", self)
        self.input_spec = shapes.spec(input_shape, -1)
        self.attention = self.add_network(
            "attention", features, self.attention_units
        )
        self.distance_bias = self.add_bias(
            "distance_bias", (2 * self.max_distance + 2,)
        )

    def call(
        self, inputs, mask=None, training=None, return_attention_scores=False
    ):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.hidden_dtype)
        scores = self.compute_scores(inputs, mask, training)
        aligned = ops.matmul(ops.cast(scores, inputs.dtype), inputs)
        outputs = ops.cast(
            ops.concatenate([inputs, aligned], axis=-1), self.compute_dtype
        )
        return (outputs, scores) if return_attention_scores else outputs

    def compute_scores(self, inputs, mask, training):
        """Attention scores `(batch, n, n)`, in float32."""
        steps = kept_steps(mask, training)
        words = steps.pack(inputs)
        (factors,) = self.dropout_factors([(words, self.attention)], training)
        hidden = steps.unpack(self.run_network(words, self.attention, factors))
        hidden = ops.cast(hidden, "float32")
        logits = ops.matmul(hidden, ops.transpose(hidden, (0, 2, 1)))
        logits = logits + self.distance_biases(mask)
        both_kept = ops.logical_and(
            ops.expand_dims(mask, 2), ops.expand_dims(mask, 1)
        )
        return masked_softmax(logits, both_kept, axis=-1)

    def distance_biases(self, mask):
        """The bias of each pair of steps, `(batch, n, n)`, in float32."""
        positions = ops.cumsum(ops.cast(mask, "int32"), axis=1)
        distances = ops.expand_dims(positions, 2) - ops.expand_dims(
            positions, 1
        )
        beyond = self.max_distance + 1
        distances = ops.clip(distances, -beyond, beyond)
        bias = ops.cast(self.distance_bias, "float32")
        # The shared bias at both ends makes the distance itself the index.
        table = ops.concatenate([bias[-1:], bias])
        return ops.take(table, distances + beyond, axis=0)

    def compute_mask(self, inputs, mask=None):
        return mask

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * input_shape[-1])

    def compute_scores_shape(self, input_shape):
        batch, steps, _ = input_shape
        return (batch, steps, steps)

    def get_config(self):
        return {
            **super().get_config(),
            "attention_units": self.attention_units,
            "max_distance": self.max_distance,
        }

import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import shapes
from keras_selfattn.layers.attention_layer import AttentionLayer
from keras_selfattn.layers.masking import masked_softmax
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked
from keras_selfattn.layers.padding import kept_steps
from keras_selfattn.layers.penalty_layer import PenaltyLayer


@keras.saving.register_keras_serializable(package="keras_selfattn")
class StructuredSelfAttention(PenaltyLayer, AttentionLayer):
    """Structured self-attention: a sentence as a matrix of weighted sums.

    Inputs are the states of the `n` steps of a sentence, `H` of shape
    `(batch, n, D)`. Each of the `num_heads` heads spreads a weight of 1 over
    the steps and returns the weighted sum of the states:

    1. Hidden units `tanh(H hidden_kernel)`, of shape
        `(batch, n, attention_dim)`.
    2. Attention scores
        `A = softmax((tanh(H hidden_kernel) score_kernel)ᵀ)` over the steps,
        of shape `(batch, num_heads, n)`.
    3. The sentence embedding `M = A H`, of shape `(batch, num_heads, D)`.

    Args:
        attention_dim: Integer, the number of hidden units.
        num_heads: Integer, the number of rows of the sentence embedding.
        use_bias: Boolean, whether steps 1 and 2 add a bias. The equations
            have none. Defaults to `False`.
        attention_regularizer: Penalty on the attention scores, such as
            `keras_selfattn.regularizers.Orthogonality`. It is added to the
            loss once per call, in float32. Defaults to `None`.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for both kernels
            and both biases, and the arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
            Where `None`, the mask that comes with the inputs is used; without
            one all steps count. Masked steps get scores of exactly 0, and a
            row without any step gives zeros.
        training: Boolean, whether the layer is being trained, which changes
            no number: masked steps may then be skipped.
        return_attention_scores: Boolean, whether to return the attention
            scores as well. Defaults to `False`.

    Returns:
        The embedding, of shape `(batch, num_heads, D)`, and, with
        `return_attention_scores=True`, the float32 scores, of shape
        `(batch, num_heads, n)`.

    Raises:
        ValueError: if an argument is out of its range, if the inputs are not
            of rank 3, or if the mask does not fit them.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), equations 6
            and 7

    Example:

    >>> import numpy as np
    >>> layer = StructuredSelfAttention(attention_dim=4, num_heads=2)
    >>> states = np.ones((3, 5, 6), dtype="float32")
    >>> embedding, scores = layer(states, return_attention_scores=True)
    >>> tuple(embedding.shape), tuple(scores.shape)
    ((3, 2, 6), (3, 2, 5))
    """

    def __init__(
        self,
        attention_dim,
        num_heads,
        use_bias=False,
        attention_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.attention_dim = validation.integer(attention_dim, "attention_dim")
        self.num_heads = validation.integer(num_heads, "num_heads")
        self.use_bias = validation.boolean(use_bias, "use_bias")
        self.attention_regularizer = keras.regularizers.get(
            attention_regularizer
        )

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "steps", "features"), self)
        features = shapes.static_axis(input_shape, -1, "features", self)
        self.input_spec = shapes.spec(input_shape, -1)
        self.hidden_kernel = self.add_kernel(
            "hidden_kernel", (features, self.attention_dim)
        )
        self.score_kernel = self.add_kernel(
            "score_kernel", (self.attention_dim, self.num_heads)
        )
        self.hidden_bias = self.score_bias = None
        if self.use_bias:
            self.hidden_bias = self.add_bias(
                "hidden_bias", (self.attention_dim,)
            )
            self.score_bias = self.add_bias("score_bias", (self.num_heads,))

    def call(
        self, inputs, mask=None, training=None, return_attention_scores=False
    ):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.hidden_dtype)
        scores = self.compute_scores(inputs, mask, training)
        if self.attention_regularizer is not None:
            self.add_loss(self.attention_regularizer(scores))
        embedding = ops.matmul(ops.cast(scores, inputs.dtype), inputs)
        embedding = ops.cast(embedding, self.compute_dtype)
        return (embedding, scores) if return_attention_scores else embedding

    def compute_scores(self, inputs, mask, training):
        """Attention scores `(batch, num_heads, n)`, in float32."""
        steps = kept_steps(mask, training)
        hidden = ops.tanh(
            self.affine(
                steps.pack(inputs), self.hidden_kernel, self.hidden_bias
            )
        )
        logits = self.affine(
            hidden, self.score_kernel, self.score_bias, "float32"
        )
        logits = ops.transpose(steps.unpack(logits), (0, 2, 1))
        return masked_softmax(logits, ops.expand_dims(mask, 1), axis=-1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.num_heads, input_shape[-1])

    def compute_scores_shape(self, input_shape):
        return (input_shape[0], self.num_heads, input_shape[1])

    def get_config(self):
        return {
            **super().get_config(),
            "attention_dim": self.attention_dim,
            "num_heads": self.num_heads,
            "use_bias": self.use_bias,
            "attention_regularizer": keras.regularizers.serialize(
                self.attention_regularizer
            ),
        }

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
class GeneralizedPooling(PenaltyLayer, AttentionLayer):
    """Generalized pooling: attention that weighs each feature by itself.

    Inputs are the states of the `n` steps of a sentence, `H` of shape
    `(batch, n, D)`. Each of the `num_heads` heads `i` spreads, for every
    feature, a weight of 1 over the steps:

    1. Hidden units
        `activation(H hidden_kernel[i] + hidden_bias[i])`, of shape
        `(batch, n, attention_dim)`.
    2. Attention scores
        `A[i] = softmax(hidden score_kernel[i] + score_bias[i])` over the
        steps, for each feature apart, of shape `(batch, n, D)`.
    3. The sentence embedding `v[i] = Σ_t A[i, t] ⊙ H[t]`, of shape
        `(batch, D)`; all heads together `(batch, num_heads, D)`.

    Mean pooling is the case of a `score_kernel` of zeros, and max pooling the
    limit of scores that grow with the states. The softmax over the steps
    cancels `score_bias`, which is there because the equation has it: its
    gradient is zero but for rounding.

    Args:
        attention_dim: Integer, the number of hidden units of a head.
        num_heads: Integer, the number of rows of the sentence embedding.
        activation: Activation of the hidden units. Defaults to `"relu"`.
        use_bias: Boolean, whether steps 1 and 2 add a bias. Defaults to
            `True`.
        parameter_regularizer: Penalty on the heads' hidden kernels, which it
            gets as `(1, num_heads, D, attention_dim)`, such as
            `keras_selfattn.regularizers.HeadDiversity`. Defaults to `None`.
        attention_regularizer: Penalty on the attention scores
            `(batch, num_heads, n, D)`. Defaults to `None`.
        embedding_regularizer: Penalty on the sentence embedding
            `(batch, num_heads, D)`. Defaults to `None`. All three penalties
            are added to the loss once per call, in float32: a layer that two
            sentences share adds its parameter penalty twice.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for all kernels
            and all biases, and the arguments of `keras.layers.Layer`.

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
        `(batch, num_heads, n, D)`.

    Raises:
        ValueError: if an argument is out of its range, if the inputs are not
            of rank 3, or if the mask does not fit them.

    References:
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828), equations 5
            to 9

    Example:

    >>> import numpy as np
    >>> layer = GeneralizedPooling(attention_dim=4, num_heads=2)
    >>> states = np.ones((3, 5, 6), dtype="float32")
    >>> embedding, scores = layer(states, return_attention_scores=True)
    >>> tuple(embedding.shape), tuple(scores.shape)
    ((3, 2, 6), (3, 2, 5, 6))
    """

    def __init__(
        self,
        attention_dim,
        num_heads,
        activation="relu",
        use_bias=True,
        parameter_regularizer=None,
        attention_regularizer=None,
        embedding_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.attention_dim = validation.integer(attention_dim, "attention_dim")
        self.num_heads = validation.integer(num_heads, "num_heads")
        self.activation = keras.activations.get(activation)
        self.use_bias = validation.boolean(use_bias, "use_bias")
        self.parameter_regularizer = keras.regularizers.get(
            parameter_regularizer
        )
        self.attention_regularizer = keras.regularizers.get(
            attention_regularizer
        )
        self.embedding_regularizer = keras.regularizers.get(
            embedding_regularizer
        )

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "steps", "features"), self)
        features = shapes.static_axis(input_shape, -1, "features", self)
        self.input_spec = shapes.spec(input_shape, -1)
        heads, hidden = self.num_heads, self.attention_dim
        self.hidden_bias = self.score_bias = None
        self.hidden_kernel = self.add_kernel(
            "hidden_kernel", (heads, features, hidden), matrices=heads
        )
        if self.use_bias:
            self.hidden_bias = self.add_bias(
                "hidden_bias", (heads, hidden), vectors=heads
            )
        self.score_kernel = self.add_kernel(
            "score_kernel", (heads, hidden, features), matrices=heads
        )
        if self.use_bias:
            self.score_bias = self.add_bias(
                "score_bias", (heads, features), vectors=heads
            )

    def call(
        self, inputs, mask=None, training=None, return_attention_scores=False
    ):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.hidden_dtype)
        scores = self.compute_scores(inputs, mask, training)
        states = ops.cast(inputs, "float32")
        embedding = ops.stack(
            [ops.sum(head * states, axis=1) for head in scores], axis=1
        )
        if return_attention_scores or self.attention_regularizer is not None:
            scores = ops.stack(scores, axis=1)
        self.add_penalties(scores, embedding)
        embedding = ops.cast(embedding, self.compute_dtype)
        return (embedding, scores) if return_attention_scores else embedding

    def compute_scores(self, inputs, mask, training):
        """A list of each head's scores `(batch, n, D)`, in float32."""
        steps = kept_steps(mask, training)
        inputs = steps.pack(inputs)
        mask = ops.expand_dims(mask, -1)
        scores = []
        # Head by head: one product over all heads takes longer, and holds
        # what they share more than once.
        for kernel, bias, score_kernel, score_bias in zip(
            *map(
                self.by_head,
                (
                    self.hidden_kernel,
                    self.hidden_bias,
                    self.score_kernel,
                    self.score_bias,
                ),
            ),
            strict=True,
        ):
            hidden = self.activation(self.affine(inputs, kernel, bias))
            logits = self.affine(hidden, score_kernel, score_bias, "float32")
            scores.append(masked_softmax(steps.unpack(logits), mask, axis=1))
        return scores

    def by_head(self, weight):
        """The part of each head in a weight, or of no weight `None`."""
        if weight is None:
            return [None] * self.num_heads
        return ops.unstack(ops.convert_to_tensor(weight), self.num_heads)

    def add_penalties(self, scores, embedding):
        """Add the penalties on float32 scores and embeddings to the loss."""
        if self.parameter_regularizer is not None:
            kernels = ops.cast(self.hidden_kernel, "float32")
            self.add_loss(
                self.parameter_regularizer(ops.expand_dims(kernels, 0))
            )
        if self.attention_regularizer is not None:
            self.add_loss(self.attention_regularizer(scores))
        if self.embedding_regularizer is not None:
            self.add_loss(self.embedding_regularizer(embedding))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.num_heads, input_shape[-1])

    def compute_scores_shape(self, input_shape):
        batch, steps, features = input_shape
        return (batch, self.num_heads, steps, features)

    def get_config(self):
        config = {
            **super().get_config(),
            "attention_dim": self.attention_dim,
            "num_heads": self.num_heads,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
        }
        for subject in ("parameter", "attention", "embedding"):
            key = f"{subject}_regularizer"
            config[key] = keras.regularizers.serialize(getattr(self, key))
        return config

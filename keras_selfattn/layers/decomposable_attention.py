import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import shapes
from keras_selfattn.layers.feed_forward_layer import FeedForwardLayer
from keras_selfattn.layers.masking import check_mask_shape
from keras_selfattn.layers.masking import masked_softmax
from keras_selfattn.layers.masking import saturating_cast
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked
from keras_selfattn.layers.padding import kept_steps
from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_masks
from keras_selfattn.layers.pairs import pair_of_shapes


@keras.saving.register_keras_serializable(package="keras_selfattn")
class DecomposableAttention(TakesPair, FeedForwardLayer):
    """Decomposable attention: two sentences aligned and compared by words.

    Inputs are the words of a premise `a`, of shape `(batch, n_p, D)`, and of
    a hypothesis `b`, of shape `(batch, n_h, D)`. With `F` and `G`, two
    networks of ReLU layers:

    1. Attend: `e[i, j] = F(a[i])ᵀ F(b[j])`, and each word's counterpart in
        the other sentence, `β[i] = Σ_j softmax_j(e[i, j]) b[j]` and
        `α[j] = Σ_i softmax_i(e[i, j]) a[i]`.
    2. Compare: `v1[i] = G([a[i]; β[i]])` and `v2[j] = G([b[j]; α[j]])`.
    3. Aggregate: `[Σ_i v1[i]; Σ_j v2[j]]`. Under a policy of float16, a sum
        that is too large for it becomes its largest number, 65,504.

    Args:
        attend_units: Sequence of integers, the width of each layer of `F`.
            Defaults to `(200, 200)`.
        compare_units: Sequence of integers, the width of each layer of `G`.
            Defaults to `(200, 200)`.
        dropout: Float from 0 up to, but not including, 1. The share of the
            inputs of each ReLU layer that training sets to zero. Defaults to
            `0.0`.
        seed: Integer that makes the dropout repeat itself, or `None`, the
            default.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for all kernels
            and all biases, and the arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Pair of tensors `(premise, hypothesis)`, of shapes
            `(batch, n_p, D)` and `(batch, n_h, D)`.
        mask: Pair of boolean tensors of shapes `(batch, n_p)` and
            `(batch, n_h)`, True where a step counts; either may be `None`.
            Where `None`, the masks that come with the inputs are used; without
            one all steps count. Masked steps get scores of exactly 0, and a
            sentence without any step gives zeros for its half of the outputs.
        training: Boolean, whether dropout is on.
        return_attention_scores: Boolean, whether to return the attention
            scores as well. Defaults to `False`.

    Returns:
        A tensor of shape `(batch, 2 * compare_units[-1])` and, with
        `return_attention_scores=True`, a pair of float32 scores: how each
        word of the premise looks at the hypothesis, of shape
        `(batch, n_p, n_h)`, and how each of the hypothesis looks at the
        premise, of shape `(batch, n_h, n_p)`.

    Raises:
        ValueError: if an argument is out of its range, if the inputs are not
            a pair of rank 3 with the same batch and features, or if the masks
            do not fit them.

    References:
        - [Parikh et al., 2016](https://arxiv.org/abs/1606.01933), section 3

    Example:

    >>> import numpy as np
    >>> layer = DecomposableAttention(attend_units=(4,), compare_units=(6,))
    >>> premise = np.ones((2, 3, 5), dtype="float32")
    >>> hypothesis = np.ones((2, 7, 5), dtype="float32")
    >>> outputs, scores = layer(
    ...     (premise, hypothesis), return_attention_scores=True
    ... )
    >>> tuple(outputs.shape), [tuple(score.shape) for score in scores]
    ((2, 12), [(2, 3, 7), (2, 7, 3)])
    """

    input_names = ("premise", "hypothesis")

    def __init__(
        self,
        attend_units=(200, 200),
        compare_units=(200, 200),
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.attend_units = validation.widths(attend_units, "attend_units")
        self.compare_units = validation.widths(compare_units, "compare_units")

    def build(self, input_shape):
        axes = ("batch", "steps", "features")
        premise, _ = pair_of_shapes(input_shape, axes, self.input_names, self)
        features = shapes.static_axis(premise, -1, "features", self)
        self.input_spec = [shapes.spec(premise, -1)] * 2
        self.attend = self.add_network("attend", features, self.attend_units)
        self.compare = self.add_network(
            "compare", 2 * features, self.compare_units
        )

    def call(
        self, inputs, mask=None, training=None, return_attention_scores=False
    ):
        premise, hypothesis = pair(inputs, self.input_names, self)
        masks = pair_of_masks(mask, self.input_names, self)
        premise_mask = validate_mask(masks[0], premise, "premise mask")
        hypothesis_mask = validate_mask(masks[1], hypothesis, "hypothesis mask")
        premise = zero_masked(premise, premise_mask, self.hidden_dtype)
        hypothesis = zero_masked(hypothesis, hypothesis_mask, self.hidden_dtype)
        sides = (premise, hypothesis)
        masks = (premise_mask, hypothesis_mask)
        steps = [kept_steps(each, training) for each in masks]
        packed = [
            each.pack(words) for each, words in zip(steps, sides, strict=True)
        ]
        factors = self.dropout_factors(
            [
                (words, network)
                for network in (self.attend, self.compare)
                for words in packed
            ],
            training,
        )
        attended = [
            each.unpack(self.run_network(words, self.attend, own))
            for each, words, own in zip(steps, packed, factors[:2], strict=True)
        ]
        scores = self.compute_scores(attended, *masks)
        outputs = []
        for words, others, by_word, each, mask, own in zip(
            *(packed, sides[::-1], scores, steps, masks, factors[2:]),
            strict=True,
        ):
            counterparts = ops.matmul(ops.cast(by_word, others.dtype), others)
            compared = self.run_network(
                ops.concatenate([words, each.pack(counterparts)], axis=-1),
                self.compare,
                own,
            )
            # In float32, because a sum of many numbers of 16 bits is rough
            # and, in float16, may be infinite.
            compared = zero_masked(each.unpack(compared), mask, "float32")
            outputs.append(ops.sum(compared, axis=1))
        outputs = saturating_cast(
            ops.concatenate(outputs, axis=-1), self.compute_dtype
        )
        return (outputs, scores) if return_attention_scores else outputs

    def compute_scores(self, attended, premise_mask, hypothesis_mask):
        """Scores `(batch, n_p, n_h)` and `(batch, n_h, n_p)`, in float32."""
        premise, hypothesis = (ops.cast(x, "float32") for x in attended)
        logits = ops.matmul(premise, ops.transpose(hypothesis, (0, 2, 1)))
        mask = ops.logical_and(
            ops.expand_dims(premise_mask, 2),
            ops.expand_dims(hypothesis_mask, 1),
        )
        by_premise = masked_softmax(logits, mask, axis=2)
        by_hypothesis = masked_softmax(logits, mask, axis=1)
        return by_premise, ops.transpose(by_hypothesis, (0, 2, 1))

    def compute_output_shape(self, input_shape):
        premise, _ = input_shape
        return (premise[0], 2 * self.compare_units[-1])

    def compute_scores_shape(self, input_shape):
        (batch, premise, _), (_, hypothesis, _) = input_shape
        return (batch, premise, hypothesis), (batch, hypothesis, premise)

    def check_masks(self, mask, inputs):
        pairs = zip(
            pair_of_masks(mask, self.input_names, self), inputs, strict=True
        )
        for name, each in zip(self.input_names, pairs, strict=True):
            check_mask_shape(*each, f"{name} mask")

    def get_config(self):
        return {
            **super().get_config(),
            "attend_units": self.attend_units,
            "compare_units": self.compare_units,
        }

"""The penalties that keep attention heads, or the parts of a model, apart."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_selfattn.validation import is_number


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Orthogonality(keras.regularizers.Regularizer):
    """Penalty on attention heads that look at the same words.

    For the attention scores `A` of one sentence, of shape
    `(num_heads, steps)`,

    `penalty = factor * ||A Aᵀ - I||²_F`

    averaged over the batch. It is 0 when every head puts all its weight on
    one word that no other head looks at, and
    `factor * num_heads * (num_heads - 1)` when all heads look at one and the
    same word. It sums over all pairs of heads: at 30 heads a factor of 1.0
    weighs 900 times what it would in a mean over the pairs.

    Args:
        factor: Float, not negative. The weight of the penalty in the loss.
            Defaults to `1.0`.

    Call arguments:
        scores: Tensor of shape `(batch, num_heads, steps)`.

    Raises:
        ValueError: if `factor` is negative, or if the scores are not of
            rank 3.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), equation 8

    Example:

    >>> import numpy as np
    >>> same_word = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    >>> float(Orthogonality(factor=0.5)(same_word))
    1.0
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = validate_factor(factor)

    def __call__(self, scores: Any) -> Any:
        scores = ops.cast(scores, "float32")
        if len(scores.shape) != 3:
            raise ValueError(
                "Orthogonality takes attention scores of shape "
                "(batch, num_heads, steps). Received: a tensor of shape "
                f"{tuple(scores.shape)}"
            )
        identity = np.eye(scores.shape[1], dtype="float32")
        overlap = ops.matmul(scores, ops.transpose(scores, (0, 2, 1)))
        squares = ops.sum(
            ops.square(ops.subtract(overlap, identity)), axis=(1, 2)
        )
        return self.factor * _batch_mean(squares)

    def get_config(self) -> dict[str, float]:
        return {"factor": self.factor}


def _batch_mean(penalties):
    """The mean of one penalty a sentence, 0 of none."""
    rows = ops.cast(ops.shape(penalties)[0], "float32")
    return ops.sum(penalties) / ops.maximum(rows, 1.0)


def validate_factor(value: Any, name: str = "factor") -> float:
    """A penalty's weight as a float, or `ValueError` where it is not one."""
    if not is_number(value) or not 0 <= value < float("inf"):
        raise ValueError(
            f"`{name}` must be a finite number, 0 or more. "
            f"Received: {name}={value!r}"
        )
    return float(value)


@keras.saving.register_keras_serializable(package="keras_selfattn")
class HeadDiversity(keras.regularizers.Regularizer):
    """Penalty on attention heads that are close to one another.

    For the heads `x_1, ..., x_I` of one sentence, be they rows of parameters,
    attention scores or embeddings,

    `penalty = factor * Σ_{i<j} max(margin - ||x_i - x_j||², 0)`

    averaged over the batch. It is 0 when all heads are at least the square
    root of `margin` apart, and `factor * margin * I * (I - 1) / 2` when all
    are equal. Equal heads have a gradient of zero: the penalty drives apart
    only what differs.

    Args:
        factor: Float, not negative. The weight of the penalty in the loss.
            Defaults to `1e-2`.
        margin: Float, not negative. The squared distance from which on two
            heads cost nothing. Defaults to `1.0`.

    Call arguments:
        heads: Tensor of shape `(batch, num_heads, ...)`; parameters, which
            belong to no sentence, as a batch of 1.

    Raises:
        ValueError: if `factor` or `margin` is negative, or if the tensor is
            not of rank 3 or more.

    References:
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828), equations 7
            to 9

    Example:

    >>> import numpy as np
    >>> heads = np.array([[[0.0, 0.0], [0.0, 0.5], [0.0, 2.0]]])
    >>> round(float(HeadDiversity(factor=2.0)(heads)), 5)
    1.5
    """

    def __init__(self, factor: float = 0.01, margin: float = 1.0) -> None:
        self.factor = validate_factor(factor)
        self.margin = validate_factor(margin, "margin")

    def __call__(self, heads: Any) -> Any:
        heads = ops.cast(heads, "float32")
        if len(heads.shape) < 3:
            raise ValueError(
                "HeadDiversity takes a tensor of shape (batch, num_heads, "
                "...), of rank 3 or more. Received: a tensor of shape "
                f"{tuple(heads.shape)}"
            )
        return self.factor * _batch_mean(_closeness(heads, self.margin))

    def get_config(self) -> dict[str, float]:
        return {"factor": self.factor, "margin": self.margin}


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Ambiguity(keras.regularizers.Regularizer):
    """Penalty on parts of a model whose logits are right only together.

    For the logits `z_1, ..., z_M` of the `M` parts of a model, whose sum are
    the model's logits,

    `penalty = factor * (Σ_k lse(M z_k) / M - lse(Σ_k z_k))`

    averaged over the batch, where `lse` is the logarithm of the sum of the
    exponentials of the classes. It is 0 when all parts give the same logits,
    and positive otherwise. The cross-entropy of the sum and the penalty with a
    factor of 1 are the mean of the cross-entropies that the parts would have
    by themselves, at `M` times their logits: each part learns alone, and the
    model is their ensemble. With a factor of 0 the parts learn together.
    Weights of samples and of classes count in the cross-entropy alone.

    Args:
        factor: Float, not negative. The weight of the penalty in the loss.
            Defaults to `1.0`.

    Call arguments:
        logits: Tensor of shape `(parts, batch, num_classes)`.

    Raises:
        ValueError: if `factor` is negative, or if the logits are not of
            rank 3.

    References:
        - [Webb et al., 2020](https://arxiv.org/abs/1902.04422), joint and
            independent training of ensembles

    Example:

    >>> import numpy as np
    >>> logits = np.array([[[np.log(2.0), 0.0]], [[0.0, 0.0]]])
    >>> round(float(Ambiguity()(logits)), 5)
    0.05268
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = validate_factor(factor)

    def __call__(self, logits: Any) -> Any:
        logits = ops.cast(logits, "float32")
        if len(logits.shape) != 3:
            raise ValueError(
                "Ambiguity takes logits of shape (parts, batch, num_classes). "
                f"Received: a tensor of shape {tuple(logits.shape)}"
            )
        alone = ops.logsumexp(logits * logits.shape[0], axis=-1)
        together = ops.logsumexp(ops.sum(logits, axis=0), axis=-1)
        return self.factor * _batch_mean(ops.mean(alone, axis=0) - together)

    def get_config(self) -> dict[str, float]:
        return {"factor": self.factor}


def _closeness(heads, margin):
    """The sum over `i < j` of `max(margin - ||x_i - x_j||², 0)`, `(batch,)`.

    It is computed from the differences of the heads. Products of heads would
    be faster, but lose the small differences of large heads to rounding. All
    differences at once would take `I` times the memory of the heads, so they
    are computed for one `j - i` at a time, and again for the gradient.
    """
    axes = tuple(range(2, len(heads.shape)))
    distances = range(1, heads.shape[1])

    @ops.custom_gradient
    def closeness(heads):
        room = [
            ops.relu(margin - ops.sum(ops.square(difference), axis=axes))
            for difference in (_differences(heads, k) for k in distances)
        ]
        total = ops.zeros(ops.shape(heads)[:1], dtype="float32")
        for pairs in room:
            total = total + ops.sum(pairs, axis=1)

        def gradient(*arguments, upstream=None):
            if upstream is None:
                (upstream,) = arguments
            slopes = ops.zeros_like(heads)
            for k, pairs in zip(distances, room, strict=True):
                slope = ops.where(pairs > 0.0, 2.0, 0.0) * ops.expand_dims(
                    upstream, 1
                )
                slope = ops.expand_dims(slope, axes) * _differences(heads, k)
                rest = [(0, 0)] * len(axes)
                slopes = slopes + ops.pad(slope, [(0, 0), (0, k), *rest])
                slopes = slopes - ops.pad(slope, [(0, 0), (k, 0), *rest])
            return slopes

        return total, gradient

    return closeness(heads)


def _differences(heads, k):
    """Each head but the first `k`, minus the one `k` places before it."""
    return heads[:, k:] - heads[:, :-k]

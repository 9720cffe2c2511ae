"""The one masked softmax, maximum, mean and cast that every layer uses."""

import keras
from keras import ops

# Finite, so that a row without any kept step stays free of NaN.
LOWEST = -1e30
_LARGEST_FLOAT16 = 65_504.0


def validate_mask(mask, inputs, name="mask"):
    """Check a step mask against its inputs.

    Args:
        mask: Boolean tensor of shape `(B, n)`, True where a step counts, or
            `None`.
        inputs: Tensor of shape `(B, n, ...)`.
        name: How the message calls the mask.

    Returns:
        The mask as a boolean tensor, all True where `mask` is `None`.

    Raises:
        ValueError: if the mask is not of rank 2, or if its batch size or its
            number of steps differs from the inputs'.
    """
    if mask is None:
        return ops.ones(ops.shape(inputs)[:2], dtype="bool")
    mask = ops.convert_to_tensor(mask)
    check_mask_shape(mask, inputs, name)
    return ops.cast(mask, "bool")


def check_mask_shape(mask, inputs, name="mask"):
    """The checks of `validate_mask`, of tensors that may have no values."""
    if mask is None:
        return
    expected = tuple(inputs.shape[:2])
    received = tuple(mask.shape)
    if len(received) != 2 or any(
        a is not None and b is not None and a != b
        for a, b in zip(expected, received, strict=True)
    ):
        raise ValueError(
            f"`{name}` must have shape (batch, steps) = {expected}, as the "
            f"inputs of shape {tuple(inputs.shape)} have. "
            f"Received: a mask of shape {received}"
        )


def expand_mask(mask, rank):
    """A `(B, n)` mask with trailing axes of 1, to broadcast at `rank`."""
    return ops.reshape(mask, (*ops.shape(mask), *([1] * (rank - 2))))


def zero_masked(inputs, mask, dtype=None):
    """Inputs `(B, n, ...)` with zeros at masked steps.

    Layers start with this: masked steps may hold a NaN or an infinity, whose
    product with a gradient of zero is still NaN. They cast to the type they
    compute in, because Keras leaves integers as they are, and scores of an
    integer type would be cut off.
    """
    inputs = ops.cast(inputs, dtype or inputs.dtype)
    mask = expand_mask(mask, len(inputs.shape))
    return ops.where(mask, inputs, ops.zeros_like(inputs))


def masked_softmax(logits, mask, axis):
    """Softmax in float32 over the steps that a mask keeps.

    Masked steps get exactly 0. Where no step is kept, all scores are 0 and so
    are the gradients.

    Args:
        logits: Tensor of any shape.
        mask: Boolean tensor that broadcasts to the shape of `logits`.
        axis: Integer, the axis of the steps.

    Returns:
        A float32 tensor of the shape of `logits`.
    """
    if 0 in logits.shape:
        # There is no maximum of nothing.
        return ops.zeros_like(logits, dtype="float32")
    logits = ops.where(mask, ops.cast(logits, "float32"), LOWEST)
    highest = ops.stop_gradient(ops.max(logits, axis=axis, keepdims=True))
    # Zeroing the exponent first keeps the gradient of `exp` finite.
    exponent = ops.where(mask, logits - highest, 0.0)
    weights = ops.where(mask, ops.exp(exponent), 0.0)
    total = ops.sum(weights, axis=axis, keepdims=True)
    # The total is 0 or, as the highest counts 1, at least 1. Not a maximum
    # with 1: where the two are equal, JAX and torch would halve the gradient.
    return weights / ops.where(total > 0.0, total, 1.0)


def masked_max(inputs, mask):
    """Maximum of `(B, n, D)` over the kept steps; zeros where none is."""
    if 0 in inputs.shape:
        # There is no maximum of nothing.
        return ops.sum(inputs, axis=1)
    candidates = ops.where(expand_mask(mask, 3), inputs, float("-inf"))
    any_kept = ops.any(mask, axis=1, keepdims=True)
    highest = ops.max(candidates, axis=1)
    # A row without candidates has a maximum of minus infinity.
    return ops.where(any_kept, highest, ops.zeros_like(highest))


def masked_mean(inputs, mask):
    """Mean of `(B, n, D)` over the kept steps; zeros where none is.

    The sum runs in float32 at least: a long text overflows float16.
    """
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    kept = ops.cast(expand_mask(mask, 3), dtype)
    total = ops.sum(zero_masked(inputs, mask, dtype), axis=1)
    mean = total / ops.maximum(ops.sum(kept, axis=1), 1.0)
    return ops.cast(mean, inputs.dtype)


def saturating_cast(values, dtype):
    """Values in another type, at its largest number rather than infinite.

    float16 alone ends early enough to matter: at 65,504, which sums and
    products exceed, and the next layer makes a NaN of infinities.
    """
    if dtype == "float16":
        values = ops.clip(values, -_LARGEST_FLOAT16, _LARGEST_FLOAT16)
    return ops.cast(values, dtype)

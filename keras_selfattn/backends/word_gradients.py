"""Gradients of a classifier's answer with respect to its word vectors."""

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops


def of_largest_probability(
    answer: Callable, vectors: Sequence
) -> tuple[Any, list]:
    """Gradients of the log of each text's largest probability.

    Args:
        answer: Function of a list of tensors that returns class
            probabilities, `(B, classes)`.
        vectors: List of tensors, such as the word vectors `(B, n, D)` of each
            sentence.

    Returns:
        The probabilities, and the list of the gradients.
    """
    backend = keras.backend.backend()
    return {"tensorflow": _by_tape, "jax": _by_jax, "torch": _by_torch}[
        backend
    ](answer, vectors)


def _log_of_largest(outputs):
    return ops.sum(ops.log(ops.max(outputs, axis=-1)))


def _by_tape(answer, vectors):
    import tensorflow as tf

    # The copies are without Keras's mask.
    vectors = [tf.identity(each) for each in vectors]
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        outputs = answer(vectors)
        total = _log_of_largest(outputs)
    return outputs, tape.gradient(total, vectors)


def _by_jax(answer, vectors):
    import jax

    def total(vectors):
        outputs = answer(vectors)
        return _log_of_largest(outputs), outputs

    gradients, outputs = jax.grad(total, has_aux=True)(list(vectors))
    return outputs, gradients


def _by_torch(answer, vectors):
    import torch

    with torch.enable_grad():
        vectors = [each.detach().requires_grad_() for each in vectors]
        outputs = answer(vectors)
        gradients = torch.autograd.grad(_log_of_largest(outputs), vectors)
    return outputs.detach(), list(gradients)

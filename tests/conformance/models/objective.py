"""The whole loss of a model, its outputs and its gradients."""

import functools

import keras
from keras import ops

from tests.conformance.models.table import built
from tests.gradients import value_outputs_and_gradients


def cross_entropy(row):
    return keras.losses.SparseCategoricalCrossentropy(
        from_logits=row.config["activation"] is None
    )


def loss_outputs_and_gradients(row, model, batch, training=False):
    """The whole loss, what a call gives, and gradients of the loss.

    Returns:
        The loss; the outputs and a list of the losses added to the
        cross-entropy; and a gradient for each trainable weight.
    """
    loss = cross_entropy(row)
    labels = row.labels()
    inputs = tensors(batch)

    def objective():
        outputs = model(inputs, training=training)
        added = list(model.losses)
        return loss(labels, outputs) + sum(added), (outputs, added)

    return value_outputs_and_gradients(objective, model.trainable_weights)


def tensors(batch):
    return {name: ops.convert_to_tensor(ids) for name, ids in batch.items()}


@functools.cache
def plain(row):
    """The same of a row's own model and batch, outside of training."""
    return loss_outputs_and_gradients(row, built(row), row.batch())

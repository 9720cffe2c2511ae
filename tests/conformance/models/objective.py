"""The whole loss of a model, and its gradients."""

import keras
from keras import ops

from tests.gradients import value_and_gradients


def cross_entropy(row):
    return keras.losses.SparseCategoricalCrossentropy(
        from_logits=row.config["activation"] is None
    )


def loss_and_gradients(row, model, batch, training=False):
    """The whole loss and its gradients in the trainable weights."""
    loss = cross_entropy(row)
    labels = row.labels()
    inputs = tensors(batch)

    def objective():
        outputs = model(inputs, training=training)
        return loss(labels, outputs) + sum(model.losses)

    return value_and_gradients(objective, model.trainable_weights)


def tensors(batch):
    return {name: ops.convert_to_tensor(ids) for name, ids in batch.items()}

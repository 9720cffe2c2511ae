"""What is made before the first step of a training."""

from typing import Any

import keras
import tensorflow as tf


def make_variables(model: keras.Model, data: Any) -> None:
    """Make the variables of a model's optimizer and metrics.

    Keras makes them within the first step, and TensorFlow traces a step in
    which variables were made a second time, which takes seconds. It is left
    to Keras where the data are not a dataset, which tells its shapes.

    Args:
        model: A classifier.
        data: What it is to be fitted on.
    """
    if keras.backend.backend() != "tensorflow" or not model.compiled:
        return
    if are_several_devices(model):
        # Keras does so itself where there are several replicas.
        return
    spec = getattr(data, "element_spec", None)
    if not isinstance(spec, tuple) or not 2 <= len(spec) <= 3:
        return
    with model.distribute_strategy.scope():
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        x, y, *weights = keras.tree.map_structure(_nothing, spec)
        # `fit` begins each epoch by setting the metrics back.
        model.compute_metrics(x, y, _nothing(model.output), *weights)


def are_several_devices(model: keras.Model) -> bool:
    """Whether TensorFlow trains a model on several devices."""
    return (
        keras.backend.backend() == "tensorflow"
        and model.distribute_strategy.num_replicas_in_sync > 1
    )


def _nothing(tensor):
    """Zeros of a tensor's shape, one where it can have any size."""
    return tf.zeros([size or 1 for size in tensor.shape], tensor.dtype)

"""Models from a preset, its overrides and training values."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.models.loading import fresh_model
from keras_selfattn.models.memory import check_memory
from keras_selfattn.training.macro_f1 import MacroF1
from keras_selfattn.training.values import BY_NAME
from keras_selfattn.training.values import DEFAULTS


def build_model(
    preset: str, vocabulary_size: int, num_classes: int, overrides: Mapping
) -> keras.Model:
    """A preset's model, or `ValueError` where an argument can't be.

    Args:
        preset: The name of a preset.
        vocabulary_size: As in `keras_selfattn.models.from_preset`.
        num_classes: The same.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    try:
        # A run's own folder may have the name of its preset.
        return fresh_model(
            preset,
            vocabulary_size=vocabulary_size,
            num_classes=num_classes,
            **overrides,
        )
    except TypeError as error:
        raise ValueError(f"The model can't be built: {error}") from error


def check_model_arguments(preset: str, overrides: Mapping) -> None:
    """`ValueError` where a preset's model can't be built.

    Args:
        preset: The name of a preset.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    build_model(preset, 3, 2, overrides)


def make_model(
    preset: str,
    training: Mapping,
    *,
    vocabulary_size: int,
    num_classes: int,
    vectors: tuple | None = None,
    seed: int | None = None,
    **overrides: Any,
) -> keras.Model:
    """A preset's model as it is before the first epoch.

    Args:
        preset: The name of a preset.
        training: Dictionary of training values.
        vocabulary_size: As in `keras_selfattn.models.from_preset`.
        num_classes: The same.
        vectors: `None`, or the pair of arrays that
            `keras_selfattn.layers.WordEmbedding.load_vectors` takes.
        seed: Integer, the seed of weights and dropout, or `None` to leave
            Keras's seeds alone.
        **overrides: Model arguments that take the place of the preset's.

    Returns:
        The compiled model, with its word vectors.

    Raises:
        ValueError: if an argument can't be.
    """
    if seed is not None:
        keras.utils.set_random_seed(seed)
    sizes = {"vocabulary_size": vocabulary_size, "num_classes": num_classes}
    values = {**models.get_preset(preset).model, **overrides, **sizes}
    model_class = CLASSES[models.get_preset(preset).class_name]
    check_memory(model_class, values, _slots({**DEFAULTS, **training}))
    model = build_model(preset, overrides=overrides, **sizes)
    normalize = {**DEFAULTS, **training}["normalize_vectors"]
    layer = model.get_layer("word_vectors")
    if vectors is None and normalize:
        # Those that are drawn are scaled too.
        shape = layer.input_dim, layer.output_dim
        vectors = np.zeros(shape, "float32"), np.zeros(shape[0], bool)
    if vectors is not None:
        layer.load_vectors(*vectors, normalize=normalize)
    compile_model(model, training)
    return model


def _slots(training):
    """How many numbers an optimizer keeps for each weight, at least."""
    kept = {"adam": 2, "adagrad": 1, "sgd": bool(training.get("momentum"))}
    return kept.get(training["optimizer"], 0) + _averages(training)


def _averages(training):
    names = ("ema_momentum", "ema_epochs")
    return any(training[name] is not None for name in names)


def _check_loss_scale(model, training):
    """`ValueError` where Keras would drop the factor, having its own."""
    factor = training.get("loss_scale_factor")
    policy = model.dtype_policy
    if factor is not None and policy.name == "mixed_float16":
        raise ValueError(
            f"With the dtype {policy.name}, the factor of the loss follows "
            f"the gradients. Received: loss_scale_factor={factor}"
        )


def compile_model(
    model: keras.Model, training: Mapping, soft_targets: bool = False
) -> None:
    """Compile a classifier with a recipe's optimizer and the papers' loss.

    Args:
        model: A `keras_selfattn.models.Classifier`.
        training: Dictionary of training values, as in a preset.
        soft_targets: Boolean, whether the targets are probabilities of all
            classes, of shape `(B, num_classes)`, not numbers of classes.
    """
    training = {**DEFAULTS, **training}
    arguments = {
        name: value
        for name, value in training.items()
        if BY_NAME[name].is_optimizers
    }
    if _averages(training):
        arguments["use_ema"] = True
    if training["ema_momentum"] is not None:
        arguments["ema_momentum"] = training["ema_momentum"]
    metrics = ["accuracy"]
    if training["monitor"] == "macro_f1":
        metrics.append(MacroF1(model.output.shape[-1]))
    _check_loss_scale(model, training)
    optimizer = optimizers.get(training["optimizer"], **arguments)
    loss = keras.losses.SparseCategoricalCrossentropy
    if soft_targets:
        loss = keras.losses.CategoricalCrossentropy
    model.compile(
        optimizer,
        loss(from_logits=model.gives_logits),
        metrics=metrics,
        # It changes no number, and Keras knows none but 1 on torch.
        steps_per_execution=1
        if keras.backend.backend() == "torch"
        else training["steps_per_execution"],
    )

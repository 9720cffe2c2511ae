"""Models from a preset, its overrides and training values."""

import keras

from keras_selfattn import models
from keras_selfattn import optimizers
from keras_selfattn.models import arguments
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.training.values import BY_NAME
from keras_selfattn.training.values import DEFAULTS


def build_model(preset, vocabulary_size, num_classes, overrides):
    """A preset's model, or `ValueError` where an argument can't be.

    Args:
        preset: The name of a preset.
        vocabulary_size: As in `keras_selfattn.models.from_preset`.
        num_classes: The same.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    try:
        return models.from_preset(
            preset,
            vocabulary_size=vocabulary_size,
            num_classes=num_classes,
            **overrides,
        )
    except TypeError as error:
        raise ValueError(f"The model can't be built: {error}") from error


def check_model_arguments(preset, overrides):
    """`ValueError` where a preset's model can't be built, in little time.

    Args:
        preset: The name of a preset.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
    """
    values = {**models.get_preset(preset).model, **overrides}
    model_class = CLASSES[models.get_preset(preset).class_name]
    # Wide layers take seconds to build.
    narrow = {
        name: _at_most_eight(value)
        for name, value in arguments.applying(
            model_class, values, given=overrides
        ).items()
    }
    try:
        build_model(preset, 3, 2, narrow)
    except ValueError:
        # With the message on the value that was given.
        build_model(preset, 3, 2, overrides)


def _at_most_eight(value):
    if isinstance(value, (list, tuple)):
        return [_at_most_eight(each) for each in value]
    return min(value, 8) if isinstance(value, int) else value


def compile_model(model, training):
    """Compile a classifier with a recipe's optimizer and the papers' loss.

    Args:
        model: A `keras_selfattn.models.Classifier`.
        training: Dictionary of training values, as in a preset.
    """
    training = {**DEFAULTS, **training}
    arguments = {
        name: value
        for name, value in training.items()
        if BY_NAME[name].is_optimizers
    }
    if training["ema_momentum"] is not None:
        arguments.update(use_ema=True, ema_momentum=training["ema_momentum"])
    optimizer = optimizers.get(training["optimizer"], **arguments)
    model.compile(
        optimizer,
        keras.losses.SparseCategoricalCrossentropy(
            from_logits=model.gives_logits
        ),
        metrics=["accuracy"],
        # It changes no number, and Keras knows none but 1 on torch.
        steps_per_execution=1
        if keras.backend.backend() == "torch"
        else training["steps_per_execution"],
    )

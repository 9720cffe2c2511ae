"""Training values: what they are called, and what they may be."""

import math

from keras_selfattn import optimizers

# Of a preset's training values, those that are not the optimizer's.
NOT_OPTIMIZER = (
    "optimizer",
    "batch_size",
    "epochs",
    "lowercase",
    "max_tokens",
    "prepend_null",
    "num_oov_indices",
    "normalize_vectors",
    "min_count",
    "induce_vectors",
    "steps_per_execution",
    "ema_momentum",
    "decay_epochs",
)
# Training values that presets may leave out.
DEFAULTS = {
    "max_tokens": 512,
    # How often a word without a pretrained vector must occur to have a vector
    # of its own; `None` where such words share those of unknown words.
    "min_count": 2,
    # Whether that vector is induced from those of other words, or drawn.
    "induce_vectors": False,
    # Python waits for the model once in so many batches. It changes no
    # number.
    "steps_per_execution": 8,
    # Of a moving average of the weights, which then are those evaluated and
    # kept; `None` for the weights themselves.
    "ema_momentum": None,
    # Over so many epochs the learning rate falls to zero; `None` if it stays.
    "decay_epochs": None,
}
# Training values that count something. Those of the preprocessor, it checks.
_COUNTS = (
    "batch_size",
    "epochs",
    "steps_per_execution",
    "min_count",
    "decay_epochs",
)
_SWITCHES = (
    "lowercase",
    "prepend_null",
    "normalize_vectors",
    "induce_vectors",
)
_MAY_BE_ZERO = ("initial_accumulator_value", "weight_decay")
# Training values that a resumed run may change.
CHANGEABLE = ("epochs", "steps_per_execution")


def training_values(preset, overrides):
    """A preset's training values with others in their place.

    With another optimizer, the arguments that only the preset's takes go, and
    the learning rate is that optimizer's own unless it is given.

    Args:
        preset: A `keras_selfattn.models.presets.Preset`.
        overrides: Dictionary of training values.

    Returns:
        Dictionary of all training values.

    Raises:
        ValueError: if there is no training value of a name, or one is not
            as expected.
    """
    values = {**DEFAULTS, **preset.training}
    optimizer = overrides.get("optimizer", values["optimizer"])
    known = value_names(optimizer)
    for name in overrides:
        if name not in known:
            raise ValueError(
                f"A training value with the optimizer {optimizer} must be one "
                f"of {', '.join(sorted(known))}. Received: {name!r}"
            )
    if optimizer != values["optimizer"]:
        # A rate for one is none for the other.
        rate = optimizers.defaults(optimizer)["learning_rate"]
        values["learning_rate"] = rate
    kept = {name: value for name, value in values.items() if name in known}
    values = {**kept, **overrides}
    check_training_values(values)
    return values


def check_training_values(values):
    """`ValueError` where a training value is not as expected.

    Args:
        values: Dictionary of all training values.
    """
    for name in _COUNTS:
        value = values[name]
        if name in ("min_count", "decay_epochs") and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(
                f"`{name}` must be a positive integer. "
                f"Received: {name}={value!r}"
            )
    for name in _SWITCHES:
        value = values.get(name, False)
        if not isinstance(value, bool):
            raise ValueError(
                f"`{name}` must be True or False. Received: {name}={value!r}"
            )
    defaults = {
        **optimizers.defaults(values["optimizer"]),
        "ema_momentum": None,
    }
    for name, default in defaults.items():
        value = values.get(name, default)
        if value is None and default is None:
            continue
        if isinstance(default, bool):
            expected, is_right = "True or False", True
        elif name == "gradient_accumulation_steps":
            expected = "an integer of 2 or more"
            is_right = isinstance(value, int) and value >= 2
        else:
            expected, holds = _range(name)
            is_right = isinstance(value, (int, float)) and holds(value)
        if not is_right or isinstance(value, bool) != isinstance(default, bool):
            raise ValueError(
                f"`{name}` must be {expected}. Received: {name}={value!r}"
            )


def _range(name):
    """What a number of an optimizer must be, in words and as a function."""
    if "momentum" in name or "beta" in name:
        return (
            "a number from 0 up to, but not including, 1",
            lambda value: 0 <= value < 1,
        )
    if name in _MAY_BE_ZERO:
        return (
            "a finite number of 0 or more",
            lambda value: 0 <= value < math.inf,
        )
    return "a finite number above 0", lambda value: 0 < value < math.inf


def value_names(optimizer):
    """The names of the training values that there are with an optimizer."""
    return {*NOT_OPTIMIZER, *optimizers.argument_names(optimizer)}


def is_training_value(name):
    """Whether a name is that of a training value of any optimizer."""
    return any(name in value_names(each) for each in optimizers.OPTIMIZERS)

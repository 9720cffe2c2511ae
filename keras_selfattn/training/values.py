"""The training values: each said once, and readable without Keras."""

import dataclasses
import math
import textwrap
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Any

if TYPE_CHECKING:
    from keras_selfattn.models.presets import Preset
    from keras_selfattn.zoo.recipes import Recipe


class Range(typing.NamedTuple):
    """What a training value may be.

    Attributes:
        kind: `int`, `bool`, `float` or `str`.
        words: What it must be, as error messages and `--help` say it.
        holds: Function that tells whether a value of that kind is in range.
    """

    kind: type
    words: str
    holds: typing.Callable = lambda value: True


COUNT = Range(int, "a positive integer", lambda value: value >= 1)
COUNT_OR_0 = Range(int, "an integer of 0 or more", lambda value: value >= 0)
TWO_OR_MORE = Range(int, "an integer of 2 or more", lambda value: value >= 2)
SWITCH = Range(bool, "True or False")
ABOVE_0 = Range(
    float, "a finite number above 0", lambda value: 0 < value < math.inf
)
FROM_0 = Range(
    float, "a finite number of 0 or more", lambda value: 0 <= value < math.inf
)
FRACTION = Range(
    float,
    "a number from 0 up to, but not including, 1",
    lambda value: 0 <= value < 1,
)
MONITOR = Range(
    str,
    "accuracy, macro_f1 or loss",
    lambda value: value in ("accuracy", "macro_f1", "loss"),
)
BALANCED = Range(str, "balanced", lambda value: value == "balanced")
OPEN = object()
# Steps: with more texts a larger batch learns as well in fewer of them.
_LONG_EPOCH = 640


@dataclasses.dataclass(frozen=True)
class Value:
    """One training value.

    Attributes:
        name: Its name.
        range: The `Range` of what it may be.
        help: What it does, in a line.
        default: What it is where a preset doesn't give it; `OPEN` where
            each preset does, or where it is Keras's.
        or_none: Whether it may be `None` too.
        is_recorded: Whether a run's settings name the default.
        is_optimizers: Whether it is an argument of the optimizer's class.
            Not all of these take all of them.
        is_changeable: Whether a resumed run may have another one.
        is_searchable: Whether the trials of a search may differ in it.
        is_option: Whether the command line has an option of its name.
    """

    name: str
    range: Range
    help: str
    default: object = OPEN
    or_none: bool = False
    is_recorded: bool = True
    is_optimizers: bool = False
    is_changeable: bool = False
    is_searchable: bool = True
    is_option: bool = False

    @property
    def expected(self):
        """What it must be, in words."""
        return ("None or " if self.or_none else "") + self.range.words

    def check(self, value):
        """`ValueError` where it can't have a value."""
        if value is None and self.or_none:
            return
        kinds = (int, float) if self.range.kind is float else self.range.kind
        if (
            not isinstance(value, kinds)
            # To Python, True is an integer.
            or isinstance(value, bool) != (self.range.kind is bool)
            or not self.range.holds(value)
        ):
            raise ValueError(
                f"`{self.name}` must be {self.expected}. "
                f"Received: {self.name}={value!r}"
            )


def _of_texts(name, range, help, default=OPEN, **flags):
    # The trials of a search share the encoded texts.
    return Value(name, range, help, default, is_searchable=False, **flags)


VALUES = (
    Value(
        "optimizer",
        Range(str, "sgd, adam or adagrad"),
        "what updates the weights",
        is_option=True,
    ),
    Value(
        "learning_rate",
        ABOVE_0,
        "how far a step goes; with another optimizer than the preset's, that "
        "optimizer's own unless it is given",
        is_optimizers=True,
        is_option=True,
    ),
    Value("batch_size", COUNT, "texts in a step", is_option=True),
    Value(
        "max_batch_size",
        COUNT,
        "the batch is doubled up to this size while an epoch has more than "
        f"{_LONG_EPOCH} steps; a `batch_size` that is given stays",
        None,
        or_none=True,
        is_recorded=False,
    ),
    Value(
        "epochs",
        COUNT,
        "passes over the training texts",
        is_changeable=True,
        is_searchable=False,
        is_option=True,
    ),
    Value(
        "patience",
        COUNT,
        "epochs in a row without a better dev figure that end the run",
        None,
        or_none=True,
        is_recorded=False,
        is_changeable=True,
        is_searchable=False,
        is_option=True,
    ),
    Value(
        "monitor",
        MONITOR,
        "the dev figure that tells the best epoch",
        "accuracy",
        is_recorded=False,
        is_searchable=False,
        is_option=True,
    ),
    Value(
        "class_weight",
        BALANCED,
        "balanced: each class has the same share of the loss, however many "
        "texts it has",
        None,
        or_none=True,
        is_recorded=False,
        is_option=True,
    ),
    Value(
        "student_loss_weight",
        Range(float, "a number from 0 to 1", lambda value: 0 <= value <= 1),
        "with teachers, the share of the labels in the loss, beside the "
        "teachers' answers",
        0.3,
        is_recorded=False,
        is_searchable=False,
    ),
    Value(
        "decay_epochs",
        COUNT,
        "epochs over which the learning rate falls to 0 along a half cosine",
        None,
        or_none=True,
    ),
    Value(
        "ema_momentum",
        FRACTION,
        "such as 0.999: the weights' moving average is evaluated and kept",
        None,
        or_none=True,
    ),
    Value(
        "ema_epochs",
        COUNT,
        "epochs that the moving average reaches over, however few steps they "
        "have; an `ema_momentum` that is given takes its place",
        None,
        or_none=True,
        is_recorded=False,
    ),
    Value(
        "steps_per_execution",
        COUNT,
        "steps between two returns to Python; changes no number",
        8,
        is_changeable=True,
    ),
    _of_texts("lowercase", SWITCH, "whether texts are lowercased"),
    _of_texts(
        "max_tokens",
        COUNT,
        "tokens of a text that are read, None for all",
        512,
        or_none=True,
        is_option=True,
    ),
    _of_texts(
        "prepend_null",
        SWITCH,
        "whether each text begins with a NULL token",
        False,
        is_recorded=False,
    ),
    _of_texts(
        "num_oov_indices",
        COUNT,
        "vectors that the words outside the vocabulary share",
        1,
        is_recorded=False,
    ),
    _of_texts(
        "min_count",
        COUNT,
        "how often a word without a pretrained vector must occur to have a "
        "vector of its own; with None such words, where there are pretrained "
        "vectors, share those of the words outside the vocabulary",
        2,
        or_none=True,
    ),
    _of_texts(
        "unseen_words",
        COUNT_OR_0,
        "how many first words of each file of pretrained vectors are looked "
        "at: those that don't occur are in the vocabulary too",
        0,
        is_recorded=False,
    ),
    _of_texts(
        "learn_vectors",
        COUNT_OR_0,
        "how many numbers of a word's vector are learned from the training "
        "texts, of which words stand beside which: at most one for five "
        "words that occur five times",
        0,
        is_recorded=False,
    ),
    _of_texts(
        "induce_vectors",
        SWITCH,
        "whether the vector of a word that has none is predicted from context "
        "and spelling, not drawn",
        False,
    ),
    _of_texts(
        "normalize_vectors",
        SWITCH,
        "whether word vectors are scaled to length 1",
        False,
        is_recorded=False,
    ),
    *(
        Value(name, range, help, or_none=or_none, is_optimizers=True)
        for name, range, or_none, help in (
            ("momentum", FRACTION, False, "as in keras.optimizers.SGD"),
            ("nesterov", SWITCH, False, "as in keras.optimizers.SGD"),
            ("beta_1", FRACTION, False, "as in keras.optimizers.Adam"),
            ("beta_2", FRACTION, False, "as in keras.optimizers.Adam"),
            ("amsgrad", SWITCH, False, "as in keras.optimizers.Adam"),
            ("epsilon", ABOVE_0, False, "as in Keras's Adam and Adagrad"),
            (
                "initial_accumulator_value",
                FROM_0,
                False,
                "as in Keras's Adagrad",
            ),
            ("weight_decay", FROM_0, True, "as in Keras's optimizers"),
            ("clipnorm", ABOVE_0, True, "largest norm of each gradient"),
            ("global_clipnorm", ABOVE_0, True, "that of all together"),
            ("clipvalue", ABOVE_0, True, "largest number in a gradient"),
            ("loss_scale_factor", ABOVE_0, True, "as in Keras's optimizers"),
            (
                "gradient_accumulation_steps",
                TWO_OR_MORE,
                True,
                "as in Keras's optimizers",
            ),
        )
    ),
)
BY_NAME = {value.name: value for value in VALUES}
DEFAULTS = {
    value.name: value.default for value in VALUES if value.default is not OPEN
}


def describe_values() -> str:
    """All training values as text, with what they may be and their defaults."""
    column = max(map(len, BY_NAME)) + 4
    lines = []
    for value in VALUES:
        said = f"{value.help} ({value.expected}"
        if value.default is not OPEN:
            said += f"; default: {value.default}"
        lines += textwrap.wrap(
            f"{said})",
            79,
            initial_indent=f"  {value.name}".ljust(column),
            subsequent_indent=" " * column,
        )
    return "\n".join(lines)


def training_values(preset: "Preset", overrides: Mapping) -> dict[str, Any]:
    """A preset's training values with others in their place.

    With another optimizer, the arguments that only the preset's takes go, and
    the learning rate is that optimizer's own unless it is given. A rate that
    falls over all epochs does so over another number of them, too.

    Args:
        preset: A `keras_selfattn.models.presets.Preset`.
        overrides: Dictionary of training values.

    Returns:
        Dictionary of all training values.

    Raises:
        ValueError: if there is no training value of a name, or one is not
            as expected.
    """
    from keras_selfattn import optimizers

    recorded = {n: v for n, v in DEFAULTS.items() if BY_NAME[n].is_recorded}
    values = {**recorded, **preset.training}
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
    values = with_overrides(kept, overrides)
    check_training_values(values)
    return values


def preset_of(recipe: "Recipe") -> "Preset":
    """A recipe's preset, with the recipe's values in the place of its own."""
    from keras_selfattn.models.presets import get_preset

    own = get_preset(recipe.preset)
    return dataclasses.replace(
        own,
        model={**own.model, **recipe.model},
        training=training_values(own, recipe.training),
    )


def with_overrides(values: Mapping, overrides: Mapping) -> dict[str, Any]:
    """Training values with others in their place.

    A learning rate that falls over all epochs falls over the new number of
    them, unless `decay_epochs` is given too: else it would end above 0, or
    the last epochs would learn nothing. A batch size that is given is taken,
    however many steps that makes, and so is an `ema_momentum`.

    Args:
        values: Dictionary of training values.
        overrides: The same.

    Returns:
        Dictionary of both.
    """
    both = {**values, **overrides}
    decay = values.get("decay_epochs")
    if decay is not None and decay == values.get("epochs"):
        # A wrong number is told by the name that it was given.
        BY_NAME["epochs"].check(both["epochs"])
        both["decay_epochs"] = overrides.get("decay_epochs", both["epochs"])
    for given, other in (
        ("batch_size", "max_batch_size"),
        ("ema_momentum", "ema_epochs"),
    ):
        if given in overrides and other not in overrides:
            both.pop(other, None)
    return both


def batch_size_for(training: Mapping, rows: int) -> int:
    """The batch size for a number of texts.

    Args:
        training: Dictionary of training values.
        rows: Integer, the number of training texts.

    Returns:
        Integer, the `batch_size`, which with many texts is doubled as long as
        `max_batch_size` allows.
    """
    size, most = training["batch_size"], training.get("max_batch_size")
    while most and rows > size * _LONG_EPOCH and 2 * size <= most:
        size *= 2
    return size


def check_training_values(values: Mapping) -> None:
    """`ValueError` where a training value is not as expected.

    Args:
        values: Dictionary of training values.
    """
    for name, value in values.items():
        BY_NAME[name].check(value)


def value_names(optimizer: str) -> set[str]:
    """The names of the training values that there are with an optimizer."""
    from keras_selfattn import optimizers

    taken = optimizers.argument_names(optimizer)
    return {
        value.name
        for value in VALUES
        if not value.is_optimizers or value.name in taken
    }


def is_training_value(name: str) -> bool:
    """Whether a name is that of a training value of any optimizer."""
    return name in BY_NAME

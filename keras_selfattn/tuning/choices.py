"""Search spaces as KerasTuner's hyperparameters."""

import contextlib
import json

from keras_selfattn import optimizers
from keras_selfattn.models.arguments import check_search
from keras_selfattn.models.arguments import defaults
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.training.values import BY_NAME
from keras_selfattn.training.values import is_training_value
from keras_selfattn.training.values import training_values
from keras_selfattn.training.values import value_names
from keras_selfattn.tuning.spaces import SPACES
from keras_selfattn.tuning.spaces import Values


class Choice:
    """A hyperparameter of KerasTuner that gives an argument its value.

    Args:
        name: The name of the hyperparameter.
        argument: The name of the argument.
        values: List of the values.
        default: The value of the first trial, one of `values`.
        condition: `None`, or the pair of the `Choice` that decides whether
            the argument has an effect and of its values with which it does.
    """

    def __init__(self, name, argument, values, default, condition=None):
        self.name = name
        self.argument = argument
        self.values = values
        self.condition = condition
        # KerasTuner takes integers, floats or strings, but no mixture.
        kinds = {type(value) for value in values}
        if kinds == {int, float}:
            self._encode = float
        elif kinds in ({int}, {float}, {str}):
            self._encode = kinds.pop()
        else:
            self._encode = json.dumps
        self.codes = [self._encode(value) for value in values]
        self.default = self._encode(default)

    def declare(self, hp):
        """Declare it to a `keras_tuner.HyperParameters`.

        Returns:
            A dictionary with the argument's value, empty where it has no
            effect.
        """
        scope = contextlib.nullcontext()
        if self.condition is not None:
            parent, values = self.condition
            scope = hp.conditional_scope(
                parent.name, [parent._encode(value) for value in values]
            )
        with scope:
            code = hp.Choice(self.name, self.codes, default=self.default)
        if code is None:
            return {}
        return {
            self.argument: (
                json.loads(code) if self._encode is json.dumps else code
            )
        }


def find_choices(preset, given, space):
    """The hyperparameters of a search.

    Args:
        preset: A `keras_selfattn.models.Preset`.
        given: Dictionary of arguments of the model and training values: by
            name a list of values to search, or one fixed value.
        space: Sequence of `Values`, the arguments that are searched unless
            they are given.

    Returns:
        A list of `Choice`, parents first.

    Raises:
        ValueError: if there is no argument of a name, or if one is not as
            expected, cannot be searched, or changes nothing in any trial.
    """
    model_class = CLASSES[preset.class_name]
    searched = {e.argument: e for e in space if e.argument not in given}
    entries = {
        entry.argument: searched.get(entry.argument, entry)
        for entry in SPACES[preset.class_name]
        if entry.argument in given or entry.argument in searched
    }
    entries.update(searched)
    own = {**defaults(model_class), **preset.model}
    lists = {name: v for name, v in given.items() if isinstance(v, list)}
    of_preset = Values("optimizer", [preset.training["optimizer"]])
    reached = entries.get("optimizer", of_preset).values
    _check_given(given, preset, own, _listed(given.get("optimizer", reached)))
    of_optimizers = {}
    for optimizer in optimizers.OPTIMIZERS:
        for name, default in optimizers.defaults(optimizer).items():
            own[name] = default
            if name in lists:
                values = of_optimizers.setdefault(name, {})
                values[optimizer] = lists[name]
    own.update(training_values(preset, {}))
    for name, values in of_optimizers.items():
        entries.setdefault(name, Values(name, values, "optimizer"))
    for name, values in lists.items():
        entries.setdefault(name, Values(name, values))
    choices = {}
    for name, entry in entries.items():
        if name in given and name not in lists:
            continue
        parent = choices.get(entry.parent)
        reached = _listed({**own, **given}.get(entry.parent))
        if parent is not None:
            reached = parent.values
        found = _choices(entry, own, lists.get(name), parent, reached)
        choices.update((choice.name, choice) for choice in found)
    choices = list(choices.values())
    _check_effect(model_class, {**preset.model, **given}, given, choices)
    return choices


def _listed(value):
    return value if isinstance(value, list) else [value]


def _check_given(given, preset, known, reached):
    """`ValueError` where one of the optimizers reached can't have a value."""
    for name, value in given.items():
        if is_training_value(name):
            taking = [each for each in reached if name in value_names(each)]
            for optimizer in taking or reached[:1]:
                for each in _listed(value):
                    training_values(
                        preset, {"optimizer": optimizer, name: each}
                    )
        elif name not in known:
            raise ValueError(
                "There is no such training value, nor argument of the model: "
                f"{name!r}. The model takes {', '.join(sorted(known))}"
            )
        if not isinstance(value, list):
            continue
        if name == "character_vocabulary_size" or (
            name in BY_NAME and not BY_NAME[name].is_searchable
        ):
            raise ValueError(
                f"{name!r} is the same in all trials, and cannot be "
                f"searched. Received: {name}={value}"
            )
        if not value:
            raise ValueError(
                f"A search needs at least one value of {name!r}. "
                "Received an empty list"
            )


def _check_effect(model_class, fixed, given, choices):
    reached = {name: _listed(value) for name, value in fixed.items()}
    reached.update({choice.argument: [] for choice in choices})
    for choice in choices:
        reached[choice.argument] += choice.values
    asked = {name: reached[name] for name in given}
    check_search(model_class, asked, reached)


def _choices(entry, own, listed, parent, reached):
    """The hyperparameters, none to several, that an entry comes to.

    Args:
        entry: `Values`.
        own: Dictionary of the preset's own values.
        listed: The values that were asked for, or `None`.
        parent: The `Choice` of the entry's parent, or `None` where that is
            fixed.
        reached: List of the values that the parent may have.
    """
    argument = entry.argument
    own_value = own[argument]
    if entry.parent is None:
        values = listed or _sorted([*entry.values, own_value])
        default = _own_or_first(own_value, values)
        yield Choice(argument, argument, values, default)
        return
    lists = {v: entry.values[v] for v in reached if v in entry.values}
    if listed:
        groups = [(argument, listed, list(lists))] if lists else []
    else:
        # Each parent's value has a range, and so a hyperparameter, of its own.
        groups = [
            (argument if len(lists) == 1 else f"{v}_{argument}", values, [v])
            for v, values in lists.items()
        ]
    for name, values, when in groups:
        default = values[0]
        if listed:
            default = _own_or_first(own_value, values)
        elif own[entry.parent] in when:
            values, default = _sorted([*values, own_value]), own_value
        else:
            values = _sorted(values)
        condition = (parent, when) if len(when) < len(reached) else None
        yield Choice(name, argument, values, default, condition)


def _own_or_first(own_value, values):
    """The preset's own value where a list has it, otherwise the first one."""
    own_value = _hashable(own_value)
    return next((v for v in values if _hashable(v) == own_value), values[0])


def _hashable(value):
    """A value, as a tuple where that or a list may say it."""
    return tuple(value) if isinstance(value, list) else value


def _sorted(values):
    values = list(dict.fromkeys(map(_hashable, values)))
    if any(isinstance(value, str) for value in values):
        return values
    return sorted(values, key=lambda value: (value is not None, value or 0))

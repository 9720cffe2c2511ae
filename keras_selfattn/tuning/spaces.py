"""Search spaces: which values of which arguments a search may take."""

import contextlib
import json
import typing


class Values(typing.NamedTuple):
    """The values that a search tries for an argument.

    Attributes:
        argument: The name of an argument of the model or of the training.
        values: List of values, the papers' own first; or, with `parent`, a
            dictionary of such lists by the value of the parent that they
            belong to.
        parent: The name of the argument that decides which list counts, or
            `None`. Without a list for its value the argument has no effect.
    """

    argument: str
    values: typing.Any
    parent: str | None = None


_FACTORS = [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]

# The grid varies the last ones first, so they come in rising importance.
_TRAINING = (
    Values("optimizer", ["adam", "adagrad", "sgd"]),
    Values(
        "learning_rate",
        {
            "sgd": [0.06, 0.02, 0.2],
            "adagrad": [0.05, 0.01, 0.025],
            "adam": [1e-3, 4e-4, 2e-3],
        },
        "optimizer",
    ),
)
_ENCODER = (
    Values("row_units", [None, 25, 150, 300]),
    Values("column_units", [None, 10, 20]),
    Values("dropout", [0.5, 0.0, 0.2]),
    Values("batch_size", [32, 16, 50, 128]),
    Values("pooling", ["structured", "generalized", "max", "mean", "last"]),
    Values(
        "attention_dim",
        {"structured": [350, 150], "generalized": [300, 600]},
        "pooling",
    ),
    Values("margin", {"generalized": [1.0, 0.5, 2.0]}, "pooling"),
    Values("parameter_penalty", {"generalized": [1e-2, *_FACTORS]}, "pooling"),
    Values("embedding_penalty", {"generalized": _FACTORS}, "pooling"),
    Values(
        "attention_penalty",
        {
            "structured": [1.0, 0.0, 0.01, 0.1, 0.3],
            "generalized": _FACTORS,
        },
        "pooling",
    ),
    Values(
        "num_heads",
        {"structured": [30, 1, 5, 10, 20], "generalized": [5, 1, 3, 7, 9]},
        "pooling",
    ),
)
SPACES = {
    "SentenceClassifier": (*_ENCODER, *_TRAINING),
    "SentencePairClassifier": (
        Values("interaction", ["gated", "heuristic"]),
        *_ENCODER,
        *_TRAINING,
    ),
    "DecomposableClassifier": (
        Values("projection_dim", [200, 100, 300]),
        Values("intra_sentence", [False, True]),
        Values("max_distance", {True: [10, 5, 20]}, "intra_sentence"),
        Values("dropout", [0.2, 0.0, 0.1, 0.5]),
        Values("batch_size", [4, 16, 32]),
        *_TRAINING,
    ),
}


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


def make_choices(space, preset, given):
    """The hyperparameters of a space, with what the user asks for instead.

    Args:
        space: Sequence of `Values`, parents first.
        preset: Dictionary of the preset's values of all arguments.
        given: Dictionary of what takes the place of the space: by the name
            of an argument a list of values to search, or one fixed value.

    Returns:
        A list of `Choice`, parents first.
    """
    lists = {name: v for name, v in given.items() if isinstance(v, list)}
    fixed = {name: v for name, v in given.items() if name not in lists}
    known = {entry.argument for entry in space}
    beyond = [Values(n, v) for n, v in lists.items() if n not in known]
    made = {}
    for entry in (*space, *beyond):
        if entry.argument in fixed:
            continue
        found = {**preset, **fixed}.get(entry.parent)
        for choice in _choices(
            entry,
            preset,
            lists.get(entry.argument),
            made.get(entry.parent),
            found,
        ):
            made[choice.name] = choice
    return list(made.values())


def _choices(entry, preset, listed, parent, fixed_parent):
    """The hyperparameters, none to several, that an entry comes to."""
    argument = entry.argument
    mine = preset[argument]
    if entry.parent is None:
        values = listed or _with_own(entry.values, mine)
        default = mine if mine in values else values[0]
        yield Choice(argument, argument, values, default)
        return
    reachable = [fixed_parent] if parent is None else parent.values
    lists = {v: entry.values[v] for v in reachable if v in entry.values}
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
            default = mine if mine in values else default
        elif preset[entry.parent] in when:
            values, default = _with_own(values, mine), mine
        else:
            values = _sorted(values)
        condition = None
        if len(when) < len(reachable):
            condition = (parent, when)
        yield Choice(name, argument, values, default, condition)


def _with_own(values, mine):
    return _sorted([*values, mine])


def _sorted(values):
    values = list(dict.fromkeys(values))
    if any(isinstance(value, str) for value in values):
        return values
    return sorted(values, key=lambda value: (value is not None, value or 0))

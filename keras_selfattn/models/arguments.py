"""Arguments of the classifiers: what they may be, and which go together."""

import inspect
import itertools
import typing

import keras

# Those that every classifier takes, as every Keras layer does.
OF_ALL = ("name", "dtype", "trainable")
# What every classifier is handed to keep, and is not built of.
HANDED = ("preprocessor", "labels")

_BASELINES = ("max", "mean", "last")
_PENALTIES = ("parameter_penalty", "attention_penalty", "embedding_penalty")


class Condition(typing.NamedTuple):
    """What a model must be like for some of its arguments to do anything.

    Attributes:
        arguments: Dictionary by the name of each of these arguments of the
            values that ask for nothing, and so go with any model.
        needs: Str, what they take.
        on: The names of the arguments that decide.
        holds: Function of the values of those. Of a value that is none, it
            says yes: that is for others to find.
    """

    arguments: dict
    needs: str
    on: tuple
    holds: typing.Callable


CONDITIONS = (
    Condition(
        {"attention_dim": (), "num_heads": (), "attention_penalty": (0,)},
        "pooling='structured' or 'generalized'",
        ("pooling",),
        lambda pooling: pooling not in _BASELINES,
    ),
    Condition(
        {"parameter_penalty": (0,), "embedding_penalty": (0,)},
        "pooling='generalized'",
        ("pooling",),
        lambda pooling: pooling not in ("structured", *_BASELINES),
    ),
    Condition(
        {"margin": ()},
        "pooling='generalized' and a penalty",
        ("pooling", *_PENALTIES),
        lambda pooling, *penalties: (
            pooling not in ("structured", *_BASELINES) and any(penalties)
        ),
    ),
    Condition(
        {"kernel_size": ()},
        "encoder='cnn'",
        ("encoder",),
        lambda encoder: encoder != "bilstm",
    ),
    Condition(
        {"lstm_implementation": ("auto", "keras")},
        "encoder='bilstm'",
        ("encoder",),
        lambda encoder: encoder != "cnn",
    ),
    Condition(
        {"interaction_units": ()},
        "interaction='gated'",
        ("interaction",),
        lambda interaction: interaction != "heuristic",
    ),
    Condition(
        {"hidden_units": (), "hidden_shortcut": (False,)},
        "neither `row_units` nor `column_units`",
        ("row_units", "column_units"),
        lambda *units: units == (None, None),
    ),
    Condition(
        {"character_cnn": (True,), "ambiguity_penalty": (0,)},
        "`ngram_buckets`",
        ("ngram_buckets",),
        lambda buckets: buckets is not None,
    ),
    Condition(
        {"max_distance": ()},
        "intra_sentence=True",
        ("intra_sentence",),
        bool,
    ),
)


def names(model_class):
    """The names of the arguments that a class takes."""
    return (*_parameters(model_class), *OF_ALL, *HANDED)


def by_new_names(values):
    """Arguments by the names that they have today.

    Args:
        values: Dictionary of arguments, as earlier versions took them too.

    Example:

    >>> by_new_names({"units": 9, "use_cudnn": False})
    {'units': 9, 'lstm_implementation': 'keras'}
    """
    if "use_cudnn" not in values:
        return values
    values = dict(values)
    older = values.pop("use_cudnn")
    newer = older
    if isinstance(older, bool):
        newer = "cudnn" if older else "keras"
    if values.setdefault("lstm_implementation", newer) != newer:
        raise ValueError(
            "`use_cudnn` is the older name of `lstm_implementation`: expected "
            f"one of them. Received: use_cudnn={older!r}, "
            f"lstm_implementation={values['lstm_implementation']!r}"
        )
    return values


def check(model_class, given):
    """`ValueError` where an argument does not exist, or changes nothing.

    Args:
        model_class: A class of classifiers.
        given: Dictionary of the arguments that it was given.
    """
    known = names(model_class)
    for name in given:
        if name not in known:
            raise ValueError(
                f"{model_class.__name__} has no argument {name!r}. It takes: "
                f"{', '.join(known)}"
            )
    for name, condition in _idle(model_class, given).items():
        values = {**defaults(model_class), **given}
        because = ", ".join(f"{on}={values[on]!r}" for on in condition.on)
        raise ValueError(
            f"`{name}` changes nothing with {because}: it takes "
            f"{condition.needs}. Received: {name}={given[name]!r}"
        )


def check_search(model_class, searched, values):
    """`ValueError` where an argument changes nothing in any trial.

    Args:
        model_class: A class of classifiers.
        searched: Dictionary of lists of the values of the arguments to check.
        values: Dictionary of lists of the values that others may come to.
    """
    known = {n: [value] for n, value in defaults(model_class).items()}
    known.update(values)
    for condition in CONDITIONS:
        asking = [
            name
            for name, nothing in condition.arguments.items()
            if any(value not in nothing for value in searched.get(name, ()))
        ]
        trials = itertools.product(*(known.get(on, ()) for on in condition.on))
        if asking and not any(condition.holds(*trial) for trial in trials):
            raise ValueError(
                f"`{asking[0]}` changes nothing in any trial: it takes "
                f"{condition.needs}. "
                f"Received: {asking[0]}={searched[asking[0]]!r}"
            )


def applying(model_class, values, given=()):
    """The arguments without those that change nothing beside the others.

    Args:
        model_class: A class of classifiers.
        values: Dictionary of arguments.
        given: Names of those that stay, so that the class refuses them.
    """
    idle = _idle(model_class, values)
    return {
        name: value
        for name, value in values.items()
        if name in given or name not in idle
    }


def plain(values):
    """Arguments as JSON takes them.

    Objects of Keras become their configurations. So two models never share an
    initializer, which gives the same values each time it is called.
    """
    values = by_new_names(values)
    return {name: _plain(name, value) for name, value in values.items()}


def dtype_policy(dtype):
    """The policy of a `dtype`, or `ValueError` where no model can have it."""
    try:
        policy = keras.dtype_policies.get(dtype)
        kinds = {policy.compute_dtype, policy.variable_dtype}
    except (TypeError, ValueError, AttributeError):
        kinds = {None}
    if not all(
        str(kind).removeprefix("b").startswith("float") for kind in kinds
    ) or getattr(policy, "quantization_mode", None):
        raise ValueError(
            "`dtype` must be a policy of floats, such as 'float32' or "
            f"'mixed_bfloat16'. Received: dtype={dtype!r}"
        )
    return policy


def _plain(name, value):
    if isinstance(value, list) and name in ("dtype", "embeddings_initializer"):
        # Those that a search tries.
        return [_plain(name, each) for each in value]
    if name == "dtype":
        policy = dtype_policy(value)
        # A serialized policy means something to this Keras version alone.
        if type(policy) is keras.DTypePolicy:
            return policy.name
        return keras.dtype_policies.serialize(policy)
    if name != "embeddings_initializer" or isinstance(value, (str, dict)):
        return value
    try:
        initializer = keras.initializers.get(value)
        if isinstance(initializer, keras.initializers.Initializer):
            config = keras.initializers.serialize(initializer)
            keras.initializers.get(config)
            return config
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"`{name}` must be the name, the configuration or an object of a "
        "`keras.initializers.Initializer` that Keras can load. "
        f"Received: {name}={value!r}"
    )


def _idle(model_class, values):
    """The conditions that do not hold, by the argument that takes them."""
    known = {**defaults(model_class), **values}
    return {
        name: condition
        for condition in CONDITIONS
        if all(on in known for on in condition.on)
        and not condition.holds(*(known[on] for on in condition.on))
        for name, nothing in condition.arguments.items()
        if name in values and values[name] not in nothing
    }


def defaults(model_class):
    """The values of the arguments of a class that are not given."""
    return {
        name: parameter.default
        for name, parameter in _parameters(model_class).items()
        if parameter.default is not parameter.empty
    }


def _parameters(model_class):
    # A subclass may hand them on by its `**kwargs`.
    for base in model_class.__mro__:
        build = getattr(vars(base).get("__init__"), "__wrapped__", None)
        if build is not None:
            _, *parameters = inspect.signature(build).parameters.values()
            return {
                parameter.name: parameter
                for parameter in parameters
                if parameter.kind == parameter.POSITIONAL_OR_KEYWORD
            }
    return {}

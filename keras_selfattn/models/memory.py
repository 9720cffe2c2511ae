"""How many weights a classifier will have, told before it takes the memory."""

import itertools

from keras_selfattn.backends.memory import machine_memory
from keras_selfattn.models import arguments

# As `keras_selfattn.layers.CharacterCNN` has them.
_CHARACTER_DIM, _FILTERS, _KERNELS = 15, 100, (1, 3, 5)
_BYTES = {"float16": 2, "bfloat16": 2, "float64": 8}


def check_memory(model_class, given, slots=0):
    """`ValueError` where a machine has no room for a model's weights.

    Args:
        model_class: A class of classifiers.
        given: Dictionary of its arguments, the two sizes among them.
        slots: Integer, how many numbers an optimizer keeps for each weight
            that it trains.
    """
    values = {**arguments.defaults(model_class), **given}
    there = machine_memory()
    if there is None:
        return
    try:
        count = count_weights(model_class, values)
        dtype = arguments.dtype_policy(values.get("dtype")).variable_dtype
    except (TypeError, KeyError, IndexError):
        # Values of another kind are refused by whoever takes them.
        return
    trained = count
    if not values["trainable_embeddings"]:
        trained -= values["vocabulary_size"] * values["embedding_dim"]
    needed = (count + slots * trained) * _BYTES.get(dtype, 4)
    if needed > there:
        what = "weights and their optimizer" if slots else "weights"
        raise ValueError(
            f"The {what} need {needed / 1e9:,.1f} GB, and this machine has "
            f"{there / 1e9:,.1f} GB of memory. Received: arguments for "
            f"{count:,} weights: {_sizes(given)}"
        )


def count_weights(model_class, values):
    """The number of weights of a classifier.

    Args:
        model_class: A class of classifiers.
        values: Dictionary of all its arguments.
    """
    width = values["embedding_dim"]
    count = values["vocabulary_size"] * width
    characters = values["character_vocabulary_size"]
    if values.get("ngram_buckets") is not None:
        count += values["ngram_buckets"] * values["num_classes"]
    if characters is not None and values.get("character_cnn", True):
        count += characters * _CHARACTER_DIM
        count += sum(_dense(k * _CHARACTER_DIM, _FILTERS) for k in _KERNELS)
        width += _FILTERS * len(_KERNELS)
    if "projection_dim" in values:
        return count + _decomposable(values, width)
    return count + _sentence(values, width)


def _decomposable(values, words):
    width = values["projection_dim"]
    count = (words + bool(values["exact_match"])) * width
    if values["intra_sentence"]:
        count += _network(width, values["attend_units"])
        count += 2 * values["max_distance"] + 2
        width *= 2
    compared = values["compare_units"]
    hidden = [*values["aggregate_units"], values["num_classes"]]
    return (
        count
        + _network(width, values["attend_units"])
        + _network(2 * width, compared)
        + _network(2 * compared[-1], hidden)
    )


def _sentence(values, words):
    units = values["units"]
    if values["encoder"] == "cnn":
        count = _dense(values["kernel_size"] * words, units)
        width = units
    else:
        count, width = 0, 0
        for number, each in enumerate(_several(units)):
            features = words if not number else width + words
            count += 2 * 4 * each * (features + each + 1)
            width = 2 * each
    heads = 1
    if values["pooling"] in ("structured", "generalized"):
        heads, hidden = values["num_heads"], values["attention_dim"]
        if values["pooling"] == "structured":
            count += width * hidden + hidden * heads
        else:
            count += heads * _network(width, [hidden, width])
    interaction = values.get("interaction")
    if interaction == "gated":
        count += 2 * heads * width * values["interaction_units"]
        width = values["interaction_units"]
    elif interaction == "heuristic":
        width *= 4
    return count + _head(values, heads, width)


def _head(values, heads, width):
    rows, columns = values["row_units"], values["column_units"]
    classes = values["num_classes"]
    if (rows, columns) != (None, None):
        rows, columns = rows or 0, columns or 0
        return (
            heads * rows * (width + 1)
            + width * columns * (heads + 1)
            + _dense(heads * rows + width * columns, classes)
        )
    features, below, count = heads * width, heads * width, 0
    for number, each in enumerate(_several(values["hidden_units"])):
        if number and values["hidden_shortcut"]:
            below += features
        count += _dense(below, each)
        below = each
    return count + _dense(below, classes)


def _several(units):
    return [units] if isinstance(units, int) else units


def _network(width, units):
    return sum(
        _dense(below, each)
        for below, each in itertools.pairwise((width, *units))
    )


def _dense(inputs, outputs):
    return (inputs + 1) * outputs


def _sizes(given):
    return ", ".join(
        f"{name}={value!r}"
        for name, value in given.items()
        if isinstance(value, (int, list, tuple)) and value not in (0, 1)
    )

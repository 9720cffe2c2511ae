"""Raw texts in the forms that users hold them: lists, arrays, datasets."""

import collections.abc
import itertools
import numbers
import types

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import sides as text_sides
from keras_selfattn.streams import column_names
from keras_selfattn.streams import several
from keras_selfattn.text.utf8 import decoded

# Of a dataset of single rows, read at once.
_ROWS_AT_ONCE = 1024
_TEXT_KINDS = tuple("OSUT")
# What a table has beside, or without, `keras_selfattn.sides.NAMES`.
_TEXT = ("text",)
_STREAM = (
    "Raw texts come as a list, an array, a column or a `tf.data.Dataset`, "
    "which `tf.data.Dataset.from_generator` makes. Received: {} of texts"
)


def are_texts(data):
    """Whether data are raw texts, or meant to be, and no ids.

    Args:
        data: What a Keras model is asked with.

    Returns:
        `False` for arrays, tensors and datasets of numbers, alone or by the
        name of an input, and for what Keras alone can read.

    Example:

    >>> are_texts(["A dog."]), are_texts(np.array([[3, 1]]))
    (True, False)
    """
    if isinstance(data, tf.data.Dataset):
        return _is_dataset_of_texts(data)
    if isinstance(data, keras.utils.PyDataset):
        # In older versions of Keras it has no iterator.
        has_batches = hasattr(data, "__len__") and len(data) > 0
        return has_batches and are_texts(_inputs(data[0]))
    if isinstance(data, collections.abc.Mapping):
        return any(map(are_texts, data.values()))
    if isinstance(data, keras.KerasTensor):
        return data.dtype == "string"
    if tf.is_tensor(data):
        return data.dtype == tf.string
    if hasattr(data, "dtype"):
        return _is_of_strings(data.dtype)
    if hasattr(data, "dtypes"):
        return any(map(_is_of_strings, data.dtypes))
    if hasattr(data, "to_pylist"):
        return are_texts(data.slice(0, 1).to_pylist())
    if isinstance(data, (str, bytes, numbers.Number, type(None))):
        return True
    if isinstance(data, collections.abc.Sequence) or _is_column(data):
        return len(data) == 0 or are_texts(data[0])
    return False


def are_symbolic(data):
    """Whether data stand for what a graph will be given."""
    return any(
        isinstance(each, keras.KerasTensor)
        or (tf.is_tensor(each) and not hasattr(each, "numpy"))
        for each in keras.tree.flatten(data)
    )


def checked_generator(data):
    """A generator as it was, or `ValueError` where it gives raw texts.

    Args:
        data: What a Keras model is asked with.

    Returns:
        What is to be asked in its place; anything but a generator itself.
    """
    if not isinstance(data, types.GeneratorType):
        return data
    first = list(itertools.islice(data, 1))
    if first and are_texts(_inputs(first[0])):
        raise ValueError(_STREAM.format("a generator"))
    return (element for element in itertools.chain(first, data))


def rows_of(data, sides):
    """The texts of a model's rows.

    Args:
        data: Texts as `Classifier.fit` takes them, without labels.
        sides: `keras_selfattn.sides.SENTENCE` or `PAIR`, which the model has.

    Returns:
        An iterator of strings, or for pairs of tuples of two strings.

    Raises:
        ValueError: if there is no list of texts, if two columns differ in
            length, or, from the iterator, at a row that isn't a string, or
            a pair of them.

    Example:

    >>> from keras_selfattn.sides import PAIR
    >>> list(rows_of({"premise": ["A dog."], "hypothesis": ["A cat."]}, PAIR))
    [('A dog.', 'A cat.')]
    """
    rows = enumerate(_rows(data, sides), start=1)
    return (_checked(text, sides, row) for row, text in rows)


def rows_of_dataset(dataset, sides):
    """The rows of a dataset with what belongs to them.

    Args:
        dataset: `tf.data.Dataset` of texts, or of tuples of texts, labels
            and weights; batched or not.
        sides: As in `rows_of`.

    Yields:
        Tuples of a text, its label, its weight and the number of rows of its
        batch; `None` for what the dataset has not.
    """
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError(
            "A dataset of texts must end; `epochs`, and `steps_per_epoch`, say "
            "how often `fit` goes through it. Received: one that repeats "
            "forever"
        )
    names = _names(sides)
    row = 0
    batches = _batches(dataset, len(sides))
    for element in batches.as_numpy_iterator():
        texts, labels, weights = unpacked(element)
        columns = _columns_of_batch(texts, names)
        more = [
            _of_each("labels", labels, len(columns[0])),
            _of_each("weights", weights, len(columns[0])),
        ]
        size = len(columns[0]) if batches is dataset else None
        texts = columns[0] if len(names) == 1 else zip(*columns, strict=True)
        for text, label, weight in zip(texts, *more, strict=True):
            row += 1
            yield _checked(text, sides, row), label, weight, size


def strings_of(data):
    """All strings of texts, those of single texts and of pairs.

    Args:
        data: Texts as `rows_of` and `rows_of_dataset` take them.
    """
    if isinstance(data, tf.data.Dataset):
        for element in _batches(data, 1).as_numpy_iterator():
            leaves = tf.nest.flatten(_inputs(element))
            yield from itertools.chain.from_iterable(map(_decoded, leaves))
        return
    named = _named(data, text_sides.NAMES) or _named(data, _TEXT)
    if named is not None or isinstance(data, collections.abc.Mapping):
        data = (named or data).values()
    for row, text in enumerate(listed(several(data)), start=1):
        if isinstance(text, str):
            yield text
        elif hasattr(text, "__iter__") and not isinstance(text, bytes):
            yield from strings_of(text)
        else:
            raise ValueError(_unlike(row, "a string", text))


def listed(data):
    """Arrays, tensors and tables as lists of Python's values.

    Args:
        data: One of those; anything else is given back.
    """
    if tf.is_tensor(data):
        data = data.numpy()
    elif hasattr(data, "to_pylist"):
        # Arrow's `to_numpy` refuses strings.
        data = data.to_pylist()
    elif hasattr(data, "to_numpy"):
        data = data.to_numpy()
    return _decoded(data) if isinstance(data, np.ndarray) else data


def _checked(text, sides, row):
    """A text as a string or a tuple of two, or `ValueError`."""
    parts = (text,) if isinstance(text, str) else _parts(text, sides)
    if len(parts) != len(sides) or not all(
        isinstance(part, str) for part in parts
    ):
        expected = "a string" if len(sides) == 1 else "a pair of strings"
        raise ValueError(_unlike(row, expected, text))
    return str(parts[0]) if len(sides) == 1 else parts


def _parts(row, sides):
    """The texts of a row that is no string."""
    if isinstance(row, collections.abc.Mapping):
        return tuple((_named(row, _names(sides)) or {}).values())
    is_pair = len(sides) == 2 and hasattr(row, "__iter__")
    # A set has no first text.
    if is_pair and not isinstance(row, (bytes, collections.abc.Set)):
        return tuple(row)
    return ()


def _unlike(row, expected, text):
    received = repr(text)
    if len(received) > 200:
        received = f"{received[:200]}…"
    return f"Text {row} must be {expected}. Received: {received}"


def _names(sides):
    return _TEXT if len(sides) == 1 else text_sides.NAMES


def _named(data, names):
    """What a table, or a row of one, has by these names, or `None`."""
    if not set(names) <= set(column_names(data)):
        return None
    return {name: data[name] for name in names}


def _is_of_strings(dtype):
    """Whether values are strings, or Python's own objects."""
    if hasattr(dtype, "to_python"):
        # Those of polars, which are of no kind; nor are torch's.
        return issubclass(dtype.to_python(), str)
    return getattr(dtype, "kind", None) in _TEXT_KINDS


def _is_dataset_of_texts(dataset):
    texts = _inputs(dataset.element_spec)
    return any(
        getattr(spec, "dtype", None) == tf.string
        for spec in tf.nest.flatten(texts)
    )


def _is_column(data):
    # One of a Hugging Face dataset is no `Sequence`.
    return all(
        hasattr(data, method)
        for method in ("__len__", "__getitem__", "__iter__")
    )


def _decoded(array):
    """A list of an array's values, with strings in the place of UTF-8."""
    array = np.asarray(array)
    if array.ndim > 1:
        return [_decoded(row) for row in array]
    # Dates of nanoseconds would become integers.
    values = list(array) if array.dtype.kind in "mM" else array.tolist()
    return [
        decoded(value) if isinstance(value, bytes) else value
        for value in values
    ]


def _rows(data, sides):
    """The rows of texts, not checked yet."""
    if isinstance(data, keras.utils.PyDataset):
        raise ValueError(_STREAM.format("a PyDataset"))
    names, is_pair = _names(sides), len(sides) == 2
    if not isinstance(data, collections.abc.Mapping):
        # A table may have more than the texts.
        there = column_names(data)
        if len(there) == len(names) == 1:
            data = {names[0]: data[there[0]]}
        data = _named(data, names) or data
    if isinstance(data, collections.abc.Mapping):
        data = _by_names(data, names)
        return _zipped(data) if is_pair else listed(several(data[0]))
    data = several(data)
    if (
        is_pair
        and isinstance(data, tuple)
        and len(data) == 2
        and not any(isinstance(column, (str, bytes)) for column in data)
    ):
        return _zipped(data)
    rows = listed(data)
    is_column = getattr(data, "ndim", 1) == 2 and data.shape[1] == 1
    return rows if is_pair or not is_column else [row[0] for row in rows]


def _by_names(columns, names):
    """The columns of a dictionary, as a tuple, or `ValueError`."""
    if set(columns) != set(names):
        raise ValueError(
            f"Expected texts by the names {', '.join(names)}. "
            f"Received: {', '.join(map(str, columns))}"
        )
    return tuple(columns[name] for name in names)


def _zipped(columns):
    first, second = (list(listed(several(column))) for column in columns)
    if len(first) != len(second):
        raise ValueError(
            "The two columns of pairs must be of one length. "
            f"Received: {len(first)} and {len(second)} texts"
        )
    return zip(first, second, strict=True)


def _inputs(element):
    """What comes first, where a `train_step` of one's own may take more."""
    return (*element, None)[0] if isinstance(element, tuple) else element


def unpacked(element):
    """Texts, labels and weights, `None` where there are none."""
    if not isinstance(element, tuple):
        element = (element,)
    if len(element) > 3:
        raise ValueError(
            "Expected texts, or texts with labels, or with labels and weights. "
            f"Received: {len(element)} of each"
        )
    return (*element, None, None)[:3]


def _batches(dataset, sides):
    """A dataset whose elements are batches of rows."""
    spec = tf.nest.flatten(_inputs(dataset.element_spec))
    rank = spec[0].shape.rank
    is_row = rank == 0 or (rank == 1 and len(spec) < sides)
    return dataset.batch(_ROWS_AT_ONCE) if is_row else dataset


def _of_each(what, values, texts):
    """A list of what belongs to each text of a batch, or of `None`."""
    if values is None:
        return [None] * texts
    if np.shape(values)[:1] != (texts,):
        raise ValueError(
            f"Expected as many {what} as texts in each batch. "
            f"Received: {what} of shape {np.shape(values)} for {texts} texts"
        )
    return _decoded(values)


def _columns_of_batch(texts, names):
    if isinstance(texts, collections.abc.Mapping):
        texts = _by_names(texts, names)
    elif not isinstance(texts, tuple):
        texts = tuple(texts.T) if np.ndim(texts) == 2 else (texts,)
    if len(texts) != len(names):
        raise ValueError(
            "Expected a dataset whose texts, beside the labels, are "
            f"{len(names)} in a row. Received: {len(texts)}"
        )
    return [_decoded(column) for column in texts]

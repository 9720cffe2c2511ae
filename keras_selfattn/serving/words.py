"""Rows of outputs without the padding of their batch."""

import numpy as np


def cropped(row, is_aligned):
    """The outputs of a row, cut to the words it has.

    Args:
        row: Dictionary by name of the outputs of `attend` or `align` for one
            text or pair, as `keras_selfattn.serving.export` describes them;
            tokens are bytes, padded with `b""`. Outputs without words are
            left as they are.
        is_aligned: Boolean, whether the scores of a pair are those of words
            that look at each other.

    Returns:
        The same dictionary of smaller arrays.
    """
    sizes = {
        name.removesuffix("tokens"): sum(token != b"" for token in tokens)
        for name, tokens in row.items()
        if name.endswith("tokens")
    }
    if not sizes:
        return row
    return {
        name: output[_within(name, output, sizes, is_aligned)]
        for name, output in row.items()
    }


def _within(name, output, sizes, is_aligned):
    """The slices of an output that hold words of the row."""
    (side,) = (side for side in sizes if name.startswith(side))
    if name.endswith("tokens"):
        return slice(sizes[side])
    if name.endswith("intra_scores"):
        counts = [sizes[side], sizes[side]]
    elif is_aligned:
        (other,) = sizes.keys() - {side}
        counts = [sizes[side], sizes[other]]
    else:
        counts = [len(output), sizes[side]]
    return tuple(map(slice, counts))


def padded(values):
    """Outputs of some rows as one array, padded to the longest."""
    if isinstance(values[0], bytes):
        # An array of NumPy's own strings would drop zero bytes at their end.
        column = np.empty(len(values), object)
        column[:] = values
        return column
    size = np.max([value.shape for value in values], axis=0, initial=0)
    fill = b"" if values[0].dtype == object else 0
    full = np.full((len(values), *size), fill, values[0].dtype)
    for row, value in zip(full, values, strict=True):
        row[tuple(map(slice, value.shape))] = value
    return full

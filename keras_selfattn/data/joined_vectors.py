"""Word vectors of several files, side by side."""

import os
import pathlib
from collections.abc import Sequence

import numpy as np

from keras_selfattn.data.word_vectors import load_word_vectors

# As a share of the mean diagonal element of the normal equations.
_RIDGE = 0.3


def load_joined_vectors(
    paths: str | os.PathLike | Sequence[str | os.PathLike],
    vocabulary: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of a vocabulary's words, each made of those of some files.

    A word's vector is its vectors in all files, one after the other. Those of
    a file are scaled so that the root mean square of their lengths is that of
    the first file's. Where a file has no vector for a word that another has,
    it is predicted from the other files' by a ridge regression, fitted on the
    words that this file and another have.

    Args:
        paths: Path of a file that `load_word_vectors` reads, or a sequence of
            them.
        vocabulary: Sequence of strings.

    Returns:
        A pair of the vectors, a float32 array of shape
        `(len(vocabulary), width)` with zeros where no file has one, and a
        boolean array of shape `(len(vocabulary),)`: which words have one. The
        width is the sum of the files'.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if there are no paths, or as `load_word_vectors`.

    References:
        - [Yin and Schütze, 2016](https://arxiv.org/abs/1508.04257), CONC and
            MutualLearning

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [os.path.join(folder, name) for name in ("a", "b")]
    ...     for path, row in zip(paths, ["the 3 4\\n", "the 1\\n"]):
    ...         with open(path, "w") as file:
    ...             _ = file.write(row)
    ...     vectors, found = load_joined_vectors(paths, ["the", "peace"])
    >>> vectors.tolist(), found.tolist()
    ([[3.0, 4.0, 5.0], [0.0, 0.0, 0.0]], [True, False])
    """
    if isinstance(paths, (str, os.PathLike)):
        return load_word_vectors(paths, vocabulary)
    loaded = [load_word_vectors(path, vocabulary) for path in paths]
    if not loaded:
        raise ValueError(
            f"`paths` must name a file of word vectors. Received: {paths!r}"
        )
    tables = [loaded[0][0]]
    length = _length(*loaded[0])
    for table, found in loaded[1:]:
        own = _length(table, found)
        tables.append(table * (length / own) if own and length else table)
    found = np.stack([found for _, found in loaded])
    joined = np.concatenate(
        [_completed(tables, found, number) for number in range(len(tables))], 1
    )
    return joined, np.any(found, axis=0)


def vector_files(
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
) -> str | list[str] | None:
    """Paths of files of word vectors, as settings hold them.

    Args:
        vectors: A path, a sequence of paths, or `None`.

    Returns:
        A string, a list of strings of several paths, or `None`.

    Raises:
        ValueError: if it is none of these.
    """
    if vectors is None or isinstance(vectors, (str, os.PathLike)):
        return None if vectors is None else str(vectors)
    paths = list(vectors) if isinstance(vectors, Sequence) else []
    if not paths or not all(
        isinstance(path, (str, os.PathLike)) for path in paths
    ):
        raise ValueError(
            "`vectors` must be the path of a file of word vectors, or a list "
            f"of paths. Received: vectors={vectors!r}"
        )
    return str(paths[0]) if len(paths) == 1 else list(map(str, paths))


def vector_names(
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
) -> str | list[str] | None:
    """As `vector_files`, the names of the files without their folders."""
    files = vector_files(vectors)
    if isinstance(files, list):
        return [pathlib.Path(file).name for file in files]
    return files and pathlib.Path(files).name


def _length(table, found):
    if not found.any():
        return 0.0
    squares = np.square(table[found], dtype="float64").sum(axis=1)
    return float(np.sqrt(squares.mean()))


def _completed(tables, found, number):
    """One file's vectors, with predicted ones of words that others have."""
    table, has_own = tables[number], found[number]
    others = [each for each in range(len(tables)) if each != number]
    has_other = found[others].any(0)
    missing, known = ~has_own & has_other, has_own & has_other
    if not missing.any() or not known.any():
        return table
    inputs = [_centered(tables[each], found[each]) for each in others]
    inputs = np.concatenate(inputs, 1)
    middle, mean = inputs[known].mean(0), table[known].mean(0)
    learned = inputs[known] - middle
    products = learned.T @ learned
    penalty = _RIDGE * np.trace(products) / len(products)
    # A word alone is its own mean: the products are zeros.
    products += max(penalty, 1e-12) * np.eye(len(products))
    kernel = np.linalg.solve(products, learned.T @ (table[known] - mean))
    result = table.copy()
    result[missing] = (inputs[missing] - middle) @ kernel + mean
    return result


def _centered(table, found):
    """Vectors less their mean, and zeros where there is none."""
    return np.where(
        found[:, None], table - table[found].mean(0, dtype="float64"), 0.0
    )

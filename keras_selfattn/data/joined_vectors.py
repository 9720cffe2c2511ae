"""Word vectors of several sources, side by side."""

import os
import pathlib
from collections.abc import Sequence

import numpy as np

# As a share of the mean diagonal element of the normal equations.
_RIDGE = 0.3


def join_vectors(
    loaded: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Several tables of the vectors of the same words, side by side.

    A word's vector is its vectors in all tables, one after the other. Those of
    a table are scaled so that the root mean square of their lengths is that of
    the first one's. Where a table has no vector for a word that another has,
    it is predicted from the other tables' by a ridge regression, fitted on the
    words that this table and another have.

    Args:
        loaded: Sequence of pairs like that of `load_word_vectors`, all of the
            same vocabulary.

    Returns:
        A pair like these. The width is the sum of the tables'.

    Raises:
        ValueError: if there are none.

    References:
        - [Yin and Schütze, 2016](https://arxiv.org/abs/1508.04257), CONC and
            MutualLearning

    Example:

    >>> one = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([True, False])
    >>> two = np.array([[1.0], [0.0]]), np.array([True, False])
    >>> vectors, found = join_vectors([one, two])
    >>> vectors.tolist(), found.tolist()
    ([[3.0, 4.0, 5.0], [0.0, 0.0, 0.0]], [True, False])
    """
    if not loaded:
        raise ValueError("There must be word vectors to join. Received: none")
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
        vectors: A path or the name of a trained model, a sequence of these, or
            `None`.

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
            "`vectors` must be the path of a file of word vectors, the name "
            "of a trained model, or a list of these. Received: "
            f"vectors={vectors!r}"
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

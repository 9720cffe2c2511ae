"""Word vectors in text files."""

import codecs
import collections
import gzip
import itertools
import os
import pathlib
import re
from collections.abc import Iterator
from collections.abc import Sequence

import numpy as np

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import read_lines
from keras_selfattn.files import replaced_file

_FIRST_ROWS = 100
# The usual one: more takes a multiple of the time, for a hundredth of the size.
_LEVEL = 6
_HEADER = re.compile(rb"\d{1,18} \d{1,18}")
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def load_word_vectors(
    path: str | os.PathLike, vocabulary: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of a vocabulary's words, from a file of many more.

    The file is streamed: what is held are the vectors of the words found.

    A word without a vector of its own takes that of the first word in the
    file that differs from it in letter case only.

    Args:
        path: Path of a text file of GloVe or word2vec: a word and its numbers
            a line, separated by single spaces, with or without a first line
            that gives the number of rows and their width. It may end in
            `.gz`, or in `.zip` for an archive of one `.txt` or `.vec` file.
        vocabulary: Sequence of strings.

    Returns:
        A pair of the vectors, a float32 array of shape
        `(len(vocabulary), width)` with zeros where there is none, and a
        boolean array of shape `(len(vocabulary),)`: which words have one.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: with path and line, if the file is damaged or empty, a row
            isn't as wide as the others, the vector of a wanted word holds
            something else than finite numbers, or the number of rows isn't
            the announced one.

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vectors.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("the 0.5 1\\nWorld 2 -3\\n")
    ...     vectors, found = load_word_vectors(path, ["world", "peace"])
    >>> vectors.tolist(), found.tolist()
    ([[2.0, -3.0], [0.0, 0.0]], [True, False])
    """
    wanted = _Wanted(vocabulary)
    announced, width, rows = _read_rows(path)
    # Memory is taken only where a row is written.
    vectors = np.zeros((len(vocabulary), width), "float32")
    count = 0
    for number, line in rows:
        count += 1
        targets = wanted.rows_of(_word(path, number, line, width))
        if targets:
            vectors[targets] = _vector(path, number, line, width)
    if announced not in (None, count):
        raise line_error(
            path, 1, f"{announced} rows as announced there", f"{count}"
        )
    return vectors, wanted.found


def words_with_vectors(path: str | os.PathLike) -> Iterator[str]:
    """The words of a file of word vectors, one after the other.

    Args:
        path: As in `load_word_vectors`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: with path and line, if the file is damaged or empty.

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vectors.txt")
    ...     write_word_vectors(path, ["the", "World"], np.eye(2))
    ...     list(words_with_vectors(path))
    ['the', 'World']
    """
    _, width, rows = _read_rows(path)
    for number, line in rows:
        yield _word(path, number, line, width)


def take_word_vectors(
    words: Sequence[str], table: np.ndarray, vocabulary: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """As `load_word_vectors`, from an array.

    Args:
        words: Sequence of strings.
        table: Float array of shape `(len(words), width)`, their vectors.
        vocabulary: Sequence of strings.
    """
    wanted = _Wanted(vocabulary)
    vectors = np.zeros((len(vocabulary), table.shape[1]), "float32")
    for word, vector in zip(words, table, strict=True):
        vectors[wanted.rows_of(word)] = vector
    return vectors, wanted.found


def write_word_vectors(
    path: str | os.PathLike, words: Sequence[str], table: np.ndarray
) -> None:
    """Writes a file that `load_word_vectors` reads.

    Args:
        path: Path of the file, compressed where it ends in `.gz`. It is there
            whole or not at all.
        words: Sequence of strings without spaces.
        table: Float array of shape `(len(words), width)`, their vectors, of
            which five digits are written.

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vectors.txt.gz")
    ...     write_word_vectors(path, ["a", "b"], np.array([[1, 2.5], [0, -1]]))
    ...     vectors, _ = load_word_vectors(path, ["b", "a"])
    >>> vectors.tolist()
    [[0.0, -1.0], [1.0, 2.5]]
    """
    with replaced_file(path) as beside, open(beside, "wb") as file:
        if pathlib.Path(path).suffix.lower() == ".gz":
            # Neither name nor time: the same vectors make the same file.
            with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as compressed:
                compressed.writelines(_lines(words, table))
        else:
            file.writelines(_lines(words, table))


def _lines(words, table):
    for word, vector in zip(words, table, strict=True):
        numbers = " ".join(f"{number:.5g}" for number in vector.tolist())
        yield f"{word} {numbers}\n".encode()


class _Wanted:
    """Which rows of a vocabulary take the vector of a word, as words come."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        if isinstance(vocabulary, str):
            raise ValueError(
                "`vocabulary` must be a sequence of strings. "
                f"Received: vocabulary={vocabulary!r}"
            )
        self._vocabulary = vocabulary
        # Rows by their word in lower case: one as it is, as most are alone.
        self._rows: dict[str, int | tuple[int, ...]] = {}
        for row, word in enumerate(vocabulary):
            folded = word.lower()
            if folded in self._rows:
                others = self._rows[folded]
                others = (others,) if isinstance(others, int) else others
                self._rows[folded] = (*others, row)
            elif word:
                self._rows[folded] = row
        self.found = np.zeros(len(vocabulary), bool)
        self._found_exactly = np.zeros(len(vocabulary), bool)

    def rows_of(self, word):
        """The rows that take a word's vector: none has a better one."""
        same = self._rows.get(word.lower())
        if same is None:
            return []
        same = (same,) if isinstance(same, int) else same
        exact = [row for row in same if self._vocabulary[row] == word]
        # A repeated word keeps its first vector.
        targets = [row for row in exact if not self._found_exactly[row]]
        targets += [
            row for row in same if not self.found[row] and row not in exact
        ]
        self.found[targets] = True
        self._found_exactly[exact] = True
        return targets


def _read_rows(path):
    """The announced number of rows, their width, and the numbered rows."""
    rows = (
        (number, stripped)
        for number, line in enumerate(read_lines(path), 1)
        # Some writers end rows with a space.
        if (stripped := line.rstrip(b" \r\n"))
    )
    first = list(itertools.islice(rows, _FIRST_ROWS))
    if first:
        number, line = first[0]
        # Windows begins files with a byte order mark.
        first[0] = number, line.removeprefix(codecs.BOM_UTF8)
    announced = None
    if first and _HEADER.fullmatch(first[0][1]):
        announced, width = map(int, first.pop(0)[1].split())
    if not first:
        raise line_error(path, 1, "a word and its vector", "an empty file")
    if announced is None:
        width = _usual_width([line for _, line in first])
    if not width:
        number, line = first[0]
        raise line_error(
            path, number, "a word, spaces and numbers", _shown(line)
        )
    # Before anything is allocated, as a header may say what it likes.
    _word(path, *first[0], width)
    return announced, width, itertools.chain(first, rows)


def _usual_width(lines):
    """The commonest width, of the rows without a space in the word if any."""
    plain, others = collections.Counter(), collections.Counter()
    for line in lines:
        cells = line.split(b" ")[1:]
        numbers = itertools.takewhile(_is_number, reversed(cells))
        width = len(list(numbers))
        counter = plain if width == len(cells) else others
        counter[width] += 1
    return (plain or others).most_common(1)[0][0]


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _shown(line):
    return repr(line.decode(errors="replace"))


def _word(path, number, line, width):
    # Only the word is taken out: splitting each row would take most of the
    # time that reading a file takes.
    spaces = line.count(b" ")
    if spaces == width:
        word = line[: line.index(b" ")]
    elif spaces > width:
        word = line.rsplit(b" ", width)[0]
        # A word may hold spaces, but a number after one is of the vector.
        if any(map(_NUMBER.fullmatch, word.split(b" ")[1:])):
            raise line_error(
                path, number, f"a word, {width} numbers", _shown(line)
            )
    else:
        raise line_error(path, number, f"a word, {width} numbers", _shown(line))
    # word2vec cuts long words off anywhere, even within a character.
    return word.decode(errors="surrogateescape")


def _vector(path, number, line, width):
    cells = line.rsplit(b" ", width)[1:]
    try:
        with np.errstate(over="ignore"):
            vector = np.array([float(cell) for cell in cells], "float32")
    except ValueError as error:
        raise line_error(path, number, "numbers", str(error)) from error
    if not np.isfinite(vector).all():
        position = np.flatnonzero(~np.isfinite(vector))[0]
        raise line_error(
            path, number, "finite numbers", _shown(cells[position])
        )
    return vector

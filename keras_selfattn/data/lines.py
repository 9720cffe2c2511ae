"""Lines of plain and compressed files, and errors that name the line."""

import contextlib
import errno
import io
import os
import pathlib
import zipfile
from collections.abc import Iterator

from keras_selfattn.controls import one_line
from keras_selfattn.data import compression
from keras_selfattn.data import pipes

_BUFFER = 1 << 20
# In bytes. A few kilobytes of a compressed file may stand for more than the
# memory holds.
_LONGEST_LINE = 1 << 28
_LONGEST_SHOWN = 300
_TEXT_SUFFIXES = (".txt", ".vec")
# Of damaged archives zipfile and what it reads with have errors of all kinds,
# and so has the system, which is asked for places before a file's beginning.
_ARCHIVE_DAMAGE = (Exception,)
_NOT_THERE = (None, errno.EINVAL)


def read_lines(
    path: str | os.PathLike, member: str | None = None
) -> Iterator[bytes]:
    """The lines of a file, one at a time.

    Args:
        path: Path of a file, or `-` for standard input; `.gz`, `.bz2`, `.xz`,
            `.zst` and `.zip` behind its name say that it is compressed.
        member: Name of a file in a `.zip` archive; `None` where the archive
            holds one `.txt` or `.vec` file.

    Returns:
        An iterator of bytes, line ends included. Only `\\n` ends a line, as
        texts may hold the other characters that `str.splitlines` splits at.

    Raises:
        ValueError: if the compressed file is damaged or cut short, the
            archive doesn't hold such a file, or a line is longer than 256
            MiB.
        ImportError: if the package that reads such files is not installed.
    """
    number = 0
    open_file, damage = _opener(path, member)
    try:
        with open_file() as file:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    break
                yield line
            else:
                return
    except damage as error:
        _raise_others(error)
        raise line_error(
            place(path, member), number + 1, "an intact file", str(error)
        ) from error
    raise line_error(
        place(path, member),
        number,
        f"a line of less than {_LONGEST_LINE:,} bytes",
        "a longer one",
    )


def archive_members(path: str | os.PathLike) -> list[str]:
    """The names of the files in a `.zip` archive.

    Args:
        path: Path of the archive.

    Returns:
        List of strings, without the copies of file attributes that macOS
        adds.

    Raises:
        ValueError: if the archive is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except _ARCHIVE_DAMAGE as error:
        _raise_others(error)
        raise line_error(path, 1, "an intact file", str(error)) from error
    return [name for name in names if not name.startswith("__MACOSX/")]


def place(
    path: str | os.PathLike, member: str | None = None
) -> str | os.PathLike:
    """How messages name a file, or a member of an archive."""
    if pipes.is_standard_input(path):
        return "standard input"
    return path if member is None else f"{path}/{member}"


def line_error(
    path: str | os.PathLike, number: int, expected: str, received: str
) -> ValueError:
    """A `ValueError` about a line of a file.

    Args:
        path: Path of the file.
        number: Number of the line, from 1.
        expected: What should be there, in words.
        received: What is there, as a string; its beginning is shown.
    """
    received = one_line(received)
    if len(received) > _LONGEST_SHOWN:
        received = f"{received[:_LONGEST_SHOWN]}..."
    return ValueError(
        f"{place(path)}:{number}: expected {expected}, received {received}"
    )


def _raise_others(error):
    """Raise an error again that does not tell of a compressed file's content.

    Of those that do, the system's have no number.
    """
    if isinstance(error, OSError) and error.errno not in _NOT_THERE:
        raise error


def _opener(path, member):
    """A function that opens a file, and what its damage raises."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix == ".zip":
        member = _only_text(path) if member is None else member
        return _buffered(lambda: _open_member(path, member)), _ARCHIVE_DAMAGE
    if suffix in compression.SUFFIXES:
        open_compressed, damage = compression.opener(suffix)
        return _buffered(lambda: _decompressed(path, open_compressed)), damage
    return _buffered(lambda: _source(path)), ()


def _source(path):
    if pipes.is_pipe(path):
        return pipes.open_pipe(path)
    return open(path, "rb", buffering=0)


def _buffered(open_file):
    @contextlib.contextmanager
    def open_buffered():
        # gzip's and zipfile's own line iterators run in Python.
        with open_file() as file, io.BufferedReader(file, _BUFFER) as buffered:
            yield buffered

    return open_buffered


@contextlib.contextmanager
def _decompressed(path, open_compressed):
    with (
        io.BufferedReader(_source(path)) as file,
        open_compressed(file) as content,
    ):
        yield content


@contextlib.contextmanager
def _open_member(path, member):
    with zipfile.ZipFile(path) as archive, archive.open(member) as file:
        yield file


def _only_text(path):
    names = [
        name
        for name in archive_members(path)
        if name.lower().endswith(_TEXT_SUFFIXES)
    ]
    if len(names) != 1:
        raise line_error(
            path,
            1,
            f"one file ending in {' or '.join(_TEXT_SUFFIXES)}",
            f"{names}",
        )
    return names[0]

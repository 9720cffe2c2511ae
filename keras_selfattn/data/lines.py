"""Lines of plain and compressed files, and errors that name the line."""

import contextlib
import gzip
import io
import pathlib
import zipfile
import zlib

_BUFFER = 1 << 20
_LONGEST_SHOWN = 300
_TEXT_SUFFIXES = (".txt", ".vec")
_DAMAGE = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    zipfile.BadZipFile,
    # What zipfile raises for encrypted and exotic archives.
    RuntimeError,
)


def read_lines(path, member=None):
    """The lines of a file, one at a time.

    Args:
        path: Path of a file; `.gz` and `.zip` behind its name say that it is
            compressed.
        member: Name of a file in a `.zip` archive; `None` where the archive
            holds one `.txt` or `.vec` file.

    Returns:
        An iterator of bytes, line ends included. Only `\\n` ends a line, as
        texts may hold the other characters that `str.splitlines` splits at.

    Raises:
        ValueError: if the compressed file is damaged or cut short, or the
            archive doesn't hold such a file.
    """
    number = 0
    try:
        with _open(path, member) as file:
            for line in file:
                number += 1
                yield line
    except _DAMAGE as error:
        raise line_error(
            place(path, member), number + 1, "an intact file", str(error)
        ) from error


def archive_members(path):
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
    except _DAMAGE as error:
        raise line_error(path, 1, "an intact file", str(error)) from error
    return [name for name in names if not name.startswith("__MACOSX/")]


def place(path, member=None):
    """How messages name a file, or a member of an archive."""
    return path if member is None else f"{path}/{member}"


def line_error(path, number, expected, received):
    """A `ValueError` about a line of a file.

    Args:
        path: Path of the file.
        number: Number of the line, from 1.
        expected: What should be there, in words.
        received: What is there, as a string; its beginning is shown.
    """
    if len(received) > _LONGEST_SHOWN:
        received = f"{received[:_LONGEST_SHOWN]}..."
    return ValueError(
        f"{path}:{number}: expected {expected}, received {received}"
    )


@contextlib.contextmanager
def _open(path, member):
    suffix = pathlib.Path(path).suffix.lower()
    with contextlib.ExitStack() as stack:
        if suffix == ".gz":
            file = stack.enter_context(gzip.open(path))
        elif suffix == ".zip":
            if member is None:
                member = _only_text(path)
            archive = stack.enter_context(zipfile.ZipFile(path))
            file = stack.enter_context(archive.open(member))
        else:
            file = stack.enter_context(open(path, "rb", buffering=0))
        # gzip's and zipfile's own line iterators run in Python.
        yield stack.enter_context(io.BufferedReader(file, _BUFFER))


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

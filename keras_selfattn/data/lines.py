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


def read_lines(path):
    """The lines of a file, one at a time.

    Args:
        path: Path of a file; `.gz` and `.zip` behind its name say that it is
            compressed. A zip archive must hold one `.txt` or `.vec` file.

    Returns:
        An iterator of bytes, line ends included. Only `\\n` ends a line, as
        texts may hold the other characters that `str.splitlines` splits at.

    Raises:
        ValueError: if the compressed file is damaged or cut short.
    """
    number = 0
    try:
        with _open(path) as file:
            for line in file:
                number += 1
                yield line
    except (
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        zipfile.BadZipFile,
        # What zipfile raises for encrypted and exotic archives.
        RuntimeError,
    ) as error:
        message = line_error(path, number + 1, "an intact file", str(error))
        raise message from error


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
def _open(path):
    suffix = pathlib.Path(path).suffix.lower()
    with contextlib.ExitStack() as stack:
        if suffix == ".gz":
            file = stack.enter_context(gzip.open(path))
        elif suffix == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(path))
            file = stack.enter_context(archive.open(_member(archive, path)))
        else:
            file = stack.enter_context(open(path, "rb", buffering=0))
        # gzip's and zipfile's own line iterators run in Python.
        yield stack.enter_context(io.BufferedReader(file, _BUFFER))


def _member(archive, path):
    names = [
        name
        for name in archive.namelist()
        if name.lower().endswith(_TEXT_SUFFIXES)
        # Copies of file attributes that macOS adds.
        and not name.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        raise line_error(
            path,
            1,
            f"one file ending in {' or '.join(_TEXT_SUFFIXES)}",
            f"{names}",
        )
    return names[0]

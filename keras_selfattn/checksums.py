"""The SHA-256 of a folder's files, written with them and checked on loading."""

import hashlib
import os
import pathlib
from collections.abc import Collection
from collections.abc import Iterable

from keras_selfattn.files import read_json
from keras_selfattn.files import write_json

CHECKSUMS_FILE = "checksums.json"

_KEY = "sha256"
_CHUNK = 1 << 20
_END = 1 << 16


def write_checksums(
    folder: str | os.PathLike, names: Iterable[str] | None = None
) -> None:
    """Write the checksums of files into their folder.

    Args:
        folder: Path of the folder.
        names: Their names. Defaults to those of all other files in the
            folder, and in those below.
    """
    folder = pathlib.Path(folder)
    if names is None:
        files = (path for path in folder.rglob("*") if path.is_file())
        paths = {path.relative_to(folder).as_posix() for path in files}
        names = paths - {CHECKSUMS_FILE}
    found = {name: file_checksum(folder / name) for name in sorted(names)}
    write_json(folder / CHECKSUMS_FILE, {_KEY: found})


def file_checksum(path: str | os.PathLike) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def folder_checksum(folder: str | os.PathLike) -> str:
    """One SHA-256 of the names and contents of a folder's files.

    These are the files that the folder has checksums of, so that others, such
    as a model's card, may come and change; or all, where it has none.
    """
    folder = pathlib.Path(folder)
    paths = folder.rglob("*")
    if (folder / CHECKSUMS_FILE).exists():
        paths = (folder / name for name in checked_names(folder))
    digest = hashlib.sha256()
    for path in sorted(paths):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name} {file_checksum(path)}\n".encode())
    return digest.hexdigest()


def ends_checksum(path: str | os.PathLike, size: int) -> str:
    """The SHA-256 of the beginning and the end of a file.

    It tells one file of texts from another without reading all of it.

    Args:
        path: Path of the file.
        size: Integer, its bytes.
    """
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read(_END))
        file.seek(max(0, size - _END))
        digest.update(file.read(_END))
    return digest.hexdigest()


def check_checksums(
    folder: str | os.PathLike, names: Collection[str] | None = None
) -> None:
    """Check the files of a folder, if it has checksums.

    Files without one are not looked at, and earlier versions wrote none.

    Args:
        folder: Path of the folder.
        names: The names of the files to check. Defaults to all.

    Raises:
        ValueError: if a file is another than the one that was written, or is
            missing.
    """
    path = pathlib.Path(folder, CHECKSUMS_FILE)
    if not path.exists():
        return
    for name, expected in _read(path).items():
        if names is None or name in names:
            _check(path.parent, name, expected)


def checked_names(folder: str | os.PathLike) -> list[str]:
    """The names of the files that a folder has checksums of.

    Args:
        folder: Path of the folder.

    Raises:
        ValueError: if one of them is not in the folder.
    """
    path = pathlib.Path(folder, CHECKSUMS_FILE)
    names = list(_read(path))
    for name in names:
        if _is_outside(name):
            raise ValueError(f"{path}: {name} is not in the folder")
    return names


def _read(path):
    saved = read_json(path)
    known = saved.get(_KEY) if isinstance(saved, dict) else None
    if not isinstance(known, dict):
        raise ValueError(f"{path}: expected the checksums of files")
    return known


def _is_outside(name):
    relative = pathlib.PurePosixPath(name)
    return relative.is_absolute() or ".." in relative.parts


def _check(folder, name, expected):
    path = folder / name
    if _is_outside(name):
        problem = "is not in the folder"
    elif not path.is_file():
        problem = "is missing"
    elif file_checksum(path) != expected:
        problem = "is not the file that was written"
    else:
        return
    raise ValueError(
        f"{path} {problem}: {CHECKSUMS_FILE} has another SHA-256 of it. If it "
        "was changed on purpose, verify=False (--no-verify) takes it as it is"
    )

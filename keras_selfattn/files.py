"""Files and folders that are there whole or not at all."""

import contextlib
import errno
import glob
import importlib.resources
import json
import os
import pathlib
import re
import secrets
import shutil
from collections.abc import Iterator
from typing import Any

from keras_selfattn.controls import one_line
from keras_selfattn.leftovers import cleared
from keras_selfattn.locks import LOCK_FILE
from keras_selfattn.locks import held
from keras_selfattn.locks import own_file
from keras_selfattn.locks import path_held
from keras_selfattn.locks import remove_left

# What the names of files end in that are not complete yet.
UNFINISHED = ".tmp"

_EXPORT = ".export-"
# As Python writes an `OSError`, in the message of another one.
_OF_THE_SYSTEM = re.compile(r"Error: (\[Errno \d+\] .+)")


def packaged_text(package: str, name: str) -> str:
    """What a file that lies beside the modules of a package holds."""
    file = importlib.resources.files(package) / name
    return file.read_text(encoding="utf-8")


def packaged_json(package: str, name: str) -> Any:
    """The same of a JSON file."""
    return json.loads(packaged_text(package, name))


def read_json(path: str | os.PathLike) -> Any:
    """What a JSON file holds, or `ValueError` that names the file."""
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: malformed JSON: {error}") from None


def write_json(
    path: str | os.PathLike, value: Any, ensure_ascii: bool = True
) -> None:
    """Write what `read_json` reads, as `write_text` does."""
    text = json.dumps(value, indent=2, ensure_ascii=ensure_ascii)
    write_text(path, text + "\n")


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text file beside its path, and rename it."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike, content: bytes) -> None:
    """Write a file beside its path, and rename it."""
    with replaced_file(path) as beside:
        beside.write_bytes(content)


@contextlib.contextmanager
def replaced_file(path: str | os.PathLike) -> Iterator[pathlib.Path]:
    """Write a file beside its path, and rename it over the old one.

    The old file stays as it is where the block raises. What a killed
    process left half-written is cleared away by the next one.

    Yields:
        The path of an empty file to write.
    """
    path = pathlib.Path(path)
    # Processes of two machines may have one number.
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    with disk_named(path), cleared(_unlink, beside), own_file(beside):
        left = f".{glob.escape(path.name)}.*{UNFINISHED}"
        for other in path.parent.glob(left):
            remove_left(other)
        yield beside
        os.replace(beside, path)


@contextlib.contextmanager
def replaced_folder(folder: str | os.PathLike) -> Iterator[pathlib.Path]:
    """Write a folder beside its path, and rename it over the old one.

    The old folder stays as it is where the block raises. What a killed
    process left half-written is cleared away by the next one. A symbolic link
    stays, and what it leads to is replaced.

    Yields:
        The path of an empty folder to fill.

    Raises:
        ValueError: if another process is writing the folder.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     for content in ("old", "new"):
    ...         with replaced_folder(f"{parent}/folder") as beside:
    ...             _ = (beside / "file").write_text(content)
    ...     print(pathlib.Path(parent, "folder", "file").read_text())
    new
    """
    folder = _linked(folder)
    with path_held(folder), disk_named(folder):
        restore_folder(folder)
        beside = folder.with_name(f".{folder.name}.new")
        remove_folder(beside)
        beside.mkdir(parents=True)
        old = _old(folder)
        with cleared(remove_folder, beside):
            yield beside
            if folder.exists():
                os.replace(folder, old)
            os.replace(beside, folder)
        remove_folder(old)


@contextlib.contextmanager
def new_folder(folder: str | os.PathLike) -> Iterator[pathlib.Path]:
    """Write a folder that must not be there yet, and rename it when done.

    Where the block raises nothing stays, and neither do folders above that
    were made for it. A server that watches the folder above never sees one
    that is half-written, nor takes the hidden one for a version; what killed
    processes have left of theirs is cleared away.

    Yields:
        The path of an empty folder to fill.

    Raises:
        ValueError: if the folder above can't be written, or another process
            is writing the folder.
    """
    folder = pathlib.Path(folder)
    above = folder.parent
    written = above / f"{_EXPORT}{folder.name}"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(_export_lock(written), folder))
            _remove_dead_exports(above)
            remove_folder(written)
            written.mkdir()
        except OSError as error:
            raise ValueError(
                f"{above} must be a folder that can be written: "
                f"{one_line(error)}"
            ) from error
        stack.enter_context(disk_named(folder))
        stack.enter_context(cleared(remove_folder, written))
        yield written
        os.replace(written, folder)


def _export_lock(written):
    return written.with_name(f"{written.name}{LOCK_FILE}")


def _remove_dead_exports(above):
    """Remove the hidden folders of processes that have died."""
    for path in above.glob(f"{_EXPORT}*"):
        folder = path.with_name(path.name.removesuffix(LOCK_FILE))
        with (
            contextlib.suppress(ValueError),
            held(_export_lock(folder), folder) as alone,
        ):
            if alone:
                remove_folder(folder)


def remove_folder(folder: str | os.PathLike) -> None:
    """Remove a folder with all that is in it, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)


def _unlink(path):
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def disk_named(path: str | os.PathLike) -> Iterator[None]:
    """Errors of a full disk, raised in the block, name path and disk.

    And what TensorFlow's graphs say of a file that is gone, or that may not be
    written, becomes the one line that the system said.

    Args:
        path: Path of what is written in the block.

    Raises:
        FullDiskError: if the disk is full, whatever the error that says so.
        OSError: if a file is gone.
    """
    try:
        yield
    except FullDiskError:
        raise
    except Exception as error:
        reason = _full(error)
        if reason is None:
            lost = _OF_THE_SYSTEM.search(str(error))
            if lost and not isinstance(error, OSError):
                raise OSError(lost[1]) from error
            raise
        path = getattr(error, "filename", None) or path
        disk = _disk(path)
        used = shutil.disk_usage(disk)
        raise FullDiskError(
            f"{path} can't be written: {reason}. {used.free / 1e6:,.0f} of "
            f"{used.total / 1e6:,.0f} MB are free on its disk, which is "
            f"mounted at {disk}"
        ) from error


class FullDiskError(OSError):
    """What is to be written finds no place on its disk."""


def _full(error):
    """What an error says of a full disk, or `None`."""
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        # TensorFlow and HDF5 have errors of their own.
        if getattr(error, "errno", None) == code or (
            os.strerror(code) in str(error)
        ):
            return os.strerror(code)
    return None


def _disk(path):
    path = pathlib.Path(os.path.realpath(path))
    return next(p for p in (path, *path.parents) if os.path.ismount(p))


def restore_folder(folder: str | os.PathLike) -> None:
    """Put the old folder back, if its replacement was cut off in between."""
    folder = _linked(folder)
    old = _old(folder)
    if not old.exists():
        return
    if folder.exists():
        shutil.rmtree(old)
    else:
        os.replace(old, folder)


def _linked(folder: str | os.PathLike) -> pathlib.Path:
    """What a symbolic link leads to, or the path of what is none."""
    # Error messages name other paths as they were given.
    is_link = os.path.islink(folder)
    return pathlib.Path(os.path.realpath(folder) if is_link else folder)


def _old(folder):
    return folder.with_name(f".{folder.name}.old")

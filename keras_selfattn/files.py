"""Files and folders that are there whole or not at all."""

import contextlib
import importlib.resources
import json
import os
import pathlib
import shutil
import tempfile


def packaged_json(package, name):
    """What a JSON file that lies beside the modules of a package holds."""
    file = importlib.resources.files(package) / name
    return json.loads(file.read_text(encoding="utf-8"))


def write_text(path, text):
    """Write a text file beside its path, and rename it."""
    write_bytes(path, text.encode())


def write_bytes(path, content):
    """Write a file beside its path, and rename it."""
    with replaced_file(path) as beside:
        beside.write_bytes(content)


@contextlib.contextmanager
def replaced_file(path):
    """Write a file beside its path, and rename it over the old one.

    The old file stays as it is where the block raises.

    Yields:
        The path of the file to write.
    """
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def replaced_folder(folder):
    """Write a folder beside its path, and rename it over the old one.

    The old folder stays as it is where the block raises. What a killed
    process left half-written is cleared away by the next one.

    Yields:
        The path of an empty folder to fill.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     for content in ("old", "new"):
    ...         with replaced_folder(f"{parent}/folder") as beside:
    ...             _ = (beside / "file").write_text(content)
    ...     print(pathlib.Path(parent, "folder", "file").read_text())
    new
    """
    folder = pathlib.Path(folder)
    restore_folder(folder)
    beside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    old = _old(folder)
    try:
        yield beside
        if folder.exists():
            os.replace(folder, old)
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def new_folder(folder):
    """Write a folder that must not be there yet, and rename it when done.

    Where the block raises nothing stays, and neither do folders above that
    were made for it. A server that watches the folder above never sees one
    that is half-written, nor takes the hidden one for a version.

    Yields:
        The path of an empty folder to fill.

    Raises:
        ValueError: if the folder above can't be written.
    """
    folder = pathlib.Path(folder)
    above = folder.parent
    missing = [path for path in (above, *above.parents) if not path.exists()]
    try:
        try:
            above.mkdir(parents=True, exist_ok=True)
            hidden = tempfile.TemporaryDirectory(prefix=".export-", dir=above)
        except OSError as error:
            raise ValueError(
                f"{above} must be a folder that can be written: "
                f"{' '.join(str(error).split())}"
            ) from error
        with hidden as path:
            # The inner folder has the ordinary permissions that a temporary
            # one lacks; without them a server of another user could not read
            # it.
            written = pathlib.Path(path) / folder.name
            written.mkdir()
            yield written
            os.replace(written, folder)
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def restore_folder(folder):
    """Put the old folder back, if its replacement was cut off in between."""
    folder = pathlib.Path(folder)
    old = _old(folder)
    if not old.exists():
        return
    if folder.exists():
        shutil.rmtree(old)
    else:
        os.replace(old, folder)


def _old(folder):
    return folder.with_name(f".{folder.name}.old")

"""Folders that appear whole or not at all."""

import contextlib
import pathlib
import tempfile


@contextlib.contextmanager
def staging_folder(folder):
    """Yields a folder in `folder`; nothing of both stays after a failure."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A server that watches `folder` passes over names that are no
            # numbers.
            staging = tempfile.TemporaryDirectory(prefix=".export-", dir=folder)
        except OSError as error:
            raise ValueError(
                f"{folder} must be a folder that can be written: "
                f"{' '.join(str(error).split())}"
            ) from error
        with staging as path:
            yield pathlib.Path(path)
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise

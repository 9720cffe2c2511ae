"""Locks that say who writes a folder, and that end with their holder.

The operating system frees them, however the process that holds one dies.
Windows, and file systems without locks, go without.
"""

import contextlib
import datetime
import errno
import json
import os
import pathlib
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager

from keras_selfattn.leftovers import cleared

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

# In a folder that is written to in place.
LOCK_FILE = ".lock"

_NOT_KNOWN = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
# By the path of a lock that this process holds, the thread that does.
_holders = {}


def folder_held(folder: str | os.PathLike) -> AbstractContextManager[bool]:
    """Hold the lock in a folder that is written to in place; see `held`."""
    return held(pathlib.Path(folder) / LOCK_FILE, folder)


def path_held(path: str | os.PathLike) -> AbstractContextManager[bool]:
    """Hold the lock beside a file or folder that is replaced; see `held`."""
    path = pathlib.Path(path)
    return held(path.with_name(f".{path.name}{LOCK_FILE}"), path)


@contextlib.contextmanager
def held(lock: pathlib.Path, path: str | os.PathLike) -> Iterator[bool]:
    """Hold a lock while the block runs.

    Where this thread holds it already, nothing happens. The lock's file, and
    the folders that were made for it, are gone again after the block, unless
    something else is in them.

    Args:
        lock: `pathlib.Path` of the lock's file.
        path: Path of what is written, as the message names it.

    Yields:
        Boolean, whether there are locks here that keep others away.

    Raises:
        ValueError: if another process, or thread, holds the lock, or a file
            stands where its folder is to be.
    """
    key = os.path.realpath(lock)
    if _holders.get(key) == threading.get_ident():
        yield True
        return
    missing = [above for above in lock.parents if not above.exists()]
    there = lock.parents[len(missing)]
    if not there.is_dir() and there.exists():
        raise ValueError(
            f"Expected a folder that can be written. Received: {there}, a file"
        )
    file = _opened(lock, path)
    _holders[key] = threading.get_ident()
    with cleared(_release, file, key, lock, missing):
        yield file is not None


@contextlib.contextmanager
def own_file(path: pathlib.Path) -> Iterator[None]:
    """Make an empty file that others see is in use, while the block runs.

    Args:
        path: `pathlib.Path` of the file, which must not be there. The block
            may write to it, but not put another in its place.
    """
    if fcntl is None:
        yield
        return
    while True:
        with open(path, "xb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in _NOT_KNOWN:
                    raise
            # Another process may have taken it for a dead one's meanwhile.
            if _is_still(file, path):
                yield
                return


def remove_left(path: pathlib.Path) -> None:
    """Remove a file of `own_file`, if the process that made it has died.

    Args:
        path: `pathlib.Path` of the file.
    """
    if fcntl is None:
        return
    # One that is gone, or in use, or where there are no locks.
    with contextlib.suppress(OSError), open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)


def _is_still(file, path):
    """Whether an open file is the one that has a path."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    return False


def _opened(lock, path):
    """The open file of a lock that is held now, or `None` without locks."""
    if fcntl is None:
        lock.parent.mkdir(parents=True, exist_ok=True)
        return None
    while True:
        file = _file_of(lock)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                raise ValueError(_in_use(path, file.read())) from None
        except OSError as error:
            file.close()
            if error.errno not in _NOT_KNOWN:
                raise
            return None
        # Whoever held it before may have removed the file meanwhile.
        if _is_still(file, lock):
            _sign(file)
            return file
        file.close()


def _file_of(lock, tries=100):
    """The open file of a lock, whose last holder may remove its folder."""
    while True:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            return open(lock, "a+", encoding="utf-8")
        except (FileNotFoundError, FileExistsError):
            if not tries:
                raise
            tries -= 1


def _sign(file):
    now = datetime.datetime.now().astimezone()
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": now.isoformat(" ", "seconds"),
    }
    # On a full disk the lock holds all the same.
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(json.dumps(holder))
        file.flush()


def _in_use(path, signature):
    who = "another process"
    with contextlib.suppress(ValueError, KeyError, TypeError):
        holder = json.loads(signature)
        who = (
            f"process {holder['process']} on {holder['host']} since "
            f"{holder['since']}"
        )
    return f"{path} is being written by {who}: wait until that has ended"


def _release(file, key, lock, missing):
    if _holders.pop(key, None) is None:
        return
    if file is not None:
        # While it is still held, so that nobody's else is removed.
        lock.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            file.close()
    for above in missing:
        with contextlib.suppress(OSError):
            above.rmdir()

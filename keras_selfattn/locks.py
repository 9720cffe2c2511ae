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

from keras_selfattn.leftovers import cleared

try:
    import fcntl
except ImportError:
    fcntl = None

# In a folder that is written to in place.
LOCK_FILE = ".lock"

_NOT_KNOWN = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
# By the path of a lock that this process holds, the thread that does.
_holders = {}


def folder_held(folder):
    """Hold the lock in a folder that is written to in place; see `held`."""
    return held(pathlib.Path(folder) / LOCK_FILE, folder)


def path_held(path):
    """Hold the lock beside a file or folder that is replaced; see `held`."""
    path = pathlib.Path(path)
    return held(path.with_name(f".{path.name}{LOCK_FILE}"), path)


@contextlib.contextmanager
def held(lock, path):
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
        ValueError: if another process, or thread, holds the lock.
    """
    key = os.path.realpath(lock)
    if _holders.get(key) == threading.get_ident():
        yield True
        return
    missing = [above for above in lock.parents if not above.exists()]
    lock.parent.mkdir(parents=True, exist_ok=True)
    file = _opened(lock, path)
    _holders[key] = threading.get_ident()
    with cleared(_release, file, key, lock, missing):
        yield file is not None


def _opened(lock, path):
    """The open file of a lock that is held now, or `None` without locks."""
    while fcntl is not None:
        file = open(lock, "a+", encoding="utf-8")  # noqa: SIM115
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
            break
        # Whoever held it before may have removed the file meanwhile.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(lock)):
                _sign(file)
                return file
        file.close()
    return None


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

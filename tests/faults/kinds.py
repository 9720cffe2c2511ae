"""The faults: a function for each, in whose name it stands in the table.

Each starts a command, does something to it at a random moment, and returns
what the command may end with. A new fault is a function in `FAULTS`.
"""

import os
import signal
import stat

from tests.faults.process import Process


def kill(trial):
    return _signal(trial, signal.SIGKILL, -signal.SIGKILL)


def terminate(trial):
    return _signal(trial, signal.SIGTERM, 128 + signal.SIGTERM)


def interrupt(trial):
    return _signal(trial, signal.SIGINT, 128 + signal.SIGINT)


def _signal(trial, number, code):
    process = trial.start()
    process.wait(trial.moment)
    process.send(number)
    return [process], {0, code}


def full_disk(trial):
    """No file grows beyond a random size."""
    size = int(10 ** trial.random.uniform(2.5, 5.5))
    return [trial.start(disk=size)], {0, 2}


def no_folder(trial):
    """The folder above what is written is renamed."""
    process = trial.start()
    process.wait(trial.moment)
    away = trial.place.with_name("away")
    trial.place.rename(away)
    process.end()
    # What the command has made anew meanwhile is not what it began.
    if trial.place.exists():
        trial.place.rename(trial.place.with_name("new"))
    away.rename(trial.place)
    return [process], {0, 2}


def no_rights(trial):
    """Nothing can be written any more where the command writes."""
    process = trial.start(rights=False)
    process.wait(trial.moment)
    folders = [p for p in [trial.place, *trial.place.rglob("*")] if p.is_dir()]
    modes = {}
    for folder in folders:
        try:
            modes[folder] = stat.S_IMODE(folder.stat().st_mode)
            folder.chmod(0o555)
        except FileNotFoundError:
            modes.pop(folder, None)
    process.end()
    for folder, mode in modes.items():
        if folder.exists():
            folder.chmod(mode)
    return [process], {0, 2}


def clock(trial):
    """The command is killed, and all its files are from 1980, or 2100."""
    ended = kill(trial)
    ended[0][0].end()
    time = trial.random.choice((315_532_800, 4_102_444_800))
    for path in [trial.place, *trial.place.rglob("*")]:
        os.utime(path, (time, time))
    return ended


def two(trial):
    """A second command is given the same path."""
    first = trial.start()
    first.wait(trial.moment)
    second = Process(
        trial.command.arguments(trial.data, trial.output),
        trial.folder / "second.txt",
    )
    return [first, second], {0, 2}


FAULTS = {
    "SIGKILL": kill,
    "SIGTERM": terminate,
    "SIGINT": interrupt,
    "full disk": full_disk,
    "folder taken away": no_folder,
    "rights taken away": no_rights,
    "file times set back or ahead": clock,
    "two at a time": two,
}

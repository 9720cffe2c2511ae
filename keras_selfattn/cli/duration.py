"""How long a run has taken, over all times that it was resumed."""

import contextlib
import json
import pathlib
import time

from keras_selfattn.files import read_json
from keras_selfattn.files import write_text
from keras_selfattn.training.settings import SETTINGS_FILE

DURATION_FILE = "duration.json"


@contextlib.contextmanager
def noted_duration(folder):
    """Add how long a block takes to what is noted in a run's folder.

    Args:
        folder: Path of the folder. One without settings is not a run's yet.
    """
    path = pathlib.Path(folder, DURATION_FILE)
    begun = time.monotonic()
    try:
        yield
    finally:
        if pathlib.Path(folder, SETTINGS_FILE).exists():
            before = noted_seconds(folder)
            seconds = round(before + time.monotonic() - begun, 1)
            write_text(path, json.dumps({"seconds": seconds}) + "\n")


def noted_seconds(folder):
    """What is noted in a run's folder, 0 where nothing is."""
    path = pathlib.Path(folder, DURATION_FILE)
    if not path.exists():
        return 0.0
    noted = read_json(path)
    seconds = noted.get("seconds") if isinstance(noted, dict) else None
    if not isinstance(seconds, (int, float)):
        raise ValueError(f"{path} does not hold the seconds of a run")
    return seconds

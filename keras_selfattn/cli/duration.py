"""How long a run has taken, over all times that it was resumed."""

import contextlib
import json
import pathlib
import time

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
            before = 0.0
            if path.exists():
                before = json.loads(path.read_text())["seconds"]
            seconds = round(before + time.monotonic() - begun, 1)
            write_text(path, json.dumps({"seconds": seconds}) + "\n")

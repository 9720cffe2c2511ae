"""Which epoch is the best, and when a run is over; without Keras."""

import csv
import os
import pathlib
from collections.abc import Mapping

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.files import read_json
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.values import DEFAULTS

HISTORY_FILE = "history.csv"
CHECKPOINT_FOLDER = "checkpoint"
STATE_FILE = "state.json"

# Of what is watched, its name in the logs and whether more of it is better.
_FIGURES = {
    "accuracy": ("val_accuracy", True),
    "macro_f1": ("val_macro_f1", True),
    "loss": ("val_loss", False),
}


def best_epoch(history: list[dict], training: Mapping) -> int:
    """The number of the best epoch, the first one where several are.

    Args:
        history: List of a dictionary of logs for each epoch.
        training: Dictionary of training values.

    Returns:
        An integer, 0 where there is no epoch.
    """
    name, more = _FIGURES[_value(training, "monitor")]
    best, number = None, 0
    for epoch, logs in enumerate(history, start=1):
        if name not in logs:
            raise ValueError(f"The history of the run lacks {name!r}")
        figure = logs[name] if more else -logs[name]
        # A figure that is no number is worse than any.
        if best is None or figure > best or best != best:
            best, number = figure, epoch
    return number


def is_over(history: list[dict], training: Mapping) -> bool:
    """Whether a run has had its epochs, or lost its patience before."""
    epochs, patience = len(history), _value(training, "patience")
    if patience is None or not epochs:
        return epochs >= training["epochs"]
    waited = epochs - best_epoch(history, training)
    return epochs >= training["epochs"] or waited >= patience


def finished_history(folder: str | os.PathLike) -> list[dict] | None:
    """The history of a finished run without a checkpoint, or `None`.

    Args:
        folder: Path of the folder of the run.
    """
    folder = pathlib.Path(folder)
    settings, history = folder / SETTINGS_FILE, folder / HISTORY_FILE
    if (folder / CHECKPOINT_FOLDER / STATE_FILE).exists() or not (
        settings.exists() and history.exists()
    ):
        return None
    saved = read_json(settings)
    if not isinstance(saved, dict) or "epochs" not in saved.get("training", ()):
        raise ValueError(f"{settings} does not hold the settings of a run")
    training = saved["training"]
    logs = read_history(folder)
    # They come at its end, which a callback may bring before its values do.
    has_ended = (folder / CHECKSUMS_FILE).exists()
    return logs if has_ended or is_over(logs, training) else None


def read_history(folder: str | os.PathLike) -> list[dict]:
    """The logs of a run's epochs, a list of dictionaries."""
    path = pathlib.Path(folder, HISTORY_FILE)
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return [
                {name: float(value) for name, value in row.items() if value}
                for row in csv.DictReader(file)
            ]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is not the history of a run: {error}") from (
            error
        )


def _value(training, name):
    return {**DEFAULTS, **training}[name]

"""Where a folder holds a model, told without importing Keras."""

import pathlib

# Where the folder of a training run holds its model.
MODEL_FOLDER = "model"
CONFIG_FILE = "config.json"
SAVED_MODEL_FILE = "saved_model.pb"


def find_model(folder):
    """The path of the model in a folder, its own or a run's, or `None`."""
    for path in (pathlib.Path(folder, MODEL_FOLDER), pathlib.Path(folder)):
        if (path / CONFIG_FILE).is_file():
            return path
    return None


def find_saved_model(folder):
    """The path of the SavedModel in a folder of ours, or `None`.

    It is the folder itself, or the newest of its numbered versions.
    """
    folder = pathlib.Path(folder)
    if (folder / SAVED_MODEL_FILE).is_file():
        return folder
    versions = [
        file.parent
        for file in folder.glob(f"*/{SAVED_MODEL_FILE}")
        if file.parent.name.isdecimal()
    ]
    return max(versions, key=lambda version: int(version.name), default=None)

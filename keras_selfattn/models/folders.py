"""Where a folder holds a model, told without importing Keras."""

import pathlib

# Where the folder of a training run holds its model.
MODEL_FOLDER = "model"
CONFIG_FILE = "config.json"


def find_model(folder):
    """The path of the model in a folder, its own or a run's, or `None`."""
    for path in (pathlib.Path(folder, MODEL_FOLDER), pathlib.Path(folder)):
        if (path / CONFIG_FILE).is_file():
            return path
    return None

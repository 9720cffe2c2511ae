"""Where a folder holds a model, told without importing Keras."""

import os
import pathlib

from keras_selfattn.zoo import hub
from keras_selfattn.zoo.shipped import find_shipped

# Where the folder of a training run holds its model.
MODEL_FOLDER = "model"
CONFIG_FILE = "config.json"
SAVED_MODEL_FILE = "saved_model.pb"


def find_model(name):
    """The path of a model's folder, or `None` where there is none.

    Args:
        name: Path of the folder of a model or of a run, the name of a model
            that ships, or `hf://user/name` for one of the Hub, which is then
            downloaded.

    Raises:
        ValueError: if `name` is neither a name nor a path.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise ValueError(
            "Expected the name of a model, or the path of a folder. "
            f"Received: name={name!r}"
        )
    if hub.is_on_hub(name):
        return hub.download(name)
    for path in (pathlib.Path(name, MODEL_FOLDER), pathlib.Path(name)):
        if (path / CONFIG_FILE).is_file():
            return path
    return find_shipped(str(name))


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

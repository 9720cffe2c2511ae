"""What the folder of a run may hold when the run begins, without Keras."""

import json
import os
import pathlib
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from keras_selfattn.files import UNFINISHED
from keras_selfattn.files import read_json
from keras_selfattn.files import write_json
from keras_selfattn.locks import LOCK_FILE
from keras_selfattn.training.values import DEFAULTS

SETTINGS_FILE = "settings.json"
DATA_FOLDER = "data"
MANIFEST_FILE = "manifest.json"

# What the settings have only where it is asked for.
_OPTIONAL = ("teachers", "from", "freeze", "recipe")
# What a finished preparation says of itself, and of which types.
_MANIFEST = {"settings": dict, "labels": list, "shards": list, "dev": dict}
_OF_PREPARATION = {"preset": str, "texts": dict}


def is_prepared(path: str | os.PathLike) -> bool:
    """Whether a path is that of a folder that `prepare_shards` has made."""
    return pathlib.Path(path, MANIFEST_FILE).is_file()


def read_manifest(folder: str | os.PathLike) -> dict[str, Any]:
    """What `prepare_shards` says of the folder that it has made.

    Args:
        folder: Path of the folder.

    Returns:
        A dictionary of its `"settings"`, the `"labels"`, and what there is of
        `"shards"` and `"dev"`.

    Raises:
        ValueError: if the folder has another file of that name.
    """
    path = pathlib.Path(folder, MANIFEST_FILE)
    manifest = read_json(path)
    _check_kinds(path, manifest, _MANIFEST)
    _check_kinds(path, manifest["settings"], _OF_PREPARATION)
    for entry in (*manifest["shards"], manifest["dev"]):
        _check_kinds(path, entry, {"name": str})
    return manifest


def _check_kinds(path, found, kinds):
    for name, kind in kinds.items():
        if not isinstance(found, dict) or not isinstance(found.get(name), kind):
            raise ValueError(
                f"{path} does not say what `prepare` has made: expected "
                f"`{name}`, {kind.__name__}"
            )


def check_new(folder: pathlib.Path, kind: str, left: str) -> None:
    """`ValueError` unless a folder is new, or empty.

    Args:
        folder: `pathlib.Path` of the folder.
        kind: What it is the folder of, such as `"run"`.
        left: The name of all that it may hold, where a process was killed
            before it began with more.
    """
    if folder.exists() and not (folder.is_dir() and is_new(folder, left)):
        raise ValueError(
            f"The folder of a {kind} must be new. {folder} exists; "
            f"to go on with the {kind} in it, ask to resume"
        )


def is_new(folder: pathlib.Path, left: str) -> bool:
    """Whether a folder holds nothing but what a killed process leaves.

    Args:
        folder: `pathlib.Path` of the folder.
        left: As in `check_new`.
    """
    return {
        path.name
        for path in folder.iterdir()
        if not (path.name.startswith(".") and path.suffix == UNFINISHED)
    } <= {left, LOCK_FILE}


def check_settings(
    path: pathlib.Path,
    settings: Mapping,
    kind: str,
    changeable: Sequence[str] = (),
) -> dict[str, Any]:
    """`ValueError` unless a file holds the settings to go on with.

    Args:
        path: `pathlib.Path` of the file.
        settings: Dictionary of settings.
        kind: What goes on, such as `"run"`.
        changeable: Names of training values that may differ.

    Returns:
        What the file holds, a dictionary.
    """
    if not path.exists():
        raise ValueError(f"There is no {kind} to resume: {path} does not exist")
    saved = read_json(path)
    if not isinstance(saved, dict):
        raise ValueError(f"{path} does not hold the settings of a {kind}")
    given = json.loads(json.dumps(settings))
    # Else it would be dropped without a word.
    for name in _OPTIONAL:
        if saved.get(name):
            given.setdefault(name, None)
    compared = given, dict(saved)
    for each in compared:
        if "training" in each:
            each["training"] = {
                **DEFAULTS,
                **each["training"],
                **dict.fromkeys(changeable),
            }
    if different := differences(*compared):
        raise ValueError(
            f"A {kind} is resumed with the settings it was started with "
            f"({path}). Received other values of: {', '.join(different)}"
        )
    return saved


def differences(given: Mapping, saved: Mapping) -> list[str]:
    """The names of what differs, and within a dictionary what of it.

    Args:
        given: Dictionary of settings.
        saved: The same, of which what is not in `given` does not count.
    """
    names = []
    for name, value in given.items():
        other = saved.get(name)
        if value == other:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            within = [
                key
                for key in value | other
                if value.get(key, ...) != other.get(key, ...)
            ]
            name += f" ({', '.join(within)})"
        names.append(name)
    return names


def write_settings(path: str | os.PathLike, settings: Mapping) -> None:
    """Write a file that `check_settings` reads."""
    write_json(path, settings)

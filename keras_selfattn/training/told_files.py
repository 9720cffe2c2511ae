"""Which files texts are of, as a preparation tells it and goes on with it."""

import os
import pathlib
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from keras_selfattn.checksums import ends_checksum
from keras_selfattn.data.corpora import Corpora
from keras_selfattn.files import read_json
from keras_selfattn.training.settings import check_settings

# What decides which texts and labels of a file are read. The rate of bad rows
# does not: each reading checks it anew.
_READ_AS = (
    *("text", "text_pair", "label", "format", "delimiter"),
    *("split", "genres", "use_parses"),
)
_PLAIN = (str, bool, list, type(None))


def told(texts: Iterable) -> Any:
    """Which file texts are of, what tells it from others, and how it is read.

    What has been made of a file is kept, and must be of the same texts.

    Args:
        texts: Re-iterable of `(text, label)`.

    Returns:
        A dictionary that JSON can hold, a list of them where there are
        several files, or `None` where there is none.
    """
    if isinstance(texts, Corpora):
        return [told(each) for each in texts.corpora]
    path = getattr(texts, "path", None)
    if path is None:
        return None
    found: dict[str, Any] = {"path": str(path)}
    if os.path.isfile(path):
        size = os.stat(path).st_size
        found["bytes"] = size
        found["sha256 of both ends"] = ends_checksum(path, size)
    return {**found, **_read_as(texts)}


def _read_as(texts):
    values = {
        name: getattr(texts, name) for name in _READ_AS if hasattr(texts, name)
    }
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in values.items()
        # Texts of one's own class may have anything by these names.
        if isinstance(value, (*_PLAIN, frozenset))
    }


def check_told(path: pathlib.Path, settings: Mapping) -> None:
    """`ValueError` unless a file holds the settings to go on with.

    Args:
        path: `pathlib.Path` of the file.
        settings: Dictionary of the settings of a preparation.
    """
    saved = read_json(path) if path.exists() else None
    if isinstance(saved, dict):
        found = {
            name: _as_saved(settings[name], saved.get(name))
            for name in ("files", "dev")
        }
        settings = {**settings, **found}
    check_settings(path, settings, "preparation")


def _as_saved(found, saved):
    """What is told of texts, without what was not told of them at first."""
    match found, saved:
        case list(), list() if len(found) == len(saved):
            return [_as_saved(*pair) for pair in zip(found, saved, strict=True)]
        case dict(), dict():
            return {name: found[name] for name in found if name in saved}
        case dict(), str():
            return found["path"]
    return found

"""Models on the Hugging Face Hub: downloading one."""

import pathlib
import re

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import checked_names
from keras_selfattn.controls import one_line
from keras_selfattn.first_use import import_extra

PREFIX = "hf://"
# As the Hub names a model's card.
CARD_FILE = "README.md"

_NAME = re.compile(
    rf"{PREFIX}(?P<model>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?"
)


def is_on_hub(name):
    """Whether a name is one of the Hub, `hf://user/name`."""
    return str(name).startswith(PREFIX)


def parse(name):
    """The model of a name of the Hub, and its revision or `None`.

    Example:

    >>> parse("hf://user/reviews@v2")
    ('user/reviews', 'v2')
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(
            "The name of a model of the Hub must be hf://user/name, or "
            f"hf://user/name@revision. Received: {name!r}"
        )
    return found["model"], found["revision"]


def download(name):
    """Download a model from the Hub, or find it among those that were.

    Only the files that the model's `checksums.json` names come down, and its
    card, all of them of one commit.

    Args:
        name: `hf://user/name`, or `hf://user/name@revision` for a commit, a
            tag or a branch; defaults to the newest commit.

    Returns:
        The path of the folder, whose name is that of the commit.

    Raises:
        ValueError: if there is no such model, it can't be reached, or a file
            is missing.
    """
    model, revision = parse(name)
    first = _download_file(name, model, CHECKSUMS_FILE, revision)
    folder = first.parent
    for file in checked_names(folder):
        _download_file(name, model, file, folder.name)
    _download_card(name, model, folder.name)
    return folder


def pinned(name):
    """The name of the very commit that a name of the Hub leads to now."""
    model, _ = parse(name)
    return f"{PREFIX}{model}@{download(name).name}"


def import_hub():
    """The package `huggingface_hub`, or how to install it."""
    return import_extra(
        "huggingface_hub", f"A model named {PREFIX}", "huggingface_hub", "hub"
    )


def _download_card(name, model, commit):
    """The card has no checksum, as it is there to be edited, or removed."""
    known = import_hub().try_to_load_from_cache(
        model, CARD_FILE, revision=commit
    )
    # Else it is there, or is known not to be.
    if known is None:
        _download_file(name, model, CARD_FILE, commit)


def _download_file(name, model, file, revision):
    hub = import_hub()
    try:
        path = hub.hf_hub_download(
            model, file, revision=revision, library_name="keras_selfattn"
        )
    except hub.errors.RepositoryNotFoundError as error:
        raise ValueError(
            f"There is no model {name} on the Hub, or none that you may read"
        ) from error
    except hub.errors.RevisionNotFoundError as error:
        raise ValueError(
            f"The model {name} has no revision {revision!r}"
        ) from error
    except hub.errors.LocalEntryNotFoundError as error:
        raise ValueError(
            f"{file} of {name} can't be downloaded, and was not before: "
            f"{_reason(error)}"
        ) from error
    except hub.errors.EntryNotFoundError as error:
        if file == CARD_FILE:
            return None
        raise ValueError(
            f"{name} has no file {file}: it is not a model that "
            "`push_to_hub` wrote, or not all of one"
        ) from error
    # An interrupted connection has the errors of whatever lies below.
    except Exception as error:
        raise ValueError(
            f"{file} of {name} was not downloaded whole: {_reason(error)}"
        ) from error
    return pathlib.Path(path)


def _reason(error):
    return one_line(error) or type(error).__name__

"""Encoded texts that stay in a run's folder for when the run goes on."""

import pathlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.data.corpora import expect
from keras_selfattn.data.fingerprint import Fingerprinted
from keras_selfattn.data.shards import load_shard
from keras_selfattn.files import read_json
from keras_selfattn.files import remove_folder
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.training.preparation import PreparedTexts
from keras_selfattn.training.preparation import prepare
from keras_selfattn.training.settings import write_settings

TEXTS_FILE = "texts.json"

_PREPROCESSOR_FOLDER = "preprocessor"
_VECTORS_FILE = "vectors.npz"
_TOLD = {"train", "dev", "labels", "arguments"}


class _OtherTextsError(ValueError):
    pass


def kept_or_prepared(
    folder: pathlib.Path,
    preset: str,
    train_texts: Iterable,
    dev_texts: Iterable,
    training: Mapping,
    overrides: Mapping,
    goes_on: bool = False,
    **arguments: Any,
) -> PreparedTexts:
    """What a folder holds of the same texts, or what `prepare` puts there.

    Args:
        folder: `pathlib.Path` of a folder that a run of these values has for
            itself.
        preset: As in `prepare`.
        train_texts: As there.
        dev_texts: As there.
        training: As there.
        overrides: As there.
        goes_on: Boolean, whether the run has learned from what the folder
            holds, and so takes no other texts.
        **arguments: Its further arguments.

    Returns:
        The `PreparedTexts`.

    Raises:
        ValueError: if they are other texts, and the run goes on; or as of
            `prepare`.
    """
    try:
        return _kept(folder, train_texts, dev_texts)
    # What a killed process has left of them, or what has been changed since.
    except (ValueError, OSError) as error:
        if goes_on and isinstance(error, _OtherTextsError):
            raise
        remove_folder(folder)
    texts = prepare(
        preset,
        train_texts,
        dev_texts,
        training,
        overrides,
        folder=folder,
        **arguments,
    )
    texts.preprocessor.save(folder / _PREPROCESSOR_FOLDER)
    if texts.vectors is not None:
        vectors, found = texts.vectors
        np.savez(folder / _VECTORS_FILE, vectors=vectors, found=found)
    write_checksums(folder)
    told = {
        **texts.noted,
        "labels": texts.train_data.label_names,
        "arguments": texts.arguments,
    }
    # Last, as it says that all the others are there.
    write_settings(folder / TEXTS_FILE, told)
    return texts


def _kept(folder, train_texts, dev_texts):
    """The `PreparedTexts` of a folder; `ValueError` if it has no such."""
    if not (folder / TEXTS_FILE).exists():
        raise ValueError(f"{folder} has no {TEXTS_FILE}")
    told = read_json(folder / TEXTS_FILE)
    if not isinstance(told, dict) or not told.keys() >= _TOLD:
        raise ValueError(f"{folder / TEXTS_FILE} does not say what is there")
    check_checksums(folder)
    found = read_checksums(train_texts, dev_texts, told["labels"])
    if found != {name: told[name] for name in found}:
        raise _OtherTextsError(
            "A run is resumed with the texts it was started with. Received "
            f"others than those of {folder}"
        )
    vectors = None
    if (folder / _VECTORS_FILE).exists():
        with np.load(folder / _VECTORS_FILE) as arrays:
            vectors = arrays["vectors"], arrays["found"]
    return PreparedTexts(
        TextPreprocessor.load(folder / _PREPROCESSOR_FOLDER),
        load_shard(folder / "train", told["labels"]),
        load_shard(folder / "dev", told["labels"]),
        vectors,
        told["arguments"],
        found,
    )


def read_checksums(
    train_texts: Iterable, dev_texts: Iterable, labels: Sequence
) -> dict[str, str | None]:
    """Read labeled texts to their end, and sum them up.

    Args:
        train_texts: Re-iterable of `(text, label)`.
        dev_texts: The same, whose rows of other labels are left out.
        labels: The labels there are.

    Returns:
        A dictionary of their SHA-256 by `"train"` and `"dev"`.
    """
    expect(dev_texts, labels)
    found = {}
    for name, texts in (("train", train_texts), ("dev", dev_texts)):
        read = Fingerprinted(texts)
        read.read()
        found[name] = read.sha256
    return found

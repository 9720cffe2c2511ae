"""Which reader reads which files."""

import os
import pathlib

from keras_selfattn import validation
from keras_selfattn.data import readers
from keras_selfattn.data.author_profiling import AuthorProfiling
from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.compression import without_compression
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.natural_language_inference import (
    NaturalLanguageInference,
)
from keras_selfattn.data.pipes import is_standard_input

RECORDS = "records"
NLI = "nli"
PAN = "pan"
FORMATS = (*readers.FORMATS, RECORDS, NLI, PAN)

_NLI_NAMES = ("snli_", "multinli_")
_ARCHIVE = ".zip"
_TEXT = ".txt"


def is_archive(path):
    """Whether a file's name says that it holds several splits."""
    return pathlib.Path(path).suffix.lower() == _ARCHIVE


def guess_format(path, columns=False, labelled=True):
    """The format that the name of a file or folder speaks for.

    Args:
        path: Path of a file or folder, or `-` for standard input.
        columns: Boolean, whether columns are chosen, which only records have.
        labelled: Boolean, whether the labels are wanted, which plain text
            has none of.

    Returns:
        `"pan"` for a folder; `"nli"` for a `.zip` file and, unless columns
        are chosen, for those named as the files of SNLI and MultiNLI; of
        other `.txt` files `"nli"` with labels, and `"txt"`, a text a line,
        without; otherwise `"records"`. Standard input is what its first line
        tells, but without labels and columns `"txt"` and not cells.

    Example:

    >>> guess_format("snli_1.0_dev.jsonl.gz"), guess_format("reviews.jsonl")
    ('nli', 'records')
    """
    if is_standard_input(path):
        found = readers.sniff_format(path)
        cells = found in (readers.CSV, readers.TSV)
        plain = cells and not labelled and not columns
        return readers.PLAIN if plain else found
    path = pathlib.Path(path)
    name = path.name.lower()
    if path.is_dir():
        return PAN
    if is_archive(path):
        return NLI
    published = name.startswith(_NLI_NAMES)
    if without_compression(name).endswith(_TEXT):
        return NLI if published or labelled else readers.PLAIN
    return NLI if published and not columns else RECORDS


def open_corpus(
    path: str | os.PathLike,
    format: str | None = None,
    split: str | None = None,
    text: str | None = None,
    label: str | None = None,
    text_pair: str | None = None,
    labelled: bool = True,
    max_bad_rate: float = MAX_BAD_RATE,
    delimiter: str | None = None,
) -> CheckedTexts:
    """A corpus in one of the formats of the command line.

    Args:
        path: Path of a file or folder, or `-` for standard input.
        format: `"records"` for `Corpus`, or the `format` of its files;
            `"nli"` for `NaturalLanguageInference`, `"pan"` for
            `AuthorProfiling`, or `None` to tell by the name.
        split: The part of an archive that is read; `"nli"` alone has any.
        text: The column of the text, of `"records"` alone; `None` for
            `"text"`.
        label: The column of the label, `None` for `"label"`; of `"pan"`, what
            is to be told of the author, `None` for `"age_group"`.
        text_pair: The column of the second text, of `"records"` alone.
        labelled: Boolean, whether the labels are wanted.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows.
        delimiter: The character between two cells, of `"records"` alone.

    Returns:
        A `keras_selfattn.data.checked_texts.CheckedTexts`.

    Raises:
        ValueError: if an argument is none of the above or not the format's.
    """
    columns = {"text": text, "label": label, "text_pair": text_pair}
    if format is None:
        chosen = any(columns.values()) or delimiter is not None
        format = guess_format(path, chosen, labelled)
    validation.one_of(format, FORMATS, "format")
    if format in (RECORDS, *readers.FORMATS):
        if format == readers.PLAIN:
            _refuse(format, path, **columns)
        _refuse(format, path, split=split)
        return Corpus(
            path,
            text or "text",
            (label or "label") if labelled else None,
            text_pair,
            max_bad_rate=max_bad_rate,
            format=None if format == RECORDS else format,
            delimiter=delimiter,
        )
    _refuse(format, path, delimiter=delimiter)
    if format == PAN:
        _refuse(format, path, split=split, text=text, text_pair=text_pair)
        label = (label or "age_group") if labelled else None
        return AuthorProfiling(path, label, max_bad_rate)
    _refuse(format, path, **columns)
    return NaturalLanguageInference(
        path, split, labelled=labelled, max_bad_rate=max_bad_rate
    )


def _refuse(format, path, **options):
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"There is no `{name}` to choose in {path}, whose format is "
                f"{format!r}. Received: {value!r}"
            )

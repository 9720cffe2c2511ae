"""Which reader reads which files."""

import pathlib

from keras_selfattn import validation
from keras_selfattn.data.author_profiling import AuthorProfiling
from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.natural_language_inference import (
    NaturalLanguageInference,
)

RECORDS = "records"
NLI = "nli"
PAN = "pan"
FORMATS = (RECORDS, NLI, PAN)

_NLI_NAMES = ("snli_", "multinli_")
_ARCHIVE = ".zip"
_NLI_SUFFIXES = (_ARCHIVE, ".txt", ".txt.gz")


def is_archive(path):
    """Whether a file's name says that it holds several splits."""
    return pathlib.Path(path).suffix.lower() == _ARCHIVE


def guess_format(path, columns=False):
    """The format that the name of a file or folder speaks for.

    Args:
        path: Path of a file or folder.
        columns: Boolean, whether columns are chosen, which only records have.

    Returns:
        `"pan"` for a folder; `"nli"` for a `.zip` or `.txt` file and, unless
        columns are chosen, for those named as the files of SNLI and MultiNLI;
        otherwise `"records"`.

    Example:

    >>> guess_format("snli_1.0_dev.jsonl.gz"), guess_format("reviews.jsonl")
    ('nli', 'records')
    """
    path = pathlib.Path(path)
    name = path.name.lower()
    if path.is_dir():
        return PAN
    if name.endswith(_NLI_SUFFIXES):
        return NLI
    return NLI if name.startswith(_NLI_NAMES) and not columns else RECORDS


def open_corpus(
    path,
    format=None,
    split=None,
    text=None,
    label=None,
    text_pair=None,
    labelled=True,
    max_bad_rate=MAX_BAD_RATE,
):
    """A corpus in one of the formats of the command line.

    Args:
        path: Path of a file or folder.
        format: `"records"` for `Corpus`, `"nli"` for
            `NaturalLanguageInference`, `"pan"` for `AuthorProfiling`, or
            `None` to tell by the name.
        split: The part of an archive that is read; `"nli"` alone has any.
        text: The column of the text, of `"records"` alone; `None` for
            `"text"`.
        label: The column of the label, `None` for `"label"`; of `"pan"`, what
            is to be told of the author, `None` for `"age_group"`.
        text_pair: The column of the second text, of `"records"` alone.
        labelled: Boolean, whether the labels are wanted.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows.

    Returns:
        A `keras_selfattn.data.checked_texts.CheckedTexts`.

    Raises:
        ValueError: if an argument is none of the above or not the format's.
    """
    columns = {"text": text, "label": label, "text_pair": text_pair}
    if format is None:
        format = guess_format(path, any(columns.values()))
    validation.one_of(format, FORMATS, "format")
    if format == RECORDS:
        _refuse(format, path, split=split)
        return Corpus(
            path,
            text or "text",
            (label or "label") if labelled else None,
            text_pair,
            max_bad_rate=max_bad_rate,
        )
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

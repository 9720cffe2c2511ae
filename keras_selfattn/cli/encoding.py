"""The command that writes what a model makes of files of texts: `encode`."""

import argparse
import itertools

import numpy as np

from keras_selfattn import sides
from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.vectors import check_vectors
from keras_selfattn.cli.vectors import new_vectors
from keras_selfattn.data.checked_texts import empty_text
from keras_selfattn.streams import chunks

_LABEL = "label"
_PROBABILITIES = "probabilities"
_EMBEDDING = "embedding"
_GIVEN = (_LABEL, _PROBABILITIES, _EMBEDDING)
# Sorted by length, so many make for little padding.
_ROWS = 1024


def add_commands(commands):
    parser = add_command(commands, encode)
    models.add_model(parser)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="texts, read one file after the other; - for standard input",
    )
    parser.add_argument(
        "--output",
        required=True,
        help="a file ending in .npz or .parquet, or a new folder for one .npy "
        "file each, which needs no memory for all rows",
    )
    parser.add_argument(
        "--give",
        type=_given,
        default=_GIVEN,
        metavar="NAME,NAME",
        help=f"what to write (default: {','.join(_GIVEN)})",
    )
    corpora.add_text_columns(parser)
    parser.set_defaults(label=None)


def encode(options):
    """Write sentence embeddings and answers of files of texts."""
    models.check_folder(options.model)
    check_vectors(options.output)
    opened = [
        asked_texts.open_file(
            argparse.Namespace(**{**vars(options), "file": file}),
            labelled=False,
            forgiving=True,
        )
        for file in options.files
    ]
    model = models.load(options)
    rows = itertools.chain.from_iterable(map(_texts, opened))
    count, bad, first = 0, 0, None
    with new_vectors(options.output, model.labels) as write:
        for chunk in chunks(rows, _ROWS):
            is_good = [not isinstance(text, ValueError) for text in chunk]
            faults = [text for text in chunk if isinstance(text, ValueError)]
            write(_arrays(model, chunk, np.array(is_good), options.give))
            count += len(chunk)
            bad += len(faults)
            first = first or next(iter(faults), None)
    if bad:
        note(
            f"{bad:,} of {count:,} rows could not be encoded, and are NaN; "
            f"the first: {first}"
        )


def _texts(corpus):
    """The text of each row, or the `ValueError` of a bad one."""
    for row in corpus.read():
        bad = isinstance(row, ValueError)
        yield row if bad else empty_text(row) or row.text


def _arrays(model, chunk, is_good, give):
    """The arrays of some rows, with NaN and `""` for the bad ones."""
    from keras_selfattn import evaluation

    texts = [text for text in chunk if not isinstance(text, ValueError)]
    # So that the arrays of a chunk without any good row have a shape, too.
    asked = texts or [_some_text(model)]
    asked_texts.check_kind(model, not isinstance(asked[0], str))
    found = {}
    if {_LABEL, _PROBABILITIES} & set(give):
        batches = [answer for _, answer in evaluation.predict(model, asked)]
        found[_PROBABILITIES] = np.concatenate(batches)
    if _EMBEDDING in give:
        embeddings = model.encode(asked, verbose=0)
        if isinstance(embeddings, tuple):
            for side, rows in zip(sides.PAIR, embeddings, strict=True):
                found[f"{side}{_EMBEDDING}"] = rows
        else:
            found[_EMBEDDING] = embeddings
    arrays = {
        name: _with_gaps(rows[: len(texts)], is_good)
        for name, rows in found.items()
    }
    if _LABEL in give:
        labels = np.array([*map(str, model.labels), ""])
        best = np.full(len(chunk), -1)
        places = found[_PROBABILITIES][: len(texts)].argmax(axis=-1)
        best[is_good] = places
        arrays = {_LABEL: labels[best], **arrays}
    if _PROBABILITIES not in give:
        arrays.pop(_PROBABILITIES, None)
    return arrays


def _some_text(model):
    return "a" if len(model.sides) == 1 else ("a", "a")


def _with_gaps(rows, is_good):
    result = np.full((len(is_good), rows.shape[1]), np.nan, "float32")
    result[is_good] = rows
    return result


def _given(text):
    names = tuple(text.split(","))
    for name in names:
        if name not in _GIVEN:
            raise argparse.ArgumentTypeError(
                f"expected some of {','.join(_GIVEN)}, got {name!r}"
            )
    return names

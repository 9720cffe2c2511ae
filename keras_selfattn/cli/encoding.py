"""The command that writes what a model makes of files of texts: `encode`."""

import argparse
import itertools

from keras_selfattn import encoding
from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.array_files import check_vectors
from keras_selfattn.cli.array_files import new_vectors
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.screen import progress
from keras_selfattn.cli.starting import check_backend
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.cli.tables import suffix
from keras_selfattn.data.bad_rows import BadRows
from keras_selfattn.encoding.shards import expanded
from keras_selfattn.encoding.shards import is_pattern
from keras_selfattn.encoding.views import DEFAULT
from keras_selfattn.encoding.views import VIEWS
from keras_selfattn.encoding.work import ROWS
from keras_selfattn.streams import chunks


def add_commands(commands):
    parser = add_command(commands, encode)
    models.add_model(parser, or_saved_model=True)
    corpora.add_files(parser)
    parser.add_argument(
        "--output",
        required=True,
        help="a file ending in .npz or .parquet; a new folder for one .npy "
        "file each, which needs no memory for all rows; or, with a pattern or "
        "workers, a folder for a .parquet file for each FILE, where those "
        "that are there already are left as they are",
    )
    parser.add_argument(
        "--give",
        type=_given,
        default=DEFAULT,
        metavar="NAME,NAME",
        help=f"what to write, of {','.join(VIEWS)} (default: "
        f"{','.join(DEFAULT)}); attention in Parquet only",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=int,
        help="processes on this machine, of one core each, which Ray runs",
    )
    parser.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="of a Ray cluster that has the workers instead, by default one a "
        "core; its machines must see all paths",
    )
    corpora.add_text_columns(parser)
    parser.set_defaults(label=None)


def encode(options):
    """Write sentence embeddings and answers of files of texts."""
    models.check_folder(options.model, or_saved_model=True)
    workers = options.workers is not None or options.ray_address is not None
    is_folder = suffix(options.output) == ""
    if workers and not is_folder:
        raise ValueError(
            "With --workers or --ray-address, --output must be a folder. "
            f"Received: {options.output}"
        )
    if workers or (is_folder and any(map(is_pattern, options.files))):
        _encode_files(options, workers)
    else:
        _encode_together(options)


def _encode_files(options, workers):
    """A Parquet file for each file."""
    corpora.refuse_bad_rate(options)
    if options.download:
        raise ValueError("--download gets one archive, and no folder of files")
    if not workers:
        # Keras is imported once the columns are known to be there.
        check_backend()
    found = encoding.encode_files(
        options.model,
        options.files,
        options.output,
        options.give,
        options.workers,
        options.ray_address,
        options.verify,
        note,
        format=options.format,
        split=options.split,
        text=options.text,
        text_pair=options.text_pair,
        delimiter=options.delimiter,
    )
    print(found)
    _report(found.bad, found.rows, found.first)


def _encode_together(options):
    """One file, or folder of arrays, for all files."""
    files = expanded(options.files)
    check_vectors(options.output, options.give, files)
    opened = [
        asked_texts.open_file(
            argparse.Namespace(**{**vars(options), "file": file}),
            labelled=False,
            forgiving=True,
        )
        for file in files
    ]
    start_keras()
    from keras_selfattn.encoding.encoders import load_encoder

    encoder = load_encoder(options.model, options.give, options.verify)
    bad = BadRows()
    texts = itertools.chain.from_iterable(map(bad.texts, opened))
    with (
        new_vectors(options.output, encoder.labels) as write,
        progress(texts, "Encoding") as read,
    ):
        for chunk in chunks(read, ROWS):
            write(encoder(chunk))
    _report(bad.bad, bad.rows, bad.first)


def _report(bad, rows, first):
    if bad:
        note(
            f"{bad:,} of {rows:,} rows could not be encoded, and are NaN; "
            f"the first: {first}"
        )


def _given(text):
    names = tuple(text.split(","))
    for name in names:
        if name not in VIEWS:
            raise argparse.ArgumentTypeError(
                f"expected some of {','.join(VIEWS)}, got {name!r}"
            )
    return names

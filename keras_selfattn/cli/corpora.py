"""The corpora that commands are given."""

import pathlib
import sys

from keras_selfattn.cli.options import PROGRAM
from keras_selfattn.data import formats
from keras_selfattn.data.checked_texts import MAX_BAD_RATE


def add_text_columns(parser):
    parser.add_argument("--text", help="column of the text (default: text)")
    parser.add_argument("--text-pair", help="column of a pair's second text")
    parser.add_argument(
        "--format",
        choices=formats.FORMATS,
        help="of the files, if the names don't tell: records of columns, "
        "SNLI's or MultiNLI's own, or PAN's author profiling",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="the part of an archive, such as train, test or dev_matched",
    )
    parser.add_argument(
        "--download",
        action="store_true",
        help="get snli_1.0.zip or multinli_1.0.zip first, if it isn't there",
    )
    parser.add_argument(
        "--max-bad-rate",
        metavar="SHARE",
        type=float,
        default=MAX_BAD_RATE,
        help="fail if more of the labeled rows are malformed, empty, "
        "repeated or of an unknown label (default: %(default)s)",
    )


def add_columns(parser):
    add_text_columns(parser)
    parser.add_argument(
        "--label",
        help="column of the label (default: label); for PAN, gender or "
        "age_group (the default)",
    )


def add_dev(parser):
    parser.add_argument(
        "--dev", help="dev texts; by default those in the same archive"
    )


def open_corpus(path, options, split=None, labelled=True):
    """The corpus of a path, by a command's options."""
    if options.download:
        from keras_selfattn.data.downloads import PUBLISHED
        from keras_selfattn.data.downloads import download

        file = pathlib.Path(path)
        if file.name in PUBLISHED or not file.exists():
            download(file)
    corpus = formats.open_corpus(
        path,
        options.format,
        split,
        options.text,
        options.label,
        options.text_pair,
        labelled,
        options.max_bad_rate,
    )
    # What is wrong with its columns is said before Keras is imported. A pipe
    # can be read only once.
    if not pathlib.Path(path).is_fifo():
        next(iter(corpus), None)
    return corpus


def open_split(path, options, split, default):
    """The same, of an archive the part asked for, or else the default."""
    if split is None and formats.is_archive(path):
        split = default
    return open_corpus(path, options, split)


def check_dev(options, train):
    """`ValueError` where there are no dev texts beside the training texts."""
    if options.dev is None and not formats.is_archive(train):
        raise ValueError("Expected --dev with the dev texts")


def report_left_out(*corpora):
    """Tell of the rows that the last reading has left out."""
    for corpus in corpora:
        if corpus.report is not None and corpus.report.counts:
            print(f"{PROGRAM}: {corpus.path}: {corpus.report}", file=sys.stderr)

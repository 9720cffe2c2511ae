"""The corpora that commands are given."""

import pathlib

from keras_selfattn.cli.notes import note
from keras_selfattn.data import formats
from keras_selfattn.data.bad_rows import check_some_row
from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import NO_GOLD_LABEL
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.lines import place
from keras_selfattn.data.splitting import check_fraction
from keras_selfattn.data.text_lines import MissingColumn
from keras_selfattn.training.settings import is_prepared

# What says how a file of texts is read.
_OF_FILES = (
    *("text", "text_pair", "label", "format", "delimiter", "split"),
    *("download", "max_bad_rate"),
)


def add_files(parser):
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="texts, read one file after the other; - for standard input, and "
        "patterns in quotes, such as 'part-*'",
    )


def add_text_columns(parser, format_option="--format"):
    parser.add_argument("--text", help="column of the text (default: text)")
    parser.add_argument("--text-pair", help="column of a pair's second text")
    parser.add_argument(
        format_option,
        dest="format",
        choices=formats.FORMATS,
        help="of the files, if the names don't tell: csv, tsv, jsonl, parquet, "
        "or txt for one text a line; records for whichever of these the name "
        "tells; nli for SNLI's or MultiNLI's own, pan for author profiling",
    )
    parser.add_argument(
        "--delimiter",
        metavar="CHARACTER",
        type=_delimiter,
        help="between two cells of .csv and .tsv files",
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
        help="fail if more of the labeled rows are malformed, empty or of an "
        "unknown label or, in SNLI and MultiNLI, have an earlier row's id "
        f"(default: {MAX_BAD_RATE})",
    )


def add_columns(parser, format_option="--format"):
    add_text_columns(parser, format_option)
    parser.add_argument(
        "--label",
        help="column of the label (default: label); for PAN, gender or "
        "age_group (the default)",
    )


def add_dev(parser):
    parser.add_argument(
        "--dev", help="dev texts; by default those in the same archive"
    )


def open_corpus(
    path,
    options,
    split=None,
    labelled=True,
    forgiving=False,
    format_option="--format",
):
    """The corpus of a path, by a command's options.

    Args:
        path: Path of a file or folder, or `-` for standard input.
        options: The parsed options.
        split: The part of an archive, or `None`.
        labelled: Boolean, whether the labels are wanted.
        forgiving: Boolean, whether the command goes on at malformed rows.
        format_option: The name of the option of the format.
    """
    if not labelled:
        refuse_bad_rate(options)
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
        MAX_BAD_RATE if options.max_bad_rate is None else options.max_bad_rate,
        options.delimiter,
    )
    # What is wrong with its columns is said before Keras is imported.
    try:
        check_some_row(corpus)
    except MissingColumn as error:
        hint = _who_names(error.field, corpus, options, format_option)
        raise ValueError(f"{error}{hint}") from error
    if not forgiving:
        next(iter(corpus), None)
    return corpus


def _who_names(field, corpus, options, format_option):
    """Which option tells of a column that is not there, as more words."""
    for name in ("text", "text_pair", "label"):
        if isinstance(corpus, Corpus) and getattr(corpus, name) == field:
            return f"; --{name.replace('_', '-')} names another"
    if options.format is None and not formats.is_archive(corpus.path):
        return (
            f"; {corpus.path} is taken for SNLI's or MultiNLI's own, unless "
            f"{format_option} names another"
        )
    return ""


def _delimiter(text):
    # A shell hands on the two characters.
    return "\t" if text == "\\t" else text


def open_split(path, options, split, default):
    """The same, of an archive the part asked for, or else the default."""
    if split is None and formats.is_archive(path):
        split = default
    return open_corpus(path, options, split)


def open_splits(paths, options, split, default):
    """A list of these, of several paths."""
    return [open_split(path, options, split, default) for path in paths]


def add_dev_fraction(parser):
    parser.add_argument(
        "--dev-fraction",
        metavar="SHARE",
        type=float,
        help="without --dev: the share of the training texts that is kept for "
        "it, the same of each label, chosen by --seed",
    )


def check_dev(options, train, fraction=None):
    """`ValueError` where there are no dev texts beside the training texts."""
    if fraction is not None:
        check_fraction(fraction)
        for name in ("dev", "dev_split"):
            if getattr(options, name) is not None:
                raise ValueError(
                    f"Expected --{name.replace('_', '-')} or --dev-fraction, "
                    "and not both"
                )
    elif options.dev is None and not formats.is_archive(train):
        more = ", or --dev-fraction" if hasattr(options, "dev_fraction") else ""
        raise ValueError(f"Expected --dev with the dev texts{more}")


def refuse_columns(options):
    """`ValueError` where texts are described that have been prepared."""
    if len(options.data) > 1:
        raise ValueError(
            "A prepared folder is given alone. "
            f"Received: {' '.join(options.data)}"
        )
    (folder,) = options.data
    names = ("dev", "dev_fraction", "dev_split", *_OF_FILES)
    _refuse(options, names, f"is for texts; {folder} has their ids")


def refuse_prepared(paths, taker):
    """`ValueError` where there are ids in the place of texts.

    Args:
        paths: Iterable of paths, and of `None`.
        taker: The command or the option that takes them.
    """
    for path in filter(None, paths):
        if is_prepared(path):
            raise ValueError(
                f"`{taker}` takes texts. Received: {path}, which holds their "
                "ids, as `prepare` has made them"
            )


def refuse_bad_rate(options):
    """`ValueError` where `--max-bad-rate` is given, and no label is read."""
    reason = "is for labeled rows, and no labels are read here"
    _refuse(options, ["max_bad_rate"], reason)


def refuse_file_options(options, reason, format_option="--format"):
    """`ValueError` where a file is described and none is given.

    Args:
        options: The parsed options.
        reason: What the option is for, and why it can't apply.
        format_option: The name of the option of the format.
    """
    _refuse(options, _OF_FILES, reason, format_option)


def _refuse(options, names, reason, format_option="--format"):
    for name in names:
        value = getattr(options, name)
        # A rate of 0 is given, and equals `False`.
        if value is not None and value is not False:
            option = f"--{name.replace('_', '-')}"
            if name == "format":
                option = format_option
            raise ValueError(f"`{option}` {reason}. Received: {value!r}")


def report_left_out(*corpora):
    """Tell of the rows that the last reading has left out."""
    for corpus in corpora:
        if corpus.report is not None and corpus.report.counts:
            first = _first_of(corpus.report)
            note(f"{place(corpus.path)}: {corpus.report}{first}")


def _first_of(report):
    """The first row of each kind that should not have been there."""
    return "".join(
        f"; the first {kind}: {message}"
        for kind, message in report.first.items()
        if kind != NO_GOLD_LABEL
    )

"""The command that classifies texts: `predict`."""

import argparse
import json
import re
import sys

from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import models
from keras_selfattn.cli import tables
from keras_selfattn.cli.answers import Answers
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.screen import progress
from keras_selfattn.cli.spool import spooled
from keras_selfattn.data.bad_rows import BadRows
from keras_selfattn.data.lines import place
from keras_selfattn.data.values import as_json
from keras_selfattn.locks import path_held
from keras_selfattn.streams import chunks

_DIGITS = 4
_CONTROLS = re.compile("[\x7f-\x9f]")


def add_commands(commands):
    parser = add_command(commands, predict)
    asked_texts.add_texts(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"write the answers to a file ending in "
        f"{', '.join(tables.SUFFIXES)}, a row for each row of --file and with "
        "all its columns",
    )
    parser.add_argument(
        "--digits",
        nargs="?",
        type=_digits,
        const=None,
        default=_DIGITS,
        metavar="N",
        help="of the probabilities, behind the point (default: %(default)s); "
        "all of them without N",
    )
    parser.set_defaults(label=None)


def predict(options):
    """Classify texts."""
    typed = asked_texts.typed_texts(options)
    models.check_folder(options.model)
    if options.output:
        tables.check_table(options.output, [options.file])
    bad_rows = BadRows()
    if typed is None:
        corpus = asked_texts.open_file(options, labelled=False, forgiving=True)
        rows = _asked(corpus, bad_rows)
    else:
        rows = [(asked_texts.columns(text), text) for text in typed]
    model = models.load(options)
    answers = Answers(model.labels, options.digits)
    unread = asked_texts.Unread(model)
    if not options.output:
        for _, *answer in _answered(model, rows, unread):
            _print(answers.shown(*answer))
    else:
        with progress(rows, "Answering") as read:
            _write(options.output, answers, _answered(model, read, unread))
    unread.tell()
    if bad_rows.bad:
        note(
            f"{place(options.file)}: {bad_rows} without an answer; the first: "
            f"{bad_rows.first}"
        )


def _asked(corpus, bad_rows):
    """All columns of each row, and its text or what is wrong with it."""
    for columns, row in corpus.table():
        text = bad_rows.text(row)
        if not columns and not isinstance(text, ValueError):
            columns = asked_texts.columns(text)
        yield columns, text


def _write(path, answers, answered):
    as_columns = tables.suffix(path) != tables.JSON_LINES
    with path_held(path), spooled(path) as spool:
        for row in answered:
            spool.add(*row)
        names = answers.columns(spool.columns(), as_columns)
        with tables.new_table(path, names) as write:
            for given, *answer in spool:
                write({**given, **answers.row(*answer)})


def _answered(model, rows, unread):
    """Each row with its probabilities, or `None` for those of a bad one.

    Args:
        model: The classifier.
        rows: Iterable of tuples of columns and a text, or what is wrong.
        unread: `asked_texts.Unread`, which counts the texts' words.
    """
    from keras_selfattn import evaluation

    for chunk in chunks(rows, asked_texts.BATCH):
        texts = [text for _, text in chunk if not isinstance(text, ValueError)]
        if texts:
            asked_texts.check_kind(model, not isinstance(texts[0], str))
            unread.add(texts)
        answers = (
            row
            for _, batch in evaluation.predict(model, texts, asked_texts.BATCH)
            for row in batch
        )
        for columns, text in chunk:
            bad = isinstance(text, ValueError)
            yield columns, text, None if bad else next(answers)


def _print(answer):
    # JSON leaves these controls as they are, which terminals follow too.
    line = _CONTROLS.sub(_escaped, as_json(answer))
    if not _is_printable(line):
        # As JSON's escapes, which can be read again.
        line = "".join(
            each if _is_printable(each) else json.dumps(each)[1:-1]
            for each in line
        )
    print(line)


def _is_printable(text):
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escaped(control):
    return f"\\u{ord(control[0]):04x}"


def _digits(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}")
    return int(text)

"""The command that compares answers with labels: `evaluate`."""

import itertools
import json

from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli import tables
from keras_selfattn.cli.answers import Answers
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.screen import WIDTH
from keras_selfattn.cli.screen import console
from keras_selfattn.cli.screen import progress
from keras_selfattn.controls import one_line
from keras_selfattn.files import write_text

# Of pairs of classes, where their matrix is wider than the screen.
_MOST_MISTAKEN = 20


def add_commands(commands):
    parser = add_command(commands, evaluate)
    models.add_model(parser)
    parser.add_argument("data", help="labeled texts, - for standard input")
    corpora.add_columns(parser)
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write the figures to this file, or - to print them, and no "
        "tables",
    )
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help="also write each text, its label and the answer to a file ending "
        f"in {', '.join(tables.SUFFIXES)}",
    )
    parser.add_argument(
        "--faithfulness",
        action="store_true",
        help="also measure how far attention tells what the model relied on",
    )


def evaluate(options):
    """Compare answers with labels."""
    models.check_folder(options.model)
    if options.predictions:
        tables.check_table(options.predictions, [options.data])
    prints_json = options.json == tables.STANDARD_OUTPUT
    if prints_json and options.faithfulness:
        raise ValueError(
            "--json - prints no tables, which --faithfulness does: give --json "
            "a file"
        )
    if options.json and not prints_json:
        tables.check_folder_of(options.json, [options.data])
    corpus = corpora.open_corpus(options.data, options, options.split)
    model = models.load(options)
    text = asked_texts.first_text(model, corpus)
    given = dict.fromkeys([*asked_texts.columns(text), "label"], str)
    unread = asked_texts.Unread(model)
    with progress(corpus, "Evaluating") as read:
        result = _evaluate(
            model, unread.among(read), options.predictions, given
        )
    as_json = json.dumps(figures(result), indent=2)
    if prints_json:
        print(as_json)
    else:
        if options.json:
            write_text(options.json, f"{as_json}\n")
        _print_evaluation(result)
    corpora.report_left_out(corpus)
    unread.tell()
    if options.faithfulness:
        from keras_selfattn import faithfulness

        with progress(corpus, "Removing words") as read:
            losses = faithfulness.measure(model, read)
        _print_faithfulness(losses)


def _evaluate(model, corpus, predictions, given):
    from keras_selfattn import evaluation

    if not predictions:
        return evaluation.evaluate(model, corpus)
    rows = Answers(model.labels)
    columns = rows.columns(
        given,
        as_columns=tables.suffix(predictions) != tables.JSON_LINES,
        with_errors=False,
    )
    # Side by side, so that no more than a batch is held.
    kept, asked = itertools.tee(corpus)
    answers = evaluation.answers(asked, model)
    with tables.new_table(predictions, columns) as write:

        def written():
            for label_ids, probabilities in answers:
                for row, (text, label) in zip(probabilities, kept):  # noqa: B905
                    given = {**asked_texts.columns(text), "label": label}
                    write({**given, **rows.row(text, row)})
                yield label_ids, probabilities

        return evaluation.count(written(), model.labels)


def figures(result):
    """What `--json` writes of an `Evaluation`."""
    return {
        "accuracy": result.accuracy,
        "macro_f1": result.macro_f1,
        "rows": int(result.confusion.sum()),
        "labels": result.labels,
        "per_class": {
            str(label): figures for label, figures in result.per_class().items()
        },
        "confusion": result.confusion.tolist(),
    }


def _print_evaluation(evaluation):
    from rich.table import Table
    from rich.text import Text

    screen = console()
    screen.print(
        f"Accuracy {evaluation.accuracy:.2%}, macro F1 "
        f"{evaluation.macro_f1:.2%}",
        highlight=False,
    )
    table = Table("class", "precision", "recall", "F1", "rows")
    for label, figures in evaluation.per_class().items():
        shares = [
            f"{figures[name]:.1%}" for name in ("precision", "recall", "f1")
        ]
        table.add_row(Text(one_line(label)), *shares, str(figures["rows"]))
    screen.print(table)
    matrix = _matrix(evaluation)
    wide = screen.options.update(max_width=WIDTH)
    fits = screen.measure(matrix, options=wide).minimum <= screen.width
    screen.print(matrix if fits else _most_mistaken(evaluation))


def _matrix(evaluation):
    from rich.table import Column
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "true \\ predicted",
        *(Column(Text(one_line(label))) for label in evaluation.labels),
        title="Confusion matrix",
    )
    for label, row in zip(evaluation.labels, evaluation.confusion, strict=True):
        table.add_row(Text(one_line(label)), *map(str, row))
    return table


def _most_mistaken(evaluation):
    """The largest figures of a matrix that is wider than the screen."""
    from rich.table import Table
    from rich.text import Text

    labels = evaluation.labels
    mistaken = [
        (true, predicted, count)
        for true, row in zip(labels, evaluation.confusion, strict=True)
        for predicted, count in zip(labels, row, strict=True)
        if count and true != predicted
    ]
    mistaken.sort(key=lambda row: -row[-1])
    more = len(mistaken) - _MOST_MISTAKEN
    table = Table(
        *("true", "predicted", "rows"),
        title="Most mistaken",
        caption=f"and {more:,} other pairs of classes; --json has the matrix"
        if more > 0
        else None,
    )
    for *pair, count in mistaken[:_MOST_MISTAKEN]:
        names = [Text(one_line(label)) for label in pair]
        table.add_row(*names, f"{count:,}")
    return table


def _print_faithfulness(result):
    from rich.table import Column
    from rich.table import Table

    table = Table(
        Column("words by", no_wrap=True),
        "share",
        "p without",
        "p with only",
        "accuracy without",
        "accuracy with only",
        title="Lost without a method's words, and with only them",
    )
    for (method, share), loss in result.losses.items():
        figures = (
            loss.comprehensiveness,
            loss.sufficiency,
            loss.accuracy_without,
            loss.accuracy_with_only,
        )
        table.add_row(
            method, f"{share:.0%}", *(f"{figure:.1%}" for figure in figures)
        )
    screen = console()
    screen.print(table)
    if result.num_heads is None:
        return
    screen.print(
        f"Heads: {result.num_heads}, effective number "
        f"{result.effective_heads:.2f}, mean overlap of two "
        f"{result.head_overlap:.1%}",
        highlight=False,
    )

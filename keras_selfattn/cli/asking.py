"""Commands that ask a model: `evaluate`, `predict` and `explain`."""

import itertools
import json
import pathlib

from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command
from keras_selfattn.data import formats


def add_commands(commands):
    parser = add_command(commands, evaluate)
    models.add_model(parser)
    parser.add_argument("data", help="labeled texts")
    corpora.add_columns(parser)
    parser.add_argument(
        "--faithfulness",
        action="store_true",
        help="also measure how far attention tells what the model relied on",
    )

    parser = add_command(commands, predict)
    _add_texts(parser)
    parser.set_defaults(label=None)

    parser = add_command(commands, explain)
    _add_texts(parser)
    parser.add_argument("--label", help="column with the true label")
    parser.add_argument("--html", help="write one page to this file instead")


def _add_texts(parser):
    models.add_model(parser)
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--file", help="a file of texts instead")
    corpora.add_text_columns(parser)


def evaluate(options):
    """Compare answers with labels."""
    models.check_folder(options.model)
    corpus = corpora.open_corpus(options.data, options, options.split)
    model = models.load(options.model)
    from keras_selfattn import evaluation

    _print_evaluation(evaluation.evaluate(model, corpus))
    corpora.report_left_out(corpus)
    if options.faithfulness:
        from rich.progress import track

        from keras_selfattn import faithfulness

        read = track(corpus, "Removing words", total=None, transient=True)
        _print_faithfulness(faithfulness.measure(model, read))


def predict(options):
    """Classify texts."""
    rows = _open_rows(options, labelled=False)
    model = models.load(options.model)
    from keras_selfattn import evaluation

    texts = (text for text, _ in rows)
    for batch, probabilities in evaluation.predict(model, texts):
        for text, row in zip(batch, probabilities, strict=True):
            answer = {
                "label": model.labels[row.argmax()],
                "probabilities": {
                    label: round(float(p), 4)
                    for label, p in zip(model.labels, row, strict=True)
                },
                "text": text,
            }
            line = json.dumps(answer, ensure_ascii=False)
            # Half of a surrogate pair can only be printed as JSON's escape.
            print(line.encode("utf-8", "backslashreplace").decode())


def explain(options):
    """Show which words count."""
    rows = _open_rows(options, labelled=True)
    model = models.load(options.model)
    from rich.console import Console
    from rich.progress import track

    from keras_selfattn import visualization

    # Side by side, so that no more than a batch is held.
    texts, labels = itertools.tee(rows)
    explanations = visualization.explain(
        model,
        (text for text, _ in texts),
        (label for _, label in labels),
    )
    if not options.html:
        console = Console()
        for explanation in explanations:
            console.print(explanation)
        return
    shown = track(
        explanations,
        "Explaining",
        total=sum(1 for _ in rows),
        transient=True,
        console=Console(stderr=True),
    )
    title = "What the model looked at"
    if options.file:
        title += f" in {pathlib.Path(options.file).name}"
    print(visualization.write_html(shown, options.html, title=title))
    if options.file:
        corpora.report_left_out(rows)


def _open_rows(options, labelled):
    """The texts that a command is given, with their labels or `None`."""
    if bool(options.texts) == bool(options.file):
        raise ValueError("Expected texts, or --file with a file of texts")
    models.check_folder(options.model)
    if not options.file:
        return [(text, None) for text in options.texts]
    columns = options.text or options.text_pair or options.label
    format = options.format or formats.guess_format(options.file, bool(columns))
    # The other formats say themselves where their labels are.
    known = options.label is not None or format != formats.RECORDS
    return corpora.open_corpus(
        options.file, options, options.split, labelled and known
    )


def _print_evaluation(evaluation):
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"Accuracy {evaluation.accuracy:.2%}", highlight=False)
    table = Table("class", "precision", "recall", "F1", "rows")
    for label, figures in evaluation.per_class().items():
        shares = [
            f"{figures[name]:.1%}" for name in ("precision", "recall", "f1")
        ]
        table.add_row(str(label), *shares, str(figures["rows"]))
    console.print(table)
    confusion = Table(
        "true \\ predicted",
        *map(str, evaluation.labels),
        title="Confusion matrix",
    )
    for label, row in zip(evaluation.labels, evaluation.confusion, strict=True):
        confusion.add_row(str(label), *map(str, row))
    console.print(confusion)


def _print_faithfulness(result):
    from rich.console import Console
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
    console = Console()
    console.print(table)
    if result.num_heads is None:
        return
    console.print(
        f"Heads: {result.num_heads}, effective number "
        f"{result.effective_heads:.2f}, mean overlap of two "
        f"{result.head_overlap:.1%}",
        highlight=False,
    )

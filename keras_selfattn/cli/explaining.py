"""The command that shows which words count: `explain`."""

import itertools
import pathlib

from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli import tables
from keras_selfattn.cli.options import add_command
from keras_selfattn.data.lines import place


def add_commands(commands):
    parser = add_command(commands, explain)
    asked_texts.add_texts(parser)
    parser.add_argument("--label", help="column with the true label")
    parser.add_argument(
        "--effects",
        action="append",
        choices=("leave_one_out", "gradient_x_input"),
        help="also show what decided: by asking once more without each word, "
        "or by the gradient; give it twice for both",
    )
    parser.add_argument("--html", help="write one page to this file instead")


def explain(options):
    """Show which words count."""
    typed = asked_texts.typed_texts(options)
    models.check_folder(options.model)
    if options.html:
        tables.check_folder_of(options.html)
    if typed is None:
        rows = asked_texts.open_file(options, labelled=True)
    else:
        rows = [(text, None) for text in typed]
    text, _ = next(iter(rows))
    model = models.load(options)
    asked_texts.check_kind(model, not isinstance(text, str))
    from rich.console import Console
    from rich.progress import track

    from keras_selfattn import visualization

    # Side by side, so that no more than a batch is held.
    texts, labels = itertools.tee(rows)
    explanations = visualization.explain(
        model,
        (text for text, _ in texts),
        (label for _, label in labels),
        effects=options.effects,
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
        title += f" in {pathlib.Path(place(options.file)).name}"
    print(visualization.write_html(shown, options.html, title=title))
    if options.file:
        corpora.report_left_out(rows)

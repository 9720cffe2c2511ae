"""The command that shows which words count: `explain`."""

import itertools
import pathlib

from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli import tables
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.data.bad_rows import TextsOf
from keras_selfattn.data.corpora import expect
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
        tables.check_folder_of(options.html, [options.file])
    if typed is None:
        rows = _open_rows(options)
    else:
        rows = [(text, None) for text in typed]
    text, _ = next(iter(rows))
    model = models.load(options)
    asked_texts.check_kind(model, not isinstance(text, str))
    expect(rows, model.labels)
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
    if options.html:
        shown = track(
            explanations,
            "Explaining",
            total=sum(1 for _ in rows),
            transient=True,
            console=Console(stderr=True),
        )
        title = _title(options)
        print(visualization.write_html(shown, options.html, title=title))
    else:
        console = Console()
        for explanation in explanations:
            console.print(explanation)
    if typed is None:
        _report_left_out(rows)


def _title(options):
    title = "What the model looked at"
    if options.file:
        title += f" in {pathlib.Path(place(options.file)).name}"
    return title


def _open_rows(options):
    """Texts and labels of `--file`, those that can be explained."""
    corpus = asked_texts.open_file(options, labelled=True, forgiving=True)
    # A corpus leaves out rows itself where it has labels, and only there.
    return corpus if corpus.labelled else _Unlabelled(corpus)


def _report_left_out(rows):
    if not isinstance(rows, _Unlabelled):
        corpora.report_left_out(rows)
    elif rows.left_out.bad:
        note(
            f"{place(rows.path)}: {rows.left_out} without an explanation; "
            f"the first: {rows.left_out.first}"
        )


class _Unlabelled(TextsOf):
    """The texts of a corpus, each with no label; at least one of them."""

    def __init__(self, corpus):
        super().__init__([corpus])
        self.path = corpus.path

    def __iter__(self):
        for text in super().__iter__():
            yield text, None
        left_out = self.left_out
        if left_out.bad == left_out.rows:
            raise ValueError(
                f"Expected a text to explain in {place(self.path)}. Received: "
                f"{left_out} without one; the first: {left_out.first}"
            )

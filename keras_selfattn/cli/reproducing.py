"""The command that runs the papers' tables again: `reproduce`."""

import logging

from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.options import add_training
from keras_selfattn.cli.options import overrides
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.reproduction.tables import get_table


def add_commands(commands):
    parser = add_command(commands, reproduce)
    parser.add_argument("paper", help="lin2017, chen2018 or parikh2016")
    number = parser.add_mutually_exclusive_group(required=True)
    number.add_argument("--table", type=int, metavar="N")
    number.add_argument("--figure", type=int, metavar="N")
    parser.add_argument(
        "--corpus",
        required=True,
        help="what the texts are: yelp, age, snli or multinli",
    )
    parser.add_argument("--train", required=True, help="training texts")
    corpora.add_dev(parser)
    parser.add_argument(
        "--test", help="test texts; without, figures are of the dev texts"
    )
    parser.add_argument("--mismatched", help="the mismatched texts of MultiNLI")
    parser.add_argument(
        "--output",
        required=True,
        help="a new folder, or that of a reproduction to go on with",
    )
    parser.add_argument("--rows", help="only these, as in KEY,KEY")
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="runs of each row"
    )
    corpora.add_columns(parser)
    add_training(parser)
    models.add_verify(parser)


def reproduce(options):
    """Run the rows of a paper's table, beside the published figures."""
    if options.split is not None:
        raise ValueError(
            "Each part of an archive has its use here: none is to be chosen. "
            f"Received: --split {options.split}"
        )
    kind = "table" if options.figure is None else "figure"
    name = f"{kind} {getattr(options, kind)}"
    get_table(options.paper, name)
    splits = list(_open_corpora(options))
    model_overrides, training_overrides = overrides(options)
    start_keras()
    from keras_selfattn import reproduction
    from keras_selfattn.reproduction.report import print_report

    # Each run compiles its own functions, of which TensorFlow warns.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    results = reproduction.reproduce(
        options.paper,
        name,
        options.corpus,
        *splits,
        folder=options.output,
        rows=options.rows and options.rows.split(","),
        seeds=options.seeds,
        vectors=options.vectors,
        model_overrides=model_overrides,
        training_overrides=training_overrides,
        verify=options.verify,
    )
    print_report(results)
    print(f"The same, as files: {options.output}")
    return 1 if results.failures else 0


def _open_corpora(options):
    corpora.check_dev(options, options.train)
    matched = options.corpus == "multinli"
    for path, split in (
        (options.train, "train"),
        (options.dev or options.train, "dev_matched" if matched else "dev"),
        (options.test, "test"),
        (options.mismatched, "dev_mismatched"),
    ):
        yield (
            None
            if path is None
            else corpora.open_split(path, options, None, split)
        )

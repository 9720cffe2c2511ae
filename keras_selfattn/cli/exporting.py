"""The command that writes SavedModels: `export`."""

from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command


def add_commands(commands):
    parser = add_command(commands, export)
    models.add_model(parser)
    parser.add_argument("folder", help="folder of the versions")
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument(
        "--reduced-precision",
        choices=("bfloat16", "int8"),
        help="store weights in fewer bits; needs --check",
    )
    parser.add_argument(
        "--check",
        metavar="FILE",
        help="labeled texts to measure what reduced precision costs; the "
        "export is refused where that is over a point of accuracy",
    )
    corpora.add_columns(parser)


def export(options):
    """Write a SavedModel for serving."""
    if (options.reduced_precision is None) != (options.check is None):
        raise ValueError(
            "Expected both --reduced-precision and --check with labeled "
            "texts, or none of them"
        )
    models.check_folder(options.model)
    if options.check:
        corpus = corpora.open_corpus(options.check, options, options.split)
    model = models.load(options.model)
    from keras_selfattn import serving
    from keras_selfattn.model_card import model_card
    from keras_selfattn.model_card import read_model_card

    card = read_model_card(options.model)
    if options.check:
        reduced = serving.reduce_precision(model, options.reduced_precision)
        comparison = serving.compare(model, reduced, corpus)
        corpora.report_left_out(corpus)
        comparison.check()
        cost = f"{options.reduced_precision}: {comparison}"
        print(cost)
        model = reduced
        # The figures of a run's own card are those in float32.
        card = f"{card or model_card(model)}\n## Reduced precision\n\n{cost}\n"
    print(serving.export(model, options.folder, options.version, card))

"""The command that writes models for those who serve them: `export`."""

from keras_selfattn.cli import asked_texts
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command
from keras_selfattn.zoo.folders import find_model

_SAVEDMODEL = "savedmodel"
# `--format` is that of the export here.
_FORMAT_OPTION = "--check-format"
# The functions of `serving` that write them.
_FUNCTIONS = {
    _SAVEDMODEL: "export",
    "onnx": "export_onnx",
    "openvino": "export_openvino",
    "litert": "export_litert",
}


def add_commands(commands):
    parser = add_command(commands, export)
    models.add_model(parser)
    parser.add_argument(
        "folder",
        help="folder of the versions of a SavedModel, or a new folder for any "
        "other format",
    )
    parser.add_argument(
        "--format",
        dest="written",
        choices=tuple(_FUNCTIONS),
        default=_SAVEDMODEL,
        help="what is written: a SavedModel takes texts, the others ids "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--version", type=int, help="of the SavedModel (default: 1)"
    )
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
    corpora.add_columns(parser, _FORMAT_OPTION)


def export(options):
    """Write a SavedModel for serving, or another format."""
    if options.written != _SAVEDMODEL and options.version is not None:
        raise ValueError(
            f"--version is for {_SAVEDMODEL}. "
            f"Received: --version with --format {options.written}"
        )
    if (options.reduced_precision is None) != (options.check is None):
        raise ValueError(
            "Expected both --reduced-precision and --check with labeled "
            "texts, or none of them"
        )
    if not options.check:
        corpora.refuse_file_options(
            options,
            "is for the texts of --check, which is not given",
            _FORMAT_OPTION,
        )
    models.check_folder(options.model)
    if options.check:
        corpus = corpora.open_corpus(
            options.check,
            options,
            options.split,
            format_option=_FORMAT_OPTION,
        )
    # On the Hub the newest commit may be another one by the time of the card.
    options.model = find_model(options.model)
    model = models.load(options)
    from keras_selfattn import serving
    from keras_selfattn.model_card import model_card
    from keras_selfattn.model_card import read_model_card
    from keras_selfattn.serving.checks import check_model

    card = read_model_card(options.model)
    if options.check:
        asked_texts.first_text(model, corpus)
        reduced = serving.reduce_precision(model, options.reduced_precision)
        check_model(reduced, options.written)
        comparison = serving.compare(model, reduced, corpus)
        corpora.report_left_out(corpus)
        comparison.check()
        cost = f"{options.reduced_precision}: {comparison}"
        print(cost)
        model = reduced
        # The figures of a run's own card are those in float32.
        card = f"{card or model_card(model)}\n## Reduced precision\n\n{cost}\n"
    write = getattr(serving, _FUNCTIONS[options.written])
    version = {} if options.version is None else {"version": options.version}
    print(write(model, options.folder, card=card, **version))

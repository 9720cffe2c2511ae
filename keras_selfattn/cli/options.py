"""Options that several commands have."""

import argparse
import json
import os

from keras_selfattn.cli.starting import start_keras

PROGRAM = "keras-selfattn"

_TRAINING = {
    "epochs": int,
    "batch_size": int,
    "optimizer": str,
    "learning_rate": float,
    "max_tokens": int,
}
# Words that would otherwise be strings, and so all be true.
_PYTHON = {"True": True, "False": False, "None": None}


def add_command(commands, run):
    """The parser of a command.

    Args:
        commands: What `ArgumentParser.add_subparsers` returns.
        run: The command's function of the parsed options. Its name is the
            command's, its docstring the help.
    """
    parser = commands.add_parser(
        run.__name__, help=run.__doc__, description=run.__doc__
    )
    # Given ahead of the command, it would be lost to a default.
    add_debug(parser, default=argparse.SUPPRESS)
    parser.set_defaults(run=run)
    return parser


def add_debug(parser, default):
    parser.add_argument(
        "--debug",
        action="store_true",
        default=default,
        help="show the traceback of an error",
    )


def add_training(parser):
    parser.add_argument("--vectors", help="word vectors in text format")
    for name, kind in _TRAINING.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=assignment,
        help="an argument of the model or of its training, such as "
        "units=100 or global_clipnorm=1",
    )


def overrides(options):
    """The arguments of the model that are given, and the training values."""
    for name, _ in options.set:
        if name in ("vocabulary_size", "num_classes", "name"):
            raise ValueError(f"{name!r} follows from the data and the preset")
    if options.vectors is not None:
        # A missing file is found before Keras is imported.
        os.stat(options.vectors)
    start_keras()
    from keras_selfattn.training import is_training_value

    given = {name: getattr(options, name) for name in _TRAINING}
    training = {k: v for k, v in given.items() if v is not None}
    model = {}
    for name, value in options.set:
        (training if is_training_value(name) else model)[name] = value
    return model, training


def assignment(text):
    """The name and the value of `NAME=VALUE`, which is JSON or a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, _PYTHON.get(value, value)


def choices(text):
    """The name and the list of `NAME=[VALUE,...]`."""
    name, values = assignment(text)
    if not isinstance(values, list):
        raise argparse.ArgumentTypeError(
            f"expected NAME=[VALUE,...] in JSON, got {text!r}"
        )
    return name, values

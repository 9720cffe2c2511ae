"""Options that several commands have."""

import argparse
import collections
import json
import os

from keras_selfattn.cli.models import check_folder
from keras_selfattn.training.values import VALUES
from keras_selfattn.training.values import check_training_values
from keras_selfattn.training.values import describe_values
from keras_selfattn.training.values import is_training_value
from keras_selfattn.zoo import hub
from keras_selfattn.zoo.folders import find_model

PROGRAM = "keras-selfattn"

_OPTIONS = [value for value in VALUES if value.is_option]
_NOT_TO_SET = (
    *("vocabulary_size", "num_classes", "name"),
    *("preprocessor", "labels", "verify"),
)
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
        run.__name__,
        help=run.__doc__,
        description=run.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    parser.add_argument(
        "--vectors",
        metavar="FILE_OR_MODEL",
        action="append",
        help="word vectors in text format, or those of a trained model's "
        "words; given more than once, a word has all, one after the other",
    )
    for value in _OPTIONS:
        parser.add_argument(
            f"--{value.name.replace('_', '-')}",
            type=value.range.kind,
            help="a training value; see below",
        )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=assignment,
        help="an argument of the model, such as units=100, or any training "
        "value",
    )
    parser.epilog = f"training values:\n{describe_values()}"


def overrides(options):
    """The arguments of the model that are given, and the training values.

    Raises:
        ValueError: if one can't be set, is given twice, or a training value
            is not as expected.
        OSError: if there is neither a file nor a model of word vectors.
    """
    for source in options.vectors or ():
        if hub.is_on_hub(source):
            check_folder(source)
        elif find_model(source) is None:
            os.stat(source)
    model = {}
    training = {
        value.name: getattr(options, value.name)
        for value in _OPTIONS
        if getattr(options, value.name) is not None
    }
    check_once([*training, *(name for name, _ in options.set)])
    for name, value in options.set:
        if name in _NOT_TO_SET:
            raise ValueError(f"{name!r} follows from the data and the preset")
        (training if is_training_value(name) else model)[name] = value
    check_training_values(training)
    return model, training


def check_once(names):
    """`ValueError` where values are given, or to be searched, twice.

    Args:
        names: Iterable of their names.
    """
    counts = collections.Counter(names)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ValueError(
            "Expected each argument and training value once. Received more "
            f"than one of: {', '.join(twice)}"
        )


def check_seed(options):
    """`ValueError` where Keras would refuse a command's `--seed`, later."""
    seed = options.seed
    if seed is not None and not 0 <= seed < 2**32:
        raise ValueError(
            f"`--seed` must be from 0 to {2**32 - 1}. Received: {seed}"
        )


def assignment(text):
    """The name and the value of `NAME=VALUE`, which is JSON or a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    # Too deep nesting is no ValueError.
    except (ValueError, RecursionError):
        return name, _PYTHON.get(value, value)


def choices(text):
    """The name and the list of `NAME=[VALUE,...]`."""
    name, values = assignment(text)
    if not isinstance(values, list):
        raise argparse.ArgumentTypeError(
            f"expected NAME=[VALUE,...] in JSON, got {text!r}"
        )
    return name, values

"""The parser of all commands."""

import argparse

from keras_selfattn import __version__
from keras_selfattn.cli import demo
from keras_selfattn.cli import encoding
from keras_selfattn.cli import evaluating
from keras_selfattn.cli import explaining
from keras_selfattn.cli import exporting
from keras_selfattn.cli import listing
from keras_selfattn.cli import predicting
from keras_selfattn.cli import preparing
from keras_selfattn.cli import publishing
from keras_selfattn.cli import reproducing
from keras_selfattn.cli import runs
from keras_selfattn.cli import serving
from keras_selfattn.cli import training
from keras_selfattn.cli import vectors
from keras_selfattn.cli.options import PROGRAM
from keras_selfattn.cli.options import add_debug


class _Command(argparse.ArgumentParser):
    """Takes texts and files before and after its options."""

    _apart = False

    def parse_known_args(self, args=None, namespace=None):
        # Options and the rest are parsed apart, each by this method again.
        if self._apart:
            return super().parse_known_args(args, namespace)
        self._apart = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._apart = False


def make_parser() -> argparse.ArgumentParser:
    """The parser, whose options hold the command's function as `run`."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Explainable text classifiers: train, look, serve.",
    )
    add_debug(parser, default=False)
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {__version__}"
    )
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", parser_class=_Command
    )
    # As the help lists them.
    for family in (
        training,
        preparing,
        vectors,
        evaluating,
        predicting,
        explaining,
        encoding,
        exporting,
        serving,
        publishing,
        reproducing,
        listing,
        runs,
        demo,
    ):
        family.add_commands(commands)
    return parser

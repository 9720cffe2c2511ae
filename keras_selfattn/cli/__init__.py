"""The command line: its parser, and one module a family of commands."""

from keras_selfattn.cli.command import main as main
from keras_selfattn.cli.parser import make_parser as make_parser

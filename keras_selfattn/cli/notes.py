"""What commands say on standard error."""

import sys

from keras_selfattn.cli.options import PROGRAM
from keras_selfattn.controls import one_line


def note(message):
    """Say something in one line.

    Args:
        message: String. What it has of a file's content may drive no terminal.
    """
    print(f"{PROGRAM}: {one_line(message)}", file=sys.stderr)

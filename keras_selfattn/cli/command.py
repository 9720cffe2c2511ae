"""Runs one command, and tells what went wrong in one line."""

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from keras_selfattn import leftovers
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.parser import make_parser
from keras_selfattn.cli.signals import Signals
from keras_selfattn.cli.training import how_to_resume

# What is raised where an input is at fault; all else is a fault of ours.
_INPUT_FAULTS = (ValueError, OSError, ImportError, FloatingPointError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: List of strings, or `None` for those of the process.

    Returns:
        The exit code: 0; 1 where a row of a reproduction failed, or after an
        internal error, 2 where an input is at fault, 130 where the user
        interrupted, 141 where whoever read the output has enough. A
        terminated process ends with 143.
    """
    if arguments is not None:
        return _run(arguments)
    try:
        signals = Signals()
        warnings.showwarning = _show_warning
        out = sys.stdout
        if isinstance(out, io.TextIOWrapper) and out.errors == "strict":
            # What its encoding lacks is escaped, as on standard error.
            out.reconfigure(errors="backslashreplace")
        code = _run(sys.argv[1:], signals)
        # Where the exception of a signal was lost, the code is still its own.
        return signals.exit_code() or code
    except KeyboardInterrupt:
        # One that came before the command began, or after it had ended.
        return _interrupted()
    finally:
        leftovers.clear()


def _run(arguments, signals=None):
    debug, options = False, None
    try:
        options = make_parser().parse_args(arguments)
        options.arguments = arguments
        debug = options.debug
        code = options.run(options) or 0
        if sys.stdout is not None:
            # Else the interpreter would meet a closed pipe at its end.
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _output_is_closed()
    except SystemExit as error:
        # As rich ends the process where its output is closed.
        if isinstance(error.__context__, BrokenPipeError):
            return _output_is_closed()
        raise
    except KeyboardInterrupt:
        return _interrupted(how_to_resume(options))
    except Exception as error:
        if debug:
            traceback.print_exc()
        if signals is not None and signals.received is not None:
            # What the handler raised, C code has made another error of.
            return signals.exit_code()
        kind, code, message = "error", 2, str(error)
        if not isinstance(error, _INPUT_FAULTS):
            kind, code = "internal error", 1
            message = f"{type(error).__name__}: {message} (--debug shows where)"
        note(f"{kind}: {message}")
        return code


def _interrupted(more=""):
    note(f"interrupted{more}")
    return 130


def _show_warning(message, *_):
    note(f"warning: {message}")


def _output_is_closed():
    """What a program ends with that writes to `head` when it has enough."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
    # SIGPIPE's number, which Windows has no name for.
    return 128 + 13

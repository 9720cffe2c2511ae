import os
import subprocess
import sys

import pytest

import keras_selfattn
from keras_selfattn import cli
from keras_selfattn.cli import command
from keras_selfattn.cli import listing
from tests.cli.commands import fails


def test_an_internal_error_is_one_line_unless_asked(capsys, monkeypatch):
    def fail(options):
        raise KeyError("units")

    monkeypatch.setattr(listing, "presets", fail)
    fail.__name__ = "presets"
    assert cli.main(["presets"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "keras-selfattn: internal error: KeyError: 'units' "
        "(--debug shows where)"
    ]
    for arguments in (["--debug", "presets"], ["presets", "--debug"]):
        assert cli.main(arguments) == 1
        shown = capsys.readouterr().err
        assert 'raise KeyError("units")' in shown
        assert shown.splitlines()[-1].startswith("keras-selfattn: internal")


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown == f"keras-selfattn {keras_selfattn.__version__}\n"


def test_the_traceback_of_a_fault_of_the_input(capsys):
    fails(capsys, ["predict", "none", "text"], "none")
    assert cli.main(["predict", "none", "text", "--debug"]) == 2
    assert "in check_folder" in capsys.readouterr().err


def test_an_interrupt(capsys, monkeypatch):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(listing, "presets", interrupt)
    interrupt.__name__ = "presets"
    assert cli.main(["presets"]) == 130
    assert capsys.readouterr().err == "keras-selfattn: interrupted\n"


def test_an_interrupt_before_the_command_is_known(capsys, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make_parser", interrupt)
    assert cli.main(["presets"]) == 130
    assert capsys.readouterr().err == "keras-selfattn: interrupted\n"


def run_instead(line, **environment):
    """What the process has said whose command is a line of Python."""
    code = "\n".join(
        [
            "import sys, warnings",
            "from keras_selfattn import cli",
            "from keras_selfattn.cli import listing",
            "def instead(options):",
            f"    {line}",
            "instead.__name__ = 'presets'",
            "instead.__doc__ = 'Say.'",
            "listing.presets = instead",
            "sys.argv[1:] = ['presets']",
            "cli.main()",
        ]
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_a_warning_is_one_line():
    ended = run_instead("warnings.warn('many weights')")
    # TensorFlow speaks before.
    last = ended.stderr.splitlines()[-1]
    assert last == "keras-selfattn: warning: many weights"


def test_what_standard_output_cannot_encode_is_escaped():
    ended = run_instead(r"print('\u6b63')", PYTHONIOENCODING="cp1252")
    assert ended.stdout == "\\u6b63\n"

import sys

import pytest

from keras_selfattn.first_use import is_command_line


@pytest.mark.parametrize(
    ("argv", "started", "expected"),
    [
        ("-m predict run", "python -m keras_selfattn predict run", True),
        ("/a/__main__.py", "python -X dev -m keras_selfattn", True),
        ("/a/keras-selfattn -h", "python /a/keras-selfattn -h", True),
        ("keras-selfattn.exe", "python keras-selfattn.exe", True),
        ("-m", "python -m their.script", False),
        ("-m keras_selfattn", "python -m their keras_selfattn", False),
        ("-c -m keras_selfattn", "python -c x -m keras_selfattn", False),
        ("script.py", "python script.py", False),
        ("", "python", False),
        ("x -a -b -c", "x", False),
    ],
)
def test_which_processes_are_the_command(monkeypatch, argv, started, expected):
    monkeypatch.setattr(sys, "argv", argv.split(" "))
    monkeypatch.setattr(sys, "orig_argv", started.split())
    assert is_command_line() == expected

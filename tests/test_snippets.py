"""Of the snippets, all that can fail does."""

import subprocess

import pytest

from tests import snippets

PAGE = """
```sh
# Comments are none.
keras-selfattn presets
docker run
A=1 keras-selfattn predict \\
    runs
```

```text
keras-selfattn train
```
"""


def test_commands_are_whole():
    assert snippets.commands(PAGE) == [
        "keras-selfattn presets",
        "docker run",
        "A=1 keras-selfattn predict      runs",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["keras-selfattn presets --unknown"],
        ["A=1 keras-selfattn presets --unknown"],
        ["A=1 keras-selfattn presets --unknown &", "A=1 true"],
        ["printf '' | keras-selfattn presets --unknown"],
        ["something else"],
    ],
)
def test_a_command_that_fails_is_told(lines):
    with pytest.raises(
        (AssertionError, SystemExit, subprocess.SubprocessError)
    ):
        snippets.run_commands(lines)


def test_other_programs_are_left_out():
    snippets.run_commands(["docker run", "pip install nothing"])

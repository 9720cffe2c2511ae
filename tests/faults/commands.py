"""The commands that faults happen to: a row for each.

A new command is a row in `COMMANDS`: how it is given, how it goes on after it
was cut off, and the files that it must end with.
"""

import dataclasses
import pathlib
import typing

from tests.cli.commands import SMALL

_COLUMNS = ("--text=review", "--label=stars")


@dataclasses.dataclass(frozen=True)
class Command:
    """One command.

    Attributes:
        name: What it is called in the table.
        arguments: Function of the folder of data and the path to write to,
            which gives the words of the command line.
        result: The files below what is written that must be the same as
            without a fault, as a glob; `None` where that is one file.
        resume: What is added to go on with what was cut off.
        begun: A file below what is written without which there is nothing to
            go on with, and the command is given as before.
        is_version: Whether it writes a folder of its own into the path, which
            must not be there yet.
        is_whole: Whether what it writes is there whole or not at all.
        is_new: Whether it refuses a path where something is already.
        suffix: What the path it writes to ends in.
    """

    name: str
    arguments: typing.Callable
    result: str | None = "**/*"
    resume: tuple = ()
    begun: str = ""
    is_version: bool = False
    is_whole: bool = False
    is_new: bool = False
    suffix: str = ""

    def going_on(self, data, output):
        """The words that go on where the command was cut off."""
        words = self.arguments(data, output)
        resumed = self.resume and (output / self.begun).exists()
        return [*words, *self.resume] if resumed else words

    def is_done(self, output):
        """Whether there is nothing to go on with."""
        if self.is_new:
            return bool(self.files(output))
        return self.is_version and (output / "1").exists()

    def files(self, output):
        """By name the content of the files that count.

        Those below hidden folders are being written, and don't.
        """
        if self.result is None:
            return {"": output.read_bytes()} if output.is_file() else {}
        found = {}
        for path in pathlib.Path(output).glob(self.result):
            name = path.relative_to(output)
            hidden = any(part.startswith(".") for part in name.parts)
            if path.is_file() and not hidden:
                found[str(name)] = path.read_bytes()
        return found


def _fit(command, *more):
    def arguments(data, output):
        files = (f"{data / 'train.jsonl'}", f"--dev={data / 'dev.jsonl'}")
        return [command, *files, f"--output={output}", *_COLUMNS, *more]

    return arguments


def _reproduce(data, output):
    return [
        *("reproduce", "lin2017", "--table=1", "--corpus=yelp"),
        *(f"--train={data / 'train.jsonl'}", f"--dev={data / 'dev.jsonl'}"),
        *(f"--output={output}", *_COLUMNS, "--seeds=2", "--rows=cnn-max"),
        *("--set=units=6", "--set=embedding_dim=8", "--set=hidden_units=8"),
        *("--epochs=2", "--batch-size=16"),
    ]


COMMANDS = {
    command.name: command
    for command in (
        Command(
            "train",
            _fit("train", *SMALL, "--epochs=6"),
            "model/*",
            ("--resume",),
            "settings.json",
        ),
        Command(
            "tune",
            _fit(
                *("tune", "--preset=lin2017_yelp", *SMALL, "--epochs=2"),
                *("--only", "--search=learning_rate=[0.01,0.1]", "--trials=2"),
            ),
            "model/*",
            ("--resume",),
            "search.json",
        ),
        Command("reproduce", _reproduce, "results.csv"),
        Command(
            "prepare",
            lambda data, output: [
                *("prepare", *(f"{data / n}.jsonl" for n in ("train", "dev"))),
                *(f"--dev={data / 'dev.jsonl'}", f"--output={output}"),
                *(*_COLUMNS, "--workers=1"),
            ],
            resume=("--resume",),
            begun="settings.json",
        ),
        Command(
            "export",
            lambda data, output: ["export", str(data / "model"), str(output)],
            is_version=True,
            is_whole=True,
        ),
        Command(
            "encode",
            lambda data, output: [
                *("encode", str(data / "model"), str(data / "train.jsonl")),
                *("--text=review", f"--output={output}"),
            ],
            is_whole=True,
            is_new=True,
        ),
        Command(
            "vectors",
            lambda data, output: [
                *("vectors", *(f"{data / n}.jsonl" for n in ("train", "dev"))),
                *("--text=review", f"--output={output}"),
            ],
            None,
            is_whole=True,
            suffix=".txt",
        ),
        Command(
            "predict",
            lambda data, output: [
                *("predict", str(data / "model"), "--text=review"),
                *("--file", str(data / "train.jsonl"), f"--output={output}"),
            ],
            None,
            is_whole=True,
            suffix=".csv",
        ),
    )
}

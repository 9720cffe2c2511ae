"""One fault that happens to one command, and how it goes on."""

import random
import shutil

from tests.cli.commands import write_reviews
from tests.faults.commands import COMMANDS
from tests.faults.kinds import FAULTS
from tests.faults.process import Process

# How much of what a command has said is told, in characters.
_SHOWN = 2000
_ERROR = "keras-selfattn: error: "
# What only one who is writing may have beside its path.
_HIDDEN = (".*.tmp", ".*.new", ".*.old", ".*.lock", ".lock", ".export-*")


class Trial:
    """A command, a fault, and the moment of it.

    Args:
        number: Integer, which the random choices follow from.
        command: The name of a command.
        fault: The name of a fault.
        undisturbed: The `Undisturbed`.
        folder: `pathlib.Path` of a folder to work in.

    Attributes:
        place: The folder above what the command writes.
        output: What it writes.
    """

    def __init__(self, number, command, fault, undisturbed, folder):
        self.command = COMMANDS[command]
        self.fault = fault
        self.random = random.Random(f"{number} {command} {fault}")
        self.data = undisturbed.data
        self.folder = folder
        self.place = folder / "place"
        self.output = self.place / f"out{self.command.suffix}"
        self._undisturbed = undisturbed
        longest = undisturbed.seconds(command)
        self.moment = self.random.uniform(0, 1.05 * longest)

    def start(self, **limits):
        return Process(
            self.command.arguments(self.data, self.output),
            self.folder / "first.txt",
            **limits,
        )

    def run(self):
        """What was wrong; an empty list where nothing was."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.place.mkdir(parents=True)
        processes, codes = FAULTS[self.fault](self)
        wrong = []
        for process in processes:
            if process.end():
                wrong.append("hung")
            if process.code not in codes:
                said = process.text()[-_SHOWN:]
                wrong.append(f"ended with {process.code}: {said}")
            wrong += _said(process)
        self.codes = [process.code for process in processes]
        if len(processes) > 1 and 0 not in self.codes:
            wrong.append("neither of two ended well")
        wrong += self._half_written()
        return wrong or self._go_on()

    def _half_written(self):
        """What was renamed when it was whole is whole, or not there."""
        if not self.command.is_whole:
            return []
        found = self.command.files(self.output)
        if found and not self._undisturbed.is_same(
            self.command.name, self.output
        ):
            return ["half-written"]
        return []

    def _go_on(self):
        if not self.command.is_done(self.output):
            process = Process(
                self.command.going_on(self.data, self.output),
                self.folder / "on.txt",
            )
            # Undisturbed, it may take as long as it takes.
            process.wait(600)
            if process.end() or process.code:
                return [f"went on to {process.code}: {process.text()[-300:]}"]
            if wrong := _said(process):
                return wrong
        if not self._undisturbed.is_same(self.command.name, self.output):
            return ["another result"]
        left = {
            path.name
            for pattern in _HIDDEN
            for path in self.place.rglob(pattern)
        }
        return [f"left {', '.join(sorted(left))}"] if left else []


def _said(process):
    text = process.text()
    if "Traceback" in text or "internal error" in text:
        return [f"said {text[-600:]}"]
    lines = [line for line in text.splitlines() if line.startswith(_ERROR)]
    if process.code == 2 and len(lines) != 1:
        return [f"{len(lines)} lines of error: {text[-300:]}"]
    return []


class Undisturbed:
    """What the commands end with where there is no fault.

    Args:
        folder: `pathlib.Path` of a folder to work in.

    Attributes:
        data: The folder of texts and of a model.
    """

    def __init__(self, folder):
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self._folder = folder
        self._found = {}
        write_reviews(self.data / "train.jsonl", 200, 1)
        write_reviews(self.data / "dev.jsonl", 40, 2)
        self._of("train")
        shutil.copytree(
            folder / "train" / "0" / "out" / "model", self.data / "model"
        )

    def seconds(self, command):
        """How long a command takes."""
        return self._of(command)[1]

    def is_same(self, command, output):
        """Whether what a command has written is the same."""
        found = COMMANDS[command].files(output)
        expected = self._of(command)[0]
        return {name: found.get(name) for name in expected} == expected

    def _of(self, name):
        """The files of a command that are the same each time, and its time."""
        if name in self._found:
            return self._found[name]
        (first, _), (second, seconds) = (
            self._run(name, self._folder / name / str(number))
            for number in range(2)
        )
        # Others tell where they are, or how long a run has taken.
        same = {f: c for f, c in first.items() if second.get(f) == c}
        assert same, name
        if differ := first.keys() - same.keys():
            print(f"{name}: not compared: {', '.join(sorted(differ))}")
        self._found[name] = same, seconds
        return self._found[name]

    def _run(self, name, place):
        command = COMMANDS[name]
        place.mkdir(parents=True)
        output = place / f"out{command.suffix}"
        process = Process(
            command.arguments(self.data, output), place / "said.txt"
        )
        process.wait(600)
        assert process.code == 0, process.text()
        return command.files(output), process.seconds

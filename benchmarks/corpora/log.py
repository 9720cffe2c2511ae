"""The outcomes so far, a line of JSON each, which a later call goes on from."""

import json
import pathlib

# What tells an outcome from others; the same settings make the same one.
KEY = ("corpus", "system", "rows", "seed", "settings")


class Log:
    """Outcomes of a file, which need not exist yet.

    Args:
        path: Path of the file.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.outcomes = []
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                # A line that a stop has cut is an outcome that is missing.
                try:
                    self.outcomes.append(json.loads(line))
                except json.JSONDecodeError:
                    continue

    def find(self, **key):
        """The latest outcome with these values, or `None`."""
        key = as_json(key)
        for outcome in reversed(self.outcomes):
            if all(outcome.get(name) == key[name] for name in key):
                return outcome
        return None

    def add(self, outcome):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(outcome)
        # On a line of its own, whatever a stop has left before it.
        with self.path.open("a+", encoding="utf-8") as file:
            if file.tell() and not self._ends_a_line():
                file.write("\n")
            file.write(text + "\n")
        self.outcomes.append(json.loads(text))

    def _ends_a_line(self):
        return self.path.read_bytes().endswith(b"\n")


def as_json(value):
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))

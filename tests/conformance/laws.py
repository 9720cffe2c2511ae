"""Runs the harness on one backend, and tells what became of each law."""

import ast
import dataclasses
import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
BACKENDS = ("tensorflow", "jax", "torch")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one test.

    Attributes:
        path: Its file, from the root.
        name: Its name, with that of the row in brackets.
        result: "passed", "failed" or "skipped".
    """

    path: str
    name: str
    result: str

    @property
    def subject(self):
        """The layer or model that it was about, or ""."""
        row = re.search(r"\[(?:[a-z]\w*-)*([A-Z]\w+)", self.name)
        return row[1] if row else ""


def is_installed(backend):
    return importlib.util.find_spec(backend) is not None


def run(backend, *arguments):
    """Runs pytest with a backend of Keras.

    Args:
        backend: The name of the backend.
        *arguments: Those of pytest.

    Returns:
        A list of `Outcome`, and what pytest printed, which is None when it
        found no fault.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                f"--junitxml={report}",
                *arguments,
            ],
            cwd=ROOT,
            env={**os.environ, "KERAS_BACKEND": backend},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        outcomes = list(_outcomes(report)) if report.exists() else []
    return outcomes, done.stdout if done.returncode or not outcomes else None


def _outcomes(report):
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        path = case.get("classname").replace(".", "/") + ".py"
        found = {part.tag for part in case}
        result = "passed"
        if found & {"failure", "error"}:
            result = "failed"
        elif "skipped" in found:
            result = "skipped"
        yield Outcome(path, case.get("name"), result)


def laws():
    """The laws by number, each in the words of the first file about it."""
    found = {}
    for path in sorted(HERE.glob("test_*.py")) + sorted(HERE.rglob("*.py")):
        law, words = _law(path)
        if law:
            found.setdefault(law, words)
    return dict(sorted(found.items()))


def law_of(path):
    """The number of the law that a file is about, or 0 for none."""
    return _law(ROOT / path)[0]


@functools.cache
def _law(path):
    words = ""
    if path.exists():
        words = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    match = re.match(r"Law (\d+): (.+?)(\.\s|\.$|\n\n|$)", words, re.DOTALL)
    if match is None:
        return 0, ""
    return int(match[1]), " ".join(match[2].split())

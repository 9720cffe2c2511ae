"""Which tests concern a file of the package."""

import ast
import pathlib

from tests.backends.process import OTHERS
from tests.backends.test_suites import SUITES

OTHER_BACKENDS = "tests/backends/test_suites.py"
ROOT = pathlib.Path(__file__).parents[2]
ROOMS = (
    "layers",
    "models",
    "regularizers",
    "text",
    "optimizers",
    "training",
    "data",
    "serving",
)
# Tests of rooms above, which build on a room and run in this process.
ABOVE = {
    "layers": ["tests/conformance/models", "tests/models"],
    "models": ["tests/conformance/models", "tests/training"],
    "regularizers": ["tests/conformance", "tests/models"],
    "text": ["tests/serving", "tests/training"],
    "optimizers": ["tests/training"],
    "training": ["tests/tuning", "tests/faithfulness"],
    "data": ["tests/training", "tests/cli/test_corpora.py"],
    "serving": ["tests/faithfulness", "tests/test_model_card.py"],
}


def files():
    """The files of all rooms, from the root."""
    for room in ROOMS:
        place = ROOT / "keras_selfattn" / room
        found = sorted(place.rglob("*.py")) or [place.with_suffix(".py")]
        for path in found:
            if path.name != "__init__.py":
                yield path.relative_to(ROOT).as_posix()


def stages(path):
    """Lists of arguments of pytest, to be run in this order.

    The file's own examples and tests come first, then those of the layers in
    the conformance table that it is part of, then those of its room, then
    those of rooms above, then its own slow ones, and at last those of its room
    on the backends that it names.
    """
    place = pathlib.PurePosixPath(path)
    room = place.parts[1].removesuffix(".py")
    own = []
    source = (ROOT / path).read_text(encoding="utf-8")
    if ">>>" in source:
        own.append(path)
    inside = place.relative_to("keras_selfattn").with_suffix("")
    own.append(f"tests/{inside.parent}/test_{inside.name}.py")
    found = [own]
    if room == "layers":
        found.append(["tests/conformance", "-k", " or ".join(_layers(path))])
    found.append([f"tests/{room}", f"tests/test_{room}.py"])
    found += [[each] for each in ABOVE[room]]
    return [
        *filter(None, _existing(found)),
        *([*each, "-m", "slow"] for each in _existing([own]) if each),
        *(
            [OTHER_BACKENDS, "-m", "slow", "-k", f"{room} and {backend}"]
            for backend in OTHERS
            if room in SUITES and f'"{backend}"' in source
        ),
    ]


def _existing(found):
    """Without the files that are not there or have had their turn."""
    seen = set()
    for arguments in found:
        if "-k" in arguments:
            yield arguments
            continue
        yield [
            argument
            for argument in map(str, map(pathlib.PurePosixPath, arguments))
            if (ROOT / argument).exists()
            and not (argument in seen or seen.add(argument))
        ]


def _layers(path):
    """The layers that are defined in a file or build on it."""
    folder = ROOT / "keras_selfattn" / "layers"
    trees = {
        file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8"))
        for file in folder.rglob("*.py")
        if file.name != "__init__.py"
    }
    reached, names = [path], []
    for each in reached:
        for node in ast.walk(trees[each]):
            if isinstance(node, ast.ClassDef):
                names.append(node.name)
        module = pathlib.PurePosixPath(each).stem
        reached += [
            other
            for other, tree in trees.items()
            if other not in reached and module in _imports(tree)
        ]
    return names or ["no layer"]


def _imports(tree):
    return {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        for part in (*node.module.split("."), name.name)
    }

"""The rooms of the package, and what imports what."""

import ast
import pathlib

import keras_selfattn

ROOT = pathlib.Path(keras_selfattn.__file__).parent

# From the lowest to the highest: each imports only those before it.
ROOMS = (
    "first_use",
    "private_names",
    "validation",
    "controls",
    "endings",
    "leftovers",
    "locks",
    "files",
    "checksums",
    "streams",
    "labels",
    "sides",
    "layers",
    "regularizers",
    "optimizers",
    "text",
    "data",
    "backends",
    "zoo",
    "models",
    "wrappers",
    "heads",
    "evaluation",
    "effects",
    "faithfulness",
    "visualization",
    "callbacks",
    "model_card",
    "serving",
    "encoding",
    "training",
    "tuning",
    "reproduction",
    "cli",
)


def modules():
    """By its name each module's path."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = path
    return found


def imports(name, path, known):
    """The modules of the package that a module imports, wherever it does."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package if node.level else node.module
            named = [f"{base}.{alias.name}" for alias in node.names]
            named = [each if each in known else base for each in named]
        else:
            continue
        yield from (each for each in named if each in known)


def graph():
    known = modules()
    return {
        name: {each for each in imports(name, path, known) if each != name}
        for name, path in known.items()
    }


def room(module):
    return module.split(".")[1] if "." in module else "the package's face"

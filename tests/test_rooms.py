"""How the rooms of the package build on each other."""

import ast
import pathlib

import keras_selfattn

ROOT = pathlib.Path(keras_selfattn.__file__).parent

# From the lowest to the highest: each imports only those before it.
ROOMS = (
    "first_use",
    "private_names",
    "files",
    "streams",
    "labels",
    "sides",
    "layers",
    "regularizers",
    "optimizers",
    "text",
    "data",
    "backends",
    "models",
    "heads",
    "evaluation",
    "faithfulness",
    "visualization",
    "callbacks",
    "model_card",
    "serving",
    "training",
    "tuning",
    "reproduction",
    "zoo",
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


def test_every_room_has_its_place():
    rooms = {room(name) for name in modules()} - {"the package's face"}
    assert rooms - {"__main__"} == set(ROOMS)


def test_no_room_imports_a_higher_one():
    place = {name: number for number, name in enumerate(ROOMS)}
    upward = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if room(name) in place and place.get(room(other), 0) > place[room(name)]
    ]
    assert upward == []


def test_no_two_modules_import_each_other():
    # The faces of packages only hand on what is inside them.
    faces = {n for n, p in modules().items() if p.name == "__init__.py"}
    edges = {
        name: others - faces
        for name, others in graph().items()
        if name not in faces
    }
    left = dict(edges)
    while left:
        free = [name for name in left if not left[name] & left.keys()]
        assert free, f"A circle among {sorted(left)}"
        for name in free:
            del left[name]


def test_a_circle_and_a_way_up_are_found(tmp_path):
    known = {"a.layers", "a.layers.one", "a.cli"}
    file = tmp_path / "one.py"
    file.write_text(
        "from a import cli\n\ndef f():\n    from a.cli import main\n"
    )
    assert list(imports("a.layers.one", file, known)) == ["a.cli", "a.cli"]

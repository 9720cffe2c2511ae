"""How the rooms of the package build on each other."""

import pathlib

import keras_selfattn
from docs import draw_architecture
from tests.rooms import ROOMS
from tests.rooms import ROOT
from tests.rooms import graph
from tests.rooms import imports
from tests.rooms import modules
from tests.rooms import room

DOCS = pathlib.Path(draw_architecture.__file__).parent
TESTS = pathlib.Path(__file__).parent
TOP = pathlib.Path()


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


def test_the_drawing_is_that_of_the_code():
    drawn = (DOCS / "architecture.svg").read_text(encoding="utf-8")
    assert drawn == draw_architecture.draw(), (
        "python -m docs.draw_architecture draws it anew"
    )


def test_the_map_names_every_room():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    for name in ROOMS:
        assert f"`{name}`" in text or f"`{name}/`" in text, name


def test_one_public_layer_a_file():
    places = {}
    for name in dir(keras_selfattn.layers):
        layer = getattr(keras_selfattn.layers, name)
        if isinstance(layer, type):
            file = layer.__module__.rpartition(".")[2]
            assert file not in places, f"{name} and {places[file]}"
            places[file] = name
            assert file.replace("_", "") == name.lower()


def test_the_tests_mirror_the_rooms():
    missing = []
    for path in modules().values():
        place = path.relative_to(ROOT)
        if place.name.startswith("__"):
            continue
        # A file of its own, or one of those of its room.
        file = TESTS / place.with_name(f"test_{place.name}")
        room_files = (TESTS / place.parent).glob("test_*.py")
        if not file.exists() and (place.parent == TOP or not any(room_files)):
            missing.append(str(place))
    assert missing == []

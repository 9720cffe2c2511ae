"""Type checkers learn of all that is public, but for the layers."""

import ast
import subprocess
import sys

import pytest

from docs.write_stubs import stubs
from tests.public_names import public_names
from tests.rooms import ROOT
from tests.rooms import modules

# Keras's own layers have none either.
UNTYPED = "keras_selfattn.layers"


def functions():
    """The public functions and methods of the package, by their names."""
    named = public_names()
    # A face hands on what another module defines.
    handed_on = {name.rpartition(".")[::2] for name in named}
    for module, path in modules().items():
        if module.startswith(UNTYPED):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_public = f"{module}.{getattr(node, 'name', '')}" in named or any(
                module.startswith(face) and node.name == name
                for face, name in handed_on
                if isinstance(node, (ast.ClassDef, ast.FunctionDef))
            )
            if not is_public:
                continue
            if isinstance(node, ast.FunctionDef):
                yield f"{module}.{node.name}", node
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and (
                        not method.name.startswith("_")
                        or method.name in ("__init__", "__call__")
                    ):
                        yield f"{module}.{node.name}.{method.name}", method


def lacking(function):
    """The arguments without a type, and `return`."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    arguments += [each for each in (given.vararg, given.kwarg) if each]
    names = [
        each.arg
        for each in arguments
        if each.annotation is None and each.arg not in ("self", "cls")
    ]
    return names + ["return"] * (function.returns is None)


def test_public_functions_have_types():
    found = dict(functions())
    assert len(found) > 250
    without = {name: lacking(node) for name, node in found.items()}
    assert {name: each for name, each in without.items() if each} == {}


def test_a_function_without_types_is_found():
    function = ast.parse("def f(a, b: int, *c, d, **e): pass").body[0]
    assert lacking(function) == ["a", "d", "c", "e", "return"]


def test_checkers_are_told_what_comes_late():
    assert (ROOT / "py.typed").exists()
    written = {path: path.read_text("utf-8") for path in ROOT.rglob("*.pyi")}
    assert written == stubs(), "python -m docs.write_stubs writes them anew"


@pytest.mark.slow
def test_a_checker_sees_a_wrong_argument(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "import keras_selfattn\n"
        "from keras_selfattn.data import generate_reviews\n"
        "generate_reviews(10, seed=1)\n"
        "generate_reviews('ten')\n"
        "keras_selfattn.training.read_history(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, script],
        capture_output=True,
        text=True,
        cwd=ROOT.parent,
    )
    lines = [line for line in done.stdout.splitlines() if " error: " in line]
    assert [line.split(":")[1] for line in lines] == ["4", "5"], done.stdout

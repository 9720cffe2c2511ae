"""The public names of the package, from its code."""

import ast

from tests.rooms import modules


def public_names():
    """The names that a user reaches, as `keras_selfattn.room.name`."""
    found = set()
    for module, path in modules().items():
        is_face = path.name == "__init__.py"
        if module.count(".") > 1 and not is_face:
            continue
        if any(part.startswith("_") for part in module.split(".")):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            found |= {
                f"{module}.{name}"
                for name in names(node, is_face)
                if not name.startswith("_")
            }
    return found


def names(node, is_face):
    """The names that a statement of a module makes public."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            yield from ast.literal_eval(node.value)
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name
        case ast.ImportFrom() if is_face:
            yield from (each.asname for each in node.names if each.asname)
        case ast.Assign(value=ast.Call() as call) if len(call.args) > 1:
            # What `at_first_use` is given.
            for late in ast.literal_eval(call.args[1]).values():
                yield from late

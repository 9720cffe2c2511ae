"""Writes what type checkers read of the packages that import late.

python -m docs.write_stubs
"""

import ast

from tests.rooms import modules

_FIRST = "# Written by `python -m docs.write_stubs`.\n"


def stubs():
    """By the path of each stub its text."""
    known = modules()
    found = {}
    for package, path in known.items():
        calls = _late(ast.parse(path.read_text(encoding="utf-8")))
        if path.name != "__init__.py" or not calls:
            continue
        is_top, lines = "." not in package, []
        if is_top:
            lines = [
                f"from {package} import {name} as {name}\n"
                for parent, _, name in (each.rpartition(".") for each in known)
                if parent == package and not name.startswith("_")
            ]
        for call in calls:
            if len(call.args) > 1:
                lines += [
                    f"from {package}.{module} import {name} as {name}\n"
                    for module, names in ast.literal_eval(call.args[1]).items()
                    for name in names
                ]
        version = "\n__version__: str\n" if is_top else ""
        text = "".join([_FIRST, *sorted(lines), version])
        found[path.with_suffix(".pyi")] = text
    return found


def _late(tree):
    """The calls of `at_first_use` in a module."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "at_first_use"
    ]


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")

"""Packages whose names are imported when they are first used."""

import importlib
import pathlib
import sys


def at_first_use(package, names=(), modules=()):
    """The `__getattr__` and `__dir__` of a package that imports late.

    Args:
        package: The name of the package.
        names: Dictionary of public names by the module of the package that
            has them.
        modules: The names of further modules that are public themselves.

    Returns:
        The two functions.
    """
    modules = {*dict(names), *modules}
    places = {
        name: module
        for module, public in dict(names).items()
        for name in public
    }

    def __getattr__(name):
        if name in places:
            found = importlib.import_module(f"{package}.{places[name]}")
            return getattr(found, name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*vars(sys.modules[package]), *places, *modules})

    return __getattr__, __dir__


def is_command_line():
    """Whether this process is `keras-selfattn` or `python -m keras_selfattn`.

    A user's own `python -m` is none.
    """
    program = pathlib.Path(sys.argv[0]).name
    # While a module is looked for, `sys.argv` doesn't have its name yet.
    started = sys.orig_argv[-len(sys.argv) - 1 :][:2]
    return program in ("keras-selfattn", "keras-selfattn.exe") or (
        started == ["-m", "keras_selfattn"]
    )

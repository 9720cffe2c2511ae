"""What is imported when it is first used, or only where it is installed."""

import contextlib
import importlib
import os
import pathlib
import pkgutil
import sys
from collections.abc import Callable
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# In the environment of the processes that do a command's work.
OF_COMMAND = "KERAS_SELFATTN_COMMAND"

# TensorFlow and Keras import them where they are installed, for what no command
# asks of Keras. That is half of the time that both take.
_UNUSED = ("jax", "matplotlib", "pandas", "sklearn")


def at_first_use(package: str, names: Any = ()) -> tuple[Callable, Callable]:
    """The `__getattr__` and `__dir__` of a package that imports late.

    All modules of the package are among its names.

    Args:
        package: The name of the package.
        names: Dictionary of further public names by the module that has them.

    Returns:
        The two functions.
    """
    modules = {
        module.name
        for module in pkgutil.iter_modules(sys.modules[package].__path__)
        # `__main__` would run.
        if not module.name.startswith("_")
    }
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


def import_extra(
    module: str, what: str, package: str, extra: str
) -> ModuleType:
    """A module of a package that not every installation has.

    Args:
        module: The name of the module.
        what: What needs it, as the message begins.
        package: The package as people call it.
        extra: The name of the extra of ours that installs it.

    Raises:
        ImportError: if it is not installed, with how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {package}: "
            f'pip install "keras_selfattn[{extra}]" installs it'
        ) from error


def is_command_line() -> bool:
    """Whether this process is `keras-selfattn` or `python -m keras_selfattn`.

    A user's own `python -m` is none; a process with the variable `OF_COMMAND`
    in its environment is.
    """
    if OF_COMMAND in os.environ:
        return True
    program = pathlib.Path(sys.argv[0]).name
    # While a module is looked for, `sys.argv` doesn't have its name yet.
    started = sys.orig_argv[-len(sys.argv) - 1 :][:2]
    return program in ("keras-selfattn", "keras-selfattn.exe") or (
        started == ["-m", "keras_selfattn"]
    )


def asked_backend() -> str:
    """The name of the backend that Keras is asked for."""
    return os.environ.get("KERAS_BACKEND") or "tensorflow"


def import_tensorflow() -> None:
    """Import TensorFlow as a command needs it, without its start-up notes.

    C++ code writes them, whatever TensorFlow's log level is, and they would
    stand between a command and its one line of error. Where nothing runs a
    command, or TensorFlow is imported, nothing happens.
    """
    if is_command_line() and "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        backend = asked_backend()
        with _standard_error_held_back(), without_unused(backend):
            if backend == "torch":
                # The compiler of PyTorch for CUDA ends a process in which
                # TensorFlow was loaded before it.
                with contextlib.suppress(ImportError):
                    importlib.import_module("triton")
            import tensorflow  # noqa: F401


@contextlib.contextmanager
def without_unused(backend: str) -> Iterator[None]:
    """Within the block, what Keras would import for nothing is hidden.

    Args:
        backend: The name of Keras's backend. On others than TensorFlow
            nothing is hidden.
    """
    hidden = _UNUSED if backend == "tensorflow" else ()

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] in hidden:
                raise ModuleNotFoundError(f"{name} is not needed", name=name)

    sys.meta_path.insert(0, Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(Finder)


@contextlib.contextmanager
def _standard_error_held_back():
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)

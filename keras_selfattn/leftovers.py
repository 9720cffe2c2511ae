"""What a process clears away when it ends, also where it ends by force."""

import contextlib
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

_waiting = {}


@contextlib.contextmanager
def cleared(function: Callable, *arguments: Any) -> Iterator[None]:
    """Call a function at the end of a block, or by `clear` before that.

    Args:
        function: A function that may be called twice.
        *arguments: Its arguments.
    """
    key = object()
    _waiting[key] = function, arguments
    try:
        yield
    finally:
        function(*arguments)
        # Not where a signal has cut the function short: `clear` goes on.
        _waiting.pop(key, None)


def clear() -> None:
    """Call the functions of all blocks that have not ended, inner ones first.

    The process must do nothing else after it.
    """
    for key in reversed(list(_waiting)):
        function, arguments = _waiting.pop(key)
        with contextlib.suppress(Exception):
            function(*arguments)

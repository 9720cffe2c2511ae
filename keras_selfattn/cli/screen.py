"""How commands show tables, and how far they are."""

import contextlib
import pathlib
import sys

# Wider than any table, so that none is cut where nobody reads it.
WIDTH = 10_000


def console():
    """Rich's console for standard output: as wide as a terminal, or as need be.

    In a pipe or a file no column is cut.
    """
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDTH)


def megabytes(folder):
    """How large all files of a folder are, as a text."""
    files = filter(pathlib.Path.is_file, folder.rglob("*"))
    return f"{sum(file.stat().st_size for file in files) / 1e6:.1f}"


@contextlib.contextmanager
def progress(rows, doing):
    """In the block, how many rows have been read stands on the screen.

    It is shown on standard error, and only where that is a terminal.

    Args:
        rows: Iterable of texts.
        doing: What is done with them, as a string.

    Yields:
        The rows, to be read once.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield rows
        return
    from rich.console import Console
    from rich.progress import Progress
    from rich.progress import TextColumn
    from rich.progress import TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}: {task.completed:,} texts"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    ) as shown:
        yield shown.track(rows, description=doing)

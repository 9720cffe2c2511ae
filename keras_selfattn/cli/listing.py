"""The command that lists what there is: `presets`."""

from keras_selfattn.cli.options import add_command
from keras_selfattn.models.presets import PRESETS


def add_commands(commands):
    add_command(commands, presets)


def presets(options):
    """List the rows of the papers' tables."""
    from rich.console import Console
    from rich.table import Column
    from rich.table import Table

    names = Column("preset", no_wrap=True)
    table = Table(names, "paper", "row", "published %", "parameters")
    for name, preset in PRESETS.items():
        figures = [f"{k} {v}" for k, v in preset.published.items()]
        table.add_row(
            name,
            preset.paper,
            preset.table,
            ", ".join(figures),
            f"{preset.parameters:,}",
        )
    Console().print(table)

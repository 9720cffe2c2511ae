"""The commands that list what there is: `presets` and `zoo`."""

from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.screen import console
from keras_selfattn.cli.screen import megabytes
from keras_selfattn.models.presets import PRESETS
from keras_selfattn.zoo.shipped import find_shipped
from keras_selfattn.zoo.shipped import get_shipped
from keras_selfattn.zoo.shipped import list_shipped


def add_commands(commands):
    add_command(commands, presets)
    add_command(commands, zoo)


def presets(options):
    """List the rows of the papers' tables."""
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
    console().print(table)


def zoo(options):
    """List the trained models that are installed."""
    from rich.table import Column
    from rich.table import Table

    table = Table(
        Column("model", no_wrap=True),
        "answers",
        Column("MB", justify="right"),
        Column("dev accuracy %", justify="right"),
        Column("license", no_wrap=True),
        Column("ms a text", justify="right"),
    )
    for name in list_shipped():
        model = get_shipped(name)
        table.add_row(
            name,
            model.task,
            megabytes(find_shipped(name)),
            "\n".join(
                f"{key} {100 * each['accuracy']:.1f}"
                for key, each in model.dev.items()
            ),
            model.license,
            f"{model.milliseconds:.1f}",
        )
    console().print(table)

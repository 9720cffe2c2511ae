"""The papers' tables and figures, read from a file of plain data a paper.

Figures are percent, as published. Columns that the papers don't print (number
of words, years) are left out.
"""

import dataclasses

from keras_selfattn.files import packaged_json

_PAPERS = ("lin2017", "chen2018", "parikh2016")


@dataclasses.dataclass(frozen=True)
class Column:
    """One accuracy that a table has of each row.

    Attributes:
        name: Its name in the table.
        corpus: The corpus that it is measured on.
        split: The texts that it is measured on: `"train"`, `"dev"`,
            `"mismatched"`, or `"test"`, for which dev stands in where there
            is none.
        label: The true class that it is the accuracy of, or `None` for all.
    """

    name: str
    corpus: str
    split: str = "test"
    label: str | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        name: Its name in the table.
        published: Published figures in percent, by the column's name.
        key: A short name without spaces, or `None` for a row that is not
            ours: the system of other authors, which is never run.
        presets: The names of the presets that it runs, by corpus.
        overrides: Arguments of the model that take the place of the presets'.
        is_baseline: Boolean, whether the rows that are no baselines are
            tested against it.
        parameters: Published numbers of weights, as printed, by the table's
            parts.
    """

    name: str
    published: dict
    key: str | None = None
    presets: dict = dataclasses.field(default_factory=dict)
    overrides: dict = dataclasses.field(default_factory=dict)
    is_baseline: bool = False
    parameters: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Table:
    """One table or figure of a paper.

    Attributes:
        paper: The name of the paper, as in the presets.
        name: `"table 1"` or `"figure 5"`, ...
        title: What it shows.
        columns: Tuple of each `Column`.
        rows: Tuple of each `Row`.
        compared: Tuple of the model arguments that the rows compare, which
            can't be set for all of them.
        parts: Tuple of the parts of the model whose weights are counted.
        notes: Tuple of sentences that a reader needs.
    """

    paper: str
    name: str
    title: str
    columns: tuple
    rows: tuple
    compared: tuple = ()
    parts: tuple = ()
    notes: tuple = ()

    @property
    def corpora(self):
        """The names of its corpora."""
        return tuple(dict.fromkeys(column.corpus for column in self.columns))

    @property
    def is_figure(self):
        return self.name.startswith("figure")


def _read(paper):
    for values in packaged_json(__package__, f"{paper}.json"):
        values["columns"] = tuple(Column(**v) for v in values["columns"])
        values["rows"] = tuple(Row(**row) for row in values["rows"])
        yield Table(
            paper,
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
            },
        )


TABLES = {
    (paper, table.name): table for paper in _PAPERS for table in _read(paper)
}


def get_table(paper: str, name: str) -> Table:
    """The table or figure of a paper.

    Args:
        paper: `"lin2017"`, `"chen2018"` or `"parikh2016"`.
        name: Such as `"table 1"` or `"figure 5"`.

    Raises:
        ValueError: if there is none.
    """
    if (paper, name) not in TABLES:
        known = ", ".join(" ".join(key) for key in TABLES)
        raise ValueError(
            f"Expected one of: {known}. Received: {f'{paper} {name}'!r}"
        )
    return TABLES[paper, name]

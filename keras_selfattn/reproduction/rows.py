"""What is to be run of a table, with which arguments, and on which texts."""

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.models import arguments
from keras_selfattn.models.loading import CLASSES


def choose_rows(table, corpus, keys):
    """The rows to run: those of the keys, or all that the corpus has."""
    if corpus not in table.corpora:
        raise ValueError(
            f"{table.paper} {table.name} is on {', '.join(table.corpora)}. "
            f"Received: {corpus!r}"
        )
    known = {row.key: row for row in table.rows if corpus in row.presets}
    for key in keys or ():
        if key not in known:
            raise ValueError(
                f"The rows of {table.paper} {table.name} on {corpus} are "
                f"{', '.join(known)}. Received: {key!r}"
            )
    return [row for key, row in known.items() if not keys or key in keys]


def check_overrides(table, rows, corpus, overrides):
    """`ValueError` where a model argument can't be set for all rows."""
    for name in overrides:
        if name in table.compared:
            raise ValueError(
                f"{table.paper} {table.name} compares rows by {name}: it "
                "can't be set for all of them"
            )
    taken = set()
    for row in rows:
        values = row_overrides(row, corpus, overrides)
        taken.update(values)
        training.check_model_arguments(row.presets[corpus], values)
    for name, value in overrides.items():
        if name not in taken:
            raise ValueError(
                f"`{name}` changes nothing in any row of {table.paper} "
                f"{table.name}. Received: {name}={value!r}"
            )


def row_overrides(row, corpus, overrides):
    """A row's model arguments, with those set for all rows that it takes."""
    preset = models.get_preset(row.presets[corpus])
    values = {**row.overrides, **overrides}
    applying = arguments.applying(
        CLASSES[preset.class_name],
        {**preset.model, **values},
        given=row.overrides,
    )
    return {name: value for name, value in values.items() if name in applying}


def check_data(data, table, corpus):
    """`ValueError` where texts have labels that can't be learned."""
    known = list(map(str, data["train"]["classes"]))
    for split, found in data.items():
        for label in found["classes"]:
            if str(label) not in known:
                raise ValueError(
                    f"A label of the {split} texts must be one of the "
                    f"training texts, {', '.join(known)}. Received: {label!r}"
                )
    for column in table.columns:
        if column.corpus == corpus and column.label not in (None, *known):
            raise ValueError(
                f"{table.paper} {table.name} needs texts of the class "
                f"{column.label!r}. Received: {', '.join(known)}"
            )


def measured_splits(table, corpus, splits):
    """The split that each column is measured on here; `None` for none."""
    measured_on = {}
    for column in table.columns:
        split = column.split
        if split == "test" and split not in splits:
            split = "dev"
        here = column.corpus == corpus and split in splits
        measured_on[column.name] = split if here else None
    return measured_on

"""What a search has found: its trials as a table and CSV."""

import csv
import dataclasses
import io

from keras_selfattn import files
from keras_selfattn.controls import one_line

CSV_FILE = "trials.csv"


@dataclasses.dataclass
class Result:
    """One trial.

    Attributes:
        number: Its number, from 1.
        status: `"completed"`, `"failed"` or `"running"`.
        accuracy: Its best dev accuracy, or `None`.
        epoch: The number of the epoch of it, or `None`.
        epochs: The number of the last epoch.
        seconds: How long it took.
        values: Dictionary of KerasTuner's hyperparameters.
        reason: Why it failed, or an empty string.
    """

    number: int
    status: str
    accuracy: float | None
    epoch: int | None
    epochs: int
    seconds: float
    values: dict
    reason: str


def make_result(number, trial, history):
    """The `Result` of a trial, from the logs of its epochs."""
    best = max(history, key=lambda logs: logs["val_accuracy"], default=None)
    failed = trial.status not in ("COMPLETED", "RUNNING")
    lines = (trial.message or "").strip().splitlines()
    return Result(
        number=number,
        status="failed" if failed else trial.status.lower(),
        accuracy=None if failed or best is None else best["val_accuracy"],
        epoch=None if failed or best is None else best["epoch"],
        epochs=history[-1]["epoch"] if history else 0,
        seconds=sum(logs["seconds"] for logs in history),
        values={
            name: value
            for name, value in trial.hyperparameters.values.items()
            if not name.startswith("tuner/")
        },
        reason=lines[-1].split("Error: ")[-1] if failed and lines else "",
    )


def best_first(results):
    """The results from the best to the worst, then those without any."""
    return sorted(
        results,
        key=lambda r: (r.accuracy is None, -(r.accuracy or 0), r.number),
    )


def differences(values, first_values):
    """How a trial differs from the first one, as a text."""
    shown = ", ".join(
        f"{name}={value}"
        for name, value in values.items()
        if first_values.get(name) != value
    )
    return shown or "the starting values"


def write_csv(path, results, names):
    """Write one row a trial; a value without effect gives an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["trial", "status", "dev_accuracy", "epoch", "epochs", "seconds"]
        + [*names, "reason"]
    )
    for r in results:
        figures = (r.accuracy, r.epoch)
        writer.writerow(
            [r.number, r.status, *("" if f is None else f for f in figures)]
            + [r.epochs, round(r.seconds, 1)]
            + [r.values.get(name, "") for name in names]
            + [r.reason]
        )
    files.write_text(path, text.getvalue())


def make_table(results, first_values, title, most=None):
    """The trials as a `rich.table.Table`."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for name in ("trial", "dev accuracy", "epoch", "time"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("what differs from the first")
    best = best_first(results)[:1]
    for result in results[:most]:
        figure = result.status
        if result.accuracy is not None:
            figure = f"{result.accuracy:.2%}"
        what = differences(result.values, first_values)
        if result.reason:
            what = f"{result.reason}: {what}"
        epochs = str(result.epochs)
        if result.epoch is not None:
            epochs = f"{result.epoch} of {result.epochs}"
        table.add_row(
            str(result.number),
            figure,
            epochs,
            duration(result.seconds),
            Text(one_line(what)),
            style="bold" if result in best and result.accuracy else None,
        )
    return table


def duration(seconds):
    """A number of seconds as `m:ss` or `h:mm:ss`."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"

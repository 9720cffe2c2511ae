"""The command that compares runs: `runs`."""

import json
import pathlib
import sys

from keras_selfattn.cli.duration import DURATION_FILE
from keras_selfattn.cli.options import add_command
from keras_selfattn.models.folders import MODEL_FOLDER
from keras_selfattn.training.ending import HISTORY_FILE
from keras_selfattn.training.ending import best_epoch
from keras_selfattn.training.ending import read_history
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.values import DEFAULTS

_NONE = "-"
_FIGURES = {
    "accuracy": ("val_accuracy", "{:.2%}"),
    "macro F1": ("val_macro_f1", "{:.2%}"),
    "loss": ("val_loss", "{:.4f}"),
}
# Wider than any table, so that none is cut where nobody reads it.
_WIDTH = 10_000


def add_commands(commands):
    parser = add_command(commands, runs)
    parser.add_argument("folder", help="a folder with runs anywhere below it")


def runs(options):
    """List runs side by side."""
    from rich.console import Console
    from rich.table import Table

    found = list(_find(pathlib.Path(options.folder)))
    if not found:
        raise ValueError(f"There is no run in the folder {options.folder}")
    settings = [_flat(json.loads(_read(run / SETTINGS_FILE))) for run in found]
    names = _differing(settings)
    table = Table("run", *names, "epoch", *_FIGURES, "MB", "minutes")
    for run, values in zip(found, settings, strict=True):
        name = run.relative_to(options.folder).as_posix()
        table.add_row(
            name if run != pathlib.Path(options.folder) else run.name,
            *(_shown(values.get(name, _NONE)) for name in names),
            *_figures(run, values),
            _size(run),
            _minutes(run),
        )
    width = None if sys.stdout.isatty() else _WIDTH
    Console(width=width).print(table)


def _find(folder):
    for path in sorted(folder.rglob(SETTINGS_FILE)):
        # Reproductions have settings too, which are those of many runs.
        if "training" in json.loads(_read(path)):
            yield path.parent


def _flat(settings):
    """All settings by name; the model's and the training's among them."""
    return {
        **{k: v for k, v in settings.items() if not isinstance(v, dict)},
        **settings["model"],
        **DEFAULTS,
        **settings["training"],
    }


def _differing(settings):
    """The names of the settings that are not the same in all runs."""
    names = dict.fromkeys(name for values in settings for name in values)
    return [
        name
        for name in names
        if len({_shown(values.get(name, _NONE)) for values in settings}) > 1
    ]


def _figures(run, values):
    """The best epoch of all, and its dev figures."""
    if not (run / HISTORY_FILE).exists():
        return [_NONE] * (1 + len(_FIGURES))
    history = read_history(run)
    best = best_epoch(history, values)
    logs = history[best - 1]
    return [
        f"{best} of {len(history)}",
        *(
            form.format(logs[name]) if name in logs else _NONE
            for name, form in _FIGURES.values()
        ),
    ]


def _size(run):
    files = (run / MODEL_FOLDER).rglob("*")
    size = sum(path.stat().st_size for path in files if path.is_file())
    return f"{size / 1e6:.1f}" if size else _NONE


def _minutes(run):
    path = run / DURATION_FILE
    # Only the command line notes it, and it did not at first.
    if not path.exists():
        return _NONE
    return f"{json.loads(_read(path))['seconds'] / 60:.1f}"


def _shown(value):
    return value if isinstance(value, str) else json.dumps(value)


def _read(path):
    return path.read_text(encoding="utf-8")

"""The command that compares runs: `runs`."""

import json
import pathlib

from keras_selfattn.cli.duration import DURATION_FILE
from keras_selfattn.cli.duration import noted_seconds
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.screen import console
from keras_selfattn.cli.screen import megabytes
from keras_selfattn.controls import one_line
from keras_selfattn.files import read_json
from keras_selfattn.training.ending import HISTORY_FILE
from keras_selfattn.training.ending import best_epoch
from keras_selfattn.training.ending import read_history
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.values import DEFAULTS
from keras_selfattn.zoo.folders import MODEL_FOLDER

_NONE = "-"
_FIGURES = {
    "accuracy": ("val_accuracy", "{:.2%}"),
    "macro F1": ("val_macro_f1", "{:.2%}"),
    "loss": ("val_loss", "{:.4f}"),
}


def add_commands(commands):
    parser = add_command(commands, runs)
    parser.add_argument("folder", help="a folder with runs anywhere below it")


def runs(options):
    """List runs side by side."""
    from rich.table import Column
    from rich.table import Table
    from rich.text import Text

    found = list(_find(pathlib.Path(options.folder)))
    if not found:
        raise ValueError(f"There is no run in the folder {options.folder}")
    settings = [_flat(read_json(run / SETTINGS_FILE)) for run in found]
    names = _differing(settings)
    columns = (Column(Text(one_line(name))) for name in names)
    table = Table("run", *columns, "epoch", *_FIGURES, "MB", "minutes")
    for run, values in zip(found, settings, strict=True):
        name = run.relative_to(options.folder).as_posix()
        table.add_row(
            Text(one_line(name if name != "." else run.name)),
            *(Text(one_line(_shown(values.get(n, _NONE)))) for n in names),
            *_figures(run, values),
            _size(run),
            _minutes(run),
        )
    console().print(table)


def _find(folder):
    for path in sorted(folder.rglob(SETTINGS_FILE)):
        # Reproductions have settings too, which are those of many runs.
        settings = read_json(path)
        if isinstance(settings, dict) and all(
            isinstance(settings.get(name), dict)
            for name in ("model", "training")
        ):
            yield path.parent


def _flat(settings):
    """All settings by name; the model's and the training's among them."""
    teachers = settings.get("teachers")
    return {
        **{k: v for k, v in settings.items() if not isinstance(v, dict)},
        # Their checksums would tell a reader nothing.
        **({"teachers": ", ".join(teachers)} if teachers else {}),
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
    model = run / MODEL_FOLDER
    return megabytes(model) if model.is_dir() else _NONE


def _minutes(run):
    # Only the command line notes it, and it did not at first.
    if not (run / DURATION_FILE).exists():
        return _NONE
    return f"{noted_seconds(run) / 60:.1f}"


def _shown(value):
    return value if isinstance(value, str) else json.dumps(value)

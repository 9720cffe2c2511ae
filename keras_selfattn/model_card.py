"""The model card: what a model is, how it was trained, what it can't do."""

import json
import os
import pathlib
import platform
import re
import shlex
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.controls import clean
from keras_selfattn.controls import one_line
from keras_selfattn.data.joined_vectors import vector_names
from keras_selfattn.files import write_text
from keras_selfattn.zoo.folders import MODEL_FOLDER
from keras_selfattn.zoo.hub import CARD_FILE

if TYPE_CHECKING:
    from keras_selfattn.evaluation import Evaluation

LIMITS = (
    "Accuracies are on the dev texts, which also chose the best epoch: on "
    "further texts expect somewhat less.",
    "It answers with one of its classes whatever it is given, and it knows "
    "the language, the kind of text and the words it was trained on.",
    "Attention shows where the model looked, which is no proof of why it "
    "answered.",
)
UNKNOWN_LICENCE = (
    "None is stated here. What the licenses of the training texts and of the "
    "word vectors ask holds for the model too."
)
# What `keras_selfattn.training.train` records of each run.
_RUN = {
    *("preset", "seed", "vectors", "model", "training", "train_rows"),
    *("epoch", "dev_accuracy"),
}


def write_model_card(
    folder: str | os.PathLike,
    model: keras.Model,
    evaluation: "Evaluation | None",
    data: Mapping | None,
    **more: Any,
) -> pathlib.Path:
    """Write the model card into a model's folder, as `README.md`.

    Args:
        folder: Path of the folder of the model or of its training run.
        model: The `Classifier` that `keras_selfattn.training.train` returned.
        evaluation: As in `model_card`.
        data: As in `model_card`.
        **more: Further arguments of `model_card`.

    Returns:
        The path of the card.
    """
    folder = pathlib.Path(folder)
    if (folder / MODEL_FOLDER).is_dir():
        folder = folder / MODEL_FOLDER
    path = folder / CARD_FILE
    write_text(path, model_card(model, evaluation, data, **more))
    return path


def read_model_card(folder: str | os.PathLike) -> str | None:
    """The text of the model card in the folder of a model or of its run.

    Returns:
        A string, or `None` where there is no card.
    """
    for path in (pathlib.Path(folder, MODEL_FOLDER), pathlib.Path(folder)):
        if (path / CARD_FILE).is_file():
            return (path / CARD_FILE).read_text(encoding="utf-8")
    return None


def model_card(
    model: keras.Model,
    evaluation: "Evaluation | None" = None,
    data: Mapping | None = None,
    command: Sequence[str] | None = None,
    licence: str | None = None,
    limits: Sequence[str] = (),
) -> str:
    """The model card as Markdown, without what is not known.

    Args:
        model: A classifier with a `preprocessor` and `labels`.
        evaluation: The `keras_selfattn.evaluation.Evaluation` on the dev
            texts. Defaults to `None`.
        data: Dictionary, by the name of a split, of what
            `keras_selfattn.data.fingerprint.fingerprint` tells of it.
            Defaults to `None`.
        command: List of strings, the command that made the model. Defaults
            to `None`.
        licence: String, what the licenses of data and vectors ask of the
            model. Defaults to `None`, where that is not known.
        limits: Sentences on what this model can't do, besides what none can.

    Returns:
        A string.
    """
    record = dict(getattr(model, "training_record", None) or {})
    if record.get("vectors"):
        names = vector_names(record["vectors"]) or []
        names = [names] if isinstance(names, str) else names
        record["vectors"] = ", ".join(names)
    preset = models.get_preset(record["preset"]) if {*record} >= _RUN else None
    blocks = [
        *_head(model, record, preset),
        *(_data(data, record) if data else ()),
        *(_command(command) if command else ()),
        *(_figures(model, record, preset, evaluation) if evaluation else ()),
        *(_settings(record, preset) if preset else _training(record)),
        "## Limits",
        _list([*(LIMITS if record else LIMITS[1:]), *limits]),
        "## License",
        licence or UNKNOWN_LICENCE,
        *_versions(),
    ]
    return "\n\n".join(blocks) + "\n"


def _head(model, record, preset):
    title = _plain(model.name)
    what = (
        f"A `{type(model).__name__}` of keras_selfattn that answers "
        f"{', '.join(map(_code, model.labels))}."
    )
    if preset is not None:
        kind = "pairs of texts" if len(model.sides) > 1 else "texts"
        title = (
            f"{record['preset']}, trained on {record['train_rows']:,} {kind}"
        )
        what += (
            f" Its dev accuracy is {record['dev_accuracy']:.2%}. The preset "
            f"is that of {preset.paper}, {preset.table}; the settings below "
            "say where this model departs from it."
        )
        if "from" in record:
            what += f" Its training started from {_code(record['from'])}."
        if "teachers" in record:
            names = ", ".join(map(_code, record["teachers"]))
            what += f" It has learned the answers of {names} beside the labels."
    yield f"# {title}"
    yield what
    rows = [
        ["Vocabulary", f"{model.preprocessor.vocabulary_size():,} ids"],
        ["Weights", f"{model.count_params():,}"],
    ]
    if hasattr(model, "precision"):
        rows.append(["Precision", model.precision])
    yield _table(["", ""], rows)


def _data(data, record):
    yield "## Data"
    rows = [
        [
            split,
            f"{found['rows']:,}",
            ", ".join(
                f"{_plain(label)} {n:,}"
                for label, n in found["classes"].items()
            ),
            # Prepared texts have none.
            found.get("sha256", "not known"),
        ]
        for split, found in data.items()
    ]
    yield _table(["texts", "rows", "by class", "SHA-256 of the rows"], rows)
    vectors = record.get("vectors")
    learned = record.get("training", {}).get("learn_vectors")
    kinds = [_code(vectors)] if vectors else []
    if learned:
        kinds.append(f"up to {learned} numbers learned from the texts")
    kinds = " and ".join(kinds) or "random ones, none pretrained"
    yield f"Word vectors: {kinds}."


def _command(command):
    yield "## Command"
    yield "    " + clean(shlex.join(command)).replace("\n", "\n    ")


def _figures(model, record, preset, evaluation):
    yield "## Figures"
    epoch = f", after epoch {record['epoch']}" if "epoch" in record else ""
    yield (
        f"Dev accuracy {evaluation.accuracy:.2%} over "
        f"{evaluation.confusion.sum():,} texts{epoch}."
    )
    labels = list(map(_plain, evaluation.labels))
    shares = [
        [
            *(f"{100 * figures[k]:.1f}" for k in ("precision", "recall", "f1")),
            f"{figures['rows']:,}",
        ]
        for figures in evaluation.per_class().values()
    ]
    for header, rows in (
        (["class", "precision %", "recall %", "F1 %", "rows"], shares),
        (["true \\ predicted", *labels], evaluation.confusion),
    ):
        rows = zip(labels, rows, strict=True)
        yield _table(header, [[label, *row] for label, row in rows])
    if preset is not None:
        published = ", ".join(f"{k} {v}" for k, v in preset.published.items())
        yield (
            "Published for the preset, at the paper's sizes and on its data: "
            f"{published} %."
        )
    counts = model.parameter_counts()
    rows = [[part, f"{n:,}"] for part, n in counts.items()]
    yield _table(["part", "weights"], rows)


def _settings(record, preset):
    yield "## Settings"
    yield f"Seed {_plain(record['seed'])}."
    for title, defaults in (
        ("model", preset.model),
        ("training", preset.training),
    ):
        rows = [
            [
                name if name.isidentifier() else _plain(name),
                _code(json.dumps(value)),
                _default(defaults, name, value),
            ]
            for name, value in record[title].items()
        ]
        yield _table([f"{title} argument", "value", "in the preset"], rows)


def _default(defaults, name, value):
    if name not in defaults:
        return "not set"
    default = defaults[name]
    return "the same" if default == value else _code(json.dumps(default))


def _training(record):
    yield "## Training"
    rows = [
        [_plain(name.replace("_", " ").capitalize()), _code(value)]
        for name, value in record.items()
    ]
    yield _table(["", ""], rows) if rows else "Nothing is known of it."


def _versions():
    from keras_selfattn import __version__

    yield "## Versions"
    yield _list(
        [
            f"keras_selfattn {__version__}",
            f"keras {keras.__version__}, backend {keras.backend.backend()}",
            f"tensorflow {tf.__version__}",
            f"numpy {np.__version__}",
            f"Python {platform.python_version()}",
        ]
    )


def _list(sentences):
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _table(header, rows):
    """A table of Markdown, in which code too may have no bare `|`."""
    lines = [header, ["---"] * len(header), *rows]
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _plain(text):
    """Any text as Markdown that shows it."""
    return re.sub(r"([\\`*_\[\]<>&~])", r"\\\1", one_line(text))


def _code(text):
    """Any text as Markdown that shows it as code."""
    text = one_line(text) or " "
    # Code is between more backticks than it has in a row itself.
    ticks = max(map(len, re.findall("`+", text)), default=0)
    fence, gap = "`" * (ticks + 1), " " * bool(ticks)
    return f"{fence}{gap}{text}{gap}{fence}"

"""The model card of a trained model: what it is, and what it is not."""

import json
import pathlib
import platform
import shlex

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn.files import write_text
from keras_selfattn.models.loading import MODEL_FOLDER

CARD_FILE = "README.md"
LIMITS = (
    "Accuracies are on the dev texts, which also chose the best epoch: on "
    "further texts expect somewhat less.",
    "It answers with one of its classes whatever it is given, and it knows "
    "the language, the kind of text and the words it was trained on.",
    "Attention shows where the model looked, which is no proof of why it "
    "answered.",
)
UNKNOWN_LICENCE = (
    "None is stated here. What the licences of the training texts and of the "
    "word vectors ask holds for the model too."
)


def write_model_card(
    folder,
    model,
    evaluation,
    data,
    command=None,
    licence=None,
    limits=(),
):
    """Write the model card into a model's folder, as `README.md`.

    Args:
        folder: Path of the folder of the model or of its training run.
        model: The `Classifier` that `keras_selfattn.training.train` returned.
        evaluation: The `keras_selfattn.evaluation.Evaluation` on the dev
            texts.
        data: Dictionary, by the name of a split, of what
            `keras_selfattn.data.fingerprint.fingerprint` tells of it.
        command: List of strings, the command that made the model, or `None`.
        licence: What the licences of data and vectors ask of the model, or
            `None` where that is not known.
        limits: Sentences on what this model can't do, besides what none can.

    Returns:
        The path of the card.
    """
    folder = pathlib.Path(folder)
    if (folder / MODEL_FOLDER).is_dir():
        folder = folder / MODEL_FOLDER
    path = folder / CARD_FILE
    blocks = [
        *_head(model, evaluation),
        *_data(data, model.training_record),
        *_command(command),
        *_figures(model, evaluation),
        *_settings(model),
        "## Limits",
        _list([*LIMITS, *limits]),
        "## Licence",
        licence or UNKNOWN_LICENCE,
        *_versions(),
    ]
    write_text(path, "\n\n".join(blocks) + "\n")
    return path


def _head(model, evaluation):
    record = model.training_record
    preset = models.get_preset(record["preset"])
    kind = "pairs of texts" if len(model.sides) > 1 else "texts"
    yield f"# {record['preset']}, trained on {record['train_rows']:,} {kind}"
    yield (
        f"A `{type(model).__name__}` of keras_selfattn that answers "
        f"{', '.join(f'`{label}`' for label in model.labels)}. Its dev "
        f"accuracy is {evaluation.accuracy:.2%}. The preset is that of "
        f"{preset.paper}, {preset.table}; the settings below say where this "
        "model departs from it."
    )


def _data(data, record):
    yield "## Data"
    rows = [
        [
            split,
            f"{found['rows']:,}",
            ", ".join(f"{k} {n:,}" for k, n in found["classes"].items()),
            found["sha256"],
        ]
        for split, found in data.items()
    ]
    yield _table(["texts", "rows", "by class", "SHA-256 of the rows"], rows)
    if record["vectors"]:
        yield f"Word vectors: `{pathlib.Path(record['vectors']).name}`."
    else:
        yield "Word vectors: random ones, none pretrained."


def _command(command):
    if command is None:
        return
    yield "## Command"
    # The folders of one machine mean nothing on another.
    names = [
        option + equals + pathlib.PurePath(value).name
        for option, equals, value in map(_split_option, command)
    ]
    yield f"    {shlex.join(names)}"


def _split_option(argument):
    if argument.startswith("--") and "=" in argument:
        return argument.partition("=")
    return "", "", argument


def _figures(model, evaluation):
    record = model.training_record
    preset = models.get_preset(record["preset"])
    yield "## Figures"
    yield (
        f"Dev accuracy {evaluation.accuracy:.2%} over "
        f"{evaluation.confusion.sum():,} texts, after epoch "
        f"{record['epoch']}."
    )
    rows = [
        [
            label,
            *(f"{100 * figures[k]:.1f}" for k in ("precision", "recall", "f1")),
            f"{figures['rows']:,}",
        ]
        for label, figures in evaluation.per_class().items()
    ]
    yield _table(["class", "precision %", "recall %", "F1 %", "rows"], rows)
    yield _table(
        ["true \\ predicted", *evaluation.labels],
        [
            [label, *map(str, row)]
            for label, row in zip(
                evaluation.labels, evaluation.confusion, strict=True
            )
        ],
    )
    published = ", ".join(f"{k} {v}" for k, v in preset.published.items())
    yield (
        f"Published for the preset, at the paper's sizes and on its data: "
        f"{published} %."
    )
    yield _table(
        ["part", "weights"],
        [[part, f"{n:,}"] for part, n in model.parameter_counts().items()],
    )


def _settings(model):
    record = model.training_record
    preset = models.get_preset(record["preset"])
    yield "## Settings"
    yield f"Seed {record['seed']}."
    for title, values, defaults in (
        ("model", record["model"], preset.model),
        ("training", record["training"], preset.training),
    ):
        yield _table(
            [f"{title} argument", "value", "in the preset"],
            [
                [name, _code(value), _default(defaults, name, value)]
                for name, value in values.items()
            ],
        )


def _default(defaults, name, value):
    if name not in defaults:
        return "not set"
    default = defaults[name]
    return "the same" if default == value else _code(default)


def _code(value):
    return f"`{json.dumps(value)}`"


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
    lines = [header, ["---"] * len(header), *rows]
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)

"""The models that commands are given."""

import pathlib

from keras_selfattn.cli.starting import start_keras
from keras_selfattn.models.folders import find_model
from keras_selfattn.models.folders import find_saved_model


def add_model(parser, or_saved_model=False):
    kinds = (
        "run, of a model or of SavedModels"
        if or_saved_model
        else ("run or of a model")
    )
    parser.add_argument("model", help=f"folder of a {kinds}")
    add_verify(parser)


def add_verify(parser):
    parser.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="take files that were changed since they were written",
    )


def check_folder(folder, or_saved_model=False):
    """`ValueError` where a folder has no model, without importing Keras.

    Args:
        folder: Path of the folder.
        or_saved_model: Boolean, whether a SavedModel will do.
    """
    if not pathlib.Path(folder).is_dir():
        raise ValueError(f"There is no folder of a model at {folder}")
    if find_model(folder) is None and not (
        or_saved_model and find_saved_model(folder)
    ):
        raise ValueError(f"There is no model in the folder {folder}")


def load(options):
    """The model that a command is given, which must be able to read texts."""
    start_keras()
    from keras_selfattn import models

    folder = options.model
    model = models.from_preset(folder, verify=options.verify)
    if model.preprocessor is None:
        raise ValueError(f"The model in {folder} has no vocabulary")
    if model.labels is None:
        raise ValueError(f"The model in {folder} has no labels")
    return model

"""The models that commands are given."""

import pathlib

from keras_selfattn.cli.starting import start_keras
from keras_selfattn.zoo import hub
from keras_selfattn.zoo.folders import find_model
from keras_selfattn.zoo.folders import find_saved_model
from keras_selfattn.zoo.shipped import list_shipped

MODEL_HELP = (
    "folder of a run or of a model, a trained model that `zoo` lists, or "
    "hf://user/name on the Hugging Face Hub"
)


def add_model(parser, or_saved_model=False):
    help = MODEL_HELP
    if or_saved_model:
        help = f"{help}; or folder of SavedModels"
    parser.add_argument("model", help=help)
    add_verify(parser)


def add_verify(parser):
    parser.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="take files that were changed since they were written",
    )


def check_folder(folder, or_saved_model=False):
    """`ValueError` where there is no model, without importing Keras.

    One of the Hub is looked for when it is loaded.

    Args:
        folder: Path of the folder, or the name of a model.
        or_saved_model: Boolean, whether a SavedModel will do.
    """
    if hub.is_on_hub(folder):
        hub.parse(folder)
        hub.import_hub()
        return
    if find_model(folder) is not None or (
        or_saved_model and find_saved_model(folder)
    ):
        return
    if not pathlib.Path(folder).is_dir():
        raise ValueError(
            f"There is no folder of a model at {folder}, nor a trained model "
            f"of that name. Trained models: {', '.join(list_shipped())}"
        )
    if find_saved_model(folder):
        raise ValueError(
            f"The folder {folder} holds an export, which is to be served. "
            "Expected the run or model that it was made of"
        )
    raise ValueError(f"There is no model in the folder {folder}")


def load(options):
    """The model that a command is given, which must be able to read texts."""
    start_keras()
    from keras_selfattn.models.loading import load_whole

    return load_whole(options.model, options.verify)

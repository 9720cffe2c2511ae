"""Models to the Hugging Face Hub: uploading one."""

import json
import pathlib
import shutil
import tempfile
from typing import Any

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import read_json
from keras_selfattn.files import write_text
from keras_selfattn.zoo import hub
from keras_selfattn.zoo.folders import CARD_FILE
from keras_selfattn.zoo.folders import CONFIG_FILE
from keras_selfattn.zoo.folders import find_model
from keras_selfattn.zoo.shipped import ABOUT_FILE

_FENCE = "---\n"


def push_to_hub(model: Any, name: str, private: bool | None = None) -> str:
    """Upload a model to the Hugging Face Hub.

    What goes there is the folder that `save_to_preset` writes, the card that
    training wrote into it, with the metadata that the Hub reads at its head,
    and the SHA-256 of each file, which `from_preset` checks. Who uploads is
    told by the token that huggingface_hub finds (`hf auth login`, or
    `HF_TOKEN`).

    Args:
        model: A classifier, or the path or name of a trained one, as
            `keras_selfattn.models.from_preset` takes it.
        name: `"hf://user/name"`. The repository is made if there is none.
        private: Boolean, whether a new repository is private. Defaults to
            what the account has as its default.

    Returns:
        The name that loads these very files, `"hf://user/name@commit"`.

    Raises:
        ValueError: if there is no such model, its files have been changed,
            `name` is none of the Hub, or the Hub refuses it.
        ImportError: if `huggingface_hub` is not installed.

    Example:

    >>> push_to_hub("snli_decomposable", "anna/inference")
    Traceback (most recent call last):
    ValueError: The name of a model of the Hub must be hf://user/name, ...
    """
    repository, revision = hub.parse(name)
    if revision is not None:
        raise ValueError(
            "A model is uploaded as the newest commit of hf://user/name. "
            f"Received: {name!r}, with a revision"
        )
    library = hub.import_hub()
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent, "model")
        _copy(model, folder)
        _write_card(folder, repository)
        (folder / CHECKSUMS_FILE).unlink(missing_ok=True)
        write_checksums(folder)
        api = library.HfApi(library_name="keras_selfattn")
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=folder,
                commit_message="Upload a model of keras_selfattn",
                # Of an earlier upload, which the checksums no longer name.
                delete_patterns="*",
            )
        # What the connection or the server says may be any error.
        except Exception as error:
            raise ValueError(
                f"{name} was not uploaded: {one_line(error)}"
            ) from error
    return f"{hub.PREFIX}{repository}@{commit.oid}"


def _copy(model, folder):
    if hasattr(model, "save_to_preset"):
        model.save_to_preset(folder)
        return
    found = find_model(model)
    if found is None:
        raise ValueError(f"There is no trained model at {model}")
    check_checksums(found)
    shutil.copytree(found, folder)


def _write_card(folder, repository):
    path = folder / CARD_FILE
    text = f"# {repository}\n"
    if path.exists():
        text = path.read_text(encoding="utf-8")
    if not text.startswith(_FENCE):
        write_text(path, f"{_front_matter(folder)}\n{text}")


def _front_matter(folder):
    """What the Hub reads of a model; each line's value is JSON, and so YAML."""
    config = read_json(folder / CONFIG_FILE)
    lines = {
        "library_name": "keras_selfattn",
        "pipeline_tag": "text-classification",
        "tags": ["keras", "keras_selfattn", config["class_name"]],
    }
    about = folder / ABOUT_FILE
    if about.exists():
        lines["license"] = read_json(about)["license"].lower()
    accuracy = config["training"].get("dev_accuracy")
    if accuracy is not None:
        lines["metrics"] = ["accuracy"]
    text = [f"{key}: {json.dumps(value)}\n" for key, value in lines.items()]
    return _FENCE + "".join(text) + _FENCE

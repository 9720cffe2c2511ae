"""Models to the Hugging Face Hub: uploading one."""

import glob
import json
import pathlib
import re
import shlex
import shutil
import tempfile
import warnings
from typing import Any

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import checked_names
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import read_json
from keras_selfattn.files import write_json
from keras_selfattn.files import write_text
from keras_selfattn.zoo import hub
from keras_selfattn.zoo.folders import CONFIG_FILE
from keras_selfattn.zoo.folders import find_model
from keras_selfattn.zoo.hub import CARD_FILE
from keras_selfattn.zoo.shipped import ABOUT_FILE

_FENCE = "---\n"
# What the folder of a model may have besides the card; `save_to_preset` writes
# the first ones. Whatever else lies there is nobody's but its owner's.
_FILES = (
    *(CONFIG_FILE, "model.weights.h5", "weights.npz"),
    *("preprocessor.json", "vocabulary.txt", "characters.txt"),
    *(ABOUT_FILE, "figures.json"),
    *("ATTRIBUTION.md", "LICENSE*", "licenses/*"),
)
_OF_A_MODEL = ("class_name", "config", "labels", "training")
# What a training record tells of files and models.
_NAMES = ("vectors", "from", "teachers")
_COMMAND = re.compile(r"^## Command\n\n    (.+)$", re.MULTILINE)
# The Hub writes it into each new repository.
_HUBS_OWN = ".gitattributes"


def push_to_hub(
    model: Any, name: str, private: bool | None = None, verify: bool = True
) -> str:
    """Upload a model to the Hugging Face Hub.

    What goes there is the folder that `save_to_preset` writes, the card that
    training wrote into it, with the metadata that the Hub reads at its head,
    licenses (`LICENSE`, `licenses/`, `ATTRIBUTION.md`), and the SHA-256 of
    each file but the card, which `from_preset` checks. Other files of the
    folder are not uploaded, and of the files that training read their names
    alone, without the folders of this machine. Of an earlier upload its files
    go; others that the repository has stay. Who uploads is told by the token
    that huggingface_hub finds (`hf auth login`, or `HF_TOKEN`).

    Args:
        model: A classifier, or the path or name of a trained one, as
            `keras_selfattn.models.from_preset` takes it.
        name: `"hf://user/name"`. The repository is made if there is none.
        private: Boolean, whether a new repository is private. Defaults to
            what the account has as its default. A repository that is there
            must be as it says.
        verify: Boolean, whether the files of a folder must be those that
            were written.

    Returns:
        The name that loads these very files, `"hf://user/name@commit"`.

    Raises:
        ValueError: if there is no such model, its files have been changed,
            `name` is none of the Hub, its repository holds files and no
            earlier upload, or is not as `private` says, or the Hub refuses
            it.
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
        _copy(model, folder, verify)
        _write_card(folder, repository)
        api = library.HfApi(library_name="keras_selfattn")
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            _check_privacy(api, repository, private)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=folder,
                commit_message="Upload a model of keras_selfattn",
                delete_patterns=_earlier_files(api, repository),
            )
        # What the connection or the server says may be any error.
        except Exception as error:
            raise ValueError(
                f"{name} was not uploaded: {one_line(error)}"
            ) from error
    return f"{hub.PREFIX}{repository}@{commit.oid}"


def _copy(model, folder, verify):
    if hasattr(model, "save_to_preset"):
        if not verify:
            raise ValueError(
                "A model that is no folder has no files to verify. Received: "
                f"verify={verify!r} with a {type(model).__name__}"
            )
        model.save_to_preset(folder)
        _drop_folders(folder / CONFIG_FILE)
        write_checksums(folder)
        return
    found = find_model(model)
    if found is None:
        raise ValueError(f"There is no trained model at {model}")
    path = found / CONFIG_FILE
    config = read_json(path)
    if not isinstance(config, dict) or not config.keys() >= {*_OF_A_MODEL}:
        raise ValueError(
            f"{path} is not the configuration of a saved model: expected "
            f"{', '.join(_OF_A_MODEL)}"
        )
    if verify:
        check_checksums(found)
    for pattern in _FILES:
        for path in filter(pathlib.Path.is_file, found.glob(pattern)):
            _copy_file(path, folder / path.relative_to(found))
    told = _drop_folders(folder / CONFIG_FILE)
    write_checksums(folder)
    if (found / CARD_FILE).is_file():
        text = (found / CARD_FILE).read_text(encoding="utf-8")
        write_text(folder / CARD_FILE, _without_folders(text, told))
    names = {path.name for path in found.iterdir()} - {CHECKSUMS_FILE}
    left = names - {path.name for path in folder.iterdir()}
    if left:
        warnings.warn(
            f"What {found} has besides a model's files stays where it is: "
            f"{', '.join(sorted(left))}",
            stacklevel=3,
        )


def _copy_file(path, copy):
    copy.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, copy)


def _drop_folders(path):
    """Leave the names of the files in a training record, and give the paths."""
    config = read_json(path)
    record = config["training"]
    told = []
    for key in record.keys() & {*_NAMES}:
        value = record[key]
        names = [value] if isinstance(value, str) else value or []
        told += filter(_is_path, names)
        record[key] = _without_folder(value)
    if told:
        write_json(path, config)
    return told


def _without_folder(value):
    """A name, several, or what is told of each: with a file's for its path."""
    if isinstance(value, dict):
        return {_without_folder(name): told for name, told in value.items()}
    if isinstance(value, list):
        return list(map(_without_folder, value))
    return pathlib.Path(value).name if value and _is_path(value) else value


def _is_path(name):
    path = pathlib.Path(name)
    return path.is_absolute() and path.name != ""


def _without_folders(card, told):
    """The card, where the command that it has tells names for paths too."""
    for command in _COMMAND.findall(card):
        try:
            words = shlex.split(command)
        # It was edited.
        except ValueError:
            words = command.split()
        words = [word.rpartition("=")[2] for word in words]
        told = [*told, *filter(_is_path, words)]
    for path in sorted(told, key=len, reverse=True):
        card = card.replace(path, pathlib.Path(path).name)
    return card


def _check_privacy(api, repository, private):
    found = api.model_info(repository).private
    if private not in (None, found):
        raise ValueError(
            f"it is {'private' if found else 'public'}, which only its "
            f"settings on the Hub change. Received: private={private!r}"
        )


def _earlier_files(api, repository):
    """The files of an earlier upload, as patterns."""
    files = {*api.list_repo_files(repository)} - {_HUBS_OWN}
    if not files:
        return []
    if CHECKSUMS_FILE not in files:
        raise ValueError(
            f"it holds files, and no {CHECKSUMS_FILE} of an earlier upload: "
            "expected a new repository, or that of a model"
        )
    path = pathlib.Path(api.hf_hub_download(repository, CHECKSUMS_FILE))
    return [glob.escape(name) for name in files & {*checked_names(path.parent)}]


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

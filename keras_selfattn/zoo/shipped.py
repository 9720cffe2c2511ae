"""The trained models that an installation brings; readable without Keras."""

import dataclasses
import pathlib

from keras_selfattn.files import read_json

# What the folder of a shipped model tells of it, besides what each has.
ABOUT_FILE = "about.json"

_MODELS = pathlib.Path(__file__).parent / "trained"
# As `keras_selfattn.text.TextPreprocessor` writes it.
_VOCABULARY_FILE = "vocabulary.txt"


@dataclasses.dataclass(frozen=True)
class ShippedModel:
    """What is known of a trained model that ships.

    Attributes:
        task: What it answers, in a few words.
        data: The texts and the word vectors that it learned from.
        license: The short name of the license of its weights.
        dev: Dictionary by the name of a dev set of its `"rows"` and the
            `"accuracy"` there, a share; the first one is that of the task.
        milliseconds: How long one text takes, as measured where the model
            was made.
    """

    task: str
    data: str
    license: str
    dev: dict
    milliseconds: float

    @property
    def accuracy(self) -> float:
        """The share of right answers on the first dev set."""
        return next(iter(self.dev.values()))["accuracy"]


def list_shipped() -> list[str]:
    """The names of the trained models that ship.

    Example:

    >>> "snli_decomposable" in list_shipped()
    True
    """
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{ABOUT_FILE}"))


def find_shipped(name):
    """The path of a shipped model's folder, or `None` where there is none."""
    return _MODELS / name if name in list_shipped() else None


def shipped_words(name: str) -> frozenset[str]:
    """The words that a shipped model has a vector of.

    Args:
        name: Its name, one of `list_shipped`.

    Returns:
        A set of strings, as the model's texts have them: in lower case.
    """
    path = _MODELS / name / _VOCABULARY_FILE
    return frozenset(path.read_text(encoding="utf-8").split("\n"))


def get_shipped(name: str) -> ShippedModel:
    """What is known of a trained model that ships.

    Args:
        name: Its name, one of `list_shipped`.

    Returns:
        The `ShippedModel`.

    Raises:
        ValueError: if there is none of that name.

    Example:

    >>> get_shipped("snli_decomposable").license
    'CC-BY-SA-4.0'
    """
    folder = find_shipped(name)
    if folder is None:
        raise ValueError(
            "There is no trained model of that name. Trained models: "
            f"{', '.join(list_shipped())}. Received: {name!r}"
        )
    return ShippedModel(**read_json(folder / ABOUT_FILE))

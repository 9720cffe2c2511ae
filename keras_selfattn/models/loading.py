"""Models by the name of a preset, or from a folder."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any

from keras_selfattn.checksums import check_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import read_json
from keras_selfattn.models import arguments
from keras_selfattn.models.classifier import PREPROCESSOR_FILE
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.decomposable_classifier import DecomposableClassifier
from keras_selfattn.models.presets import get_preset
from keras_selfattn.models.restarting import restarted
from keras_selfattn.models.sentence_classifier import SentenceClassifier
from keras_selfattn.models.sentence_pair_classifier import (
    SentencePairClassifier,
)
from keras_selfattn.models.sizes import with_sizes
from keras_selfattn.models.weights import load_weights
from keras_selfattn.zoo.folders import CONFIG_FILE
from keras_selfattn.zoo.folders import find_model

if TYPE_CHECKING:
    from keras_selfattn.text import TextPreprocessor

# What a saved configuration holds, by name, and of which types.
_SAVED = {
    "class_name": (str,),
    "config": (dict,),
    "labels": (list, type(None)),
    "training": (dict,),
}

CLASSES = {
    cls.__name__: cls
    for cls in (
        SentenceClassifier,
        SentencePairClassifier,
        DecomposableClassifier,
    )
}


def from_preset(
    name: str | os.PathLike,
    vocabulary_size: int | None = None,
    num_classes: int | None = None,
    preprocessor: "TextPreprocessor | None" = None,
    labels: Sequence | None = None,
    verify: bool = True,
    **overrides: Any,
) -> Classifier:
    """Build a model by the name of a preset, or load a trained one.

    Args:
        name: The name of a preset (see `list_presets`), for a model with
            fresh weights; or, for a trained one, the name of one that ships
            (`list_presets(trained=True)`), the path of a folder that
            `save_to_preset` wrote, or of a training run, or
            `"hf://user/name"` for one of the Hugging Face Hub, of which
            `"hf://user/name@revision"` names a commit, a tag or a branch.
        vocabulary_size: Integer, the number of token ids, padding included.
            Defaults to that of `preprocessor`. For the name of a preset only.
        num_classes: Integer, the number of classes. Defaults to that of
            `labels`. For the name of a preset only.
        preprocessor: The `keras_selfattn.text.TextPreprocessor` that the model
            reads texts with. For the name of a preset only.
        labels: List of the names of the classes. A trained model whose
            classes are others gets a new last layer, whose weights are
            fresh.
        verify: Boolean, whether the files of a folder must be those that
            were written, by their SHA-256 in its `checksums.json`, if it has
            that. For a trained model only.
        **overrides: Arguments of the model's class that take the place of
            the preset's. Values of the preset that change nothing beside
            them are left out. For the name of a preset only.

    Returns:
        The model. A trained one has its `preprocessor` and `labels`. No code
        is taken from its folder.

    Raises:
        ValueError: if there is neither a preset nor a model of that name,
            if a size is missing, if a trained model is given with further
            arguments, or if its files are not those of one model, or have
            been changed.

    Example:

    >>> model = from_preset(
    ...     "lin2017_yelp", vocabulary_size=50, num_classes=5, units=8)
    >>> model.name
    'lin2017_yelp'
    >>> model = from_preset("snli_decomposable")
    >>> pair = "A man sleeps.", "A person is awake."
    >>> model.labels[model.predict([pair], verbose=0).argmax()]
    'contradiction'
    >>> from_preset("snli_decomposable", labels=["no", "yes"]).output_shape
    (None, 2)
    """
    folder = find_model(name)
    if folder is not None:
        given = (vocabulary_size, num_classes, preprocessor)
        if overrides or any(each is not None for each in given):
            raise ValueError(
                "A trained model takes no arguments but its name and "
                f"`labels`. Received: more with the folder {folder}"
            )
        model = _from_folder(folder, verify)
        return model if labels is None else restarted(model, labels)
    get_preset(str(name))
    if not verify:
        raise ValueError(
            "The name of a preset has no files to verify. "
            f"Received: verify={verify!r} with {name!r}"
        )
    return fresh_model(
        str(name),
        vocabulary_size=vocabulary_size,
        num_classes=num_classes,
        preprocessor=preprocessor,
        labels=labels,
        **overrides,
    )


def fresh_model(
    name: str,
    vocabulary_size: int | None = None,
    num_classes: int | None = None,
    preprocessor: "TextPreprocessor | None" = None,
    labels: Sequence | None = None,
    **overrides: Any,
) -> Classifier:
    """Build a preset's model with fresh weights, whatever folders there are.

    Args:
        name: The name of a preset, which a folder may have, too.
        vocabulary_size: As in `from_preset`.
        num_classes: The same.
        preprocessor: The same.
        labels: The same.
        **overrides: The same.

    Raises:
        ValueError: if there is no preset of that name, or a size is missing.
    """
    preset = get_preset(name)
    model_class = CLASSES[preset.class_name]
    values = {"name": name, **preset.model, **overrides}
    if (
        preprocessor is not None
        and "character_vocabulary_size" not in overrides
    ):
        characters = preprocessor.character_vocabulary_size()
        if characters is not None:
            values["character_vocabulary_size"] = characters
    return model_class(
        vocabulary_size=vocabulary_size,
        num_classes=num_classes,
        preprocessor=preprocessor,
        labels=labels,
        **arguments.applying(model_class, values, given=overrides),
    )


def load_whole(name, verify, role="A model that answers texts"):
    """A trained model that reads texts and names its answers.

    Args:
        name: As in `from_preset`.
        verify: As there.
        role: What it is to be, as the message begins.

    Raises:
        ValueError: if it has no preprocessor, or no labels.
    """
    model = from_preset(name, verify=verify)
    for part in ("preprocessor", "labels"):
        if getattr(model, part) is None:
            raise ValueError(
                f"{role} must have its `{part}`. "
                f"Received: {name}, which has none"
            )
    return model


def _from_folder(folder, verify):
    if verify:
        check_checksums(folder)
    path = folder / CONFIG_FILE
    saved = read_json(path)
    for name, kinds in _SAVED.items():
        if not isinstance(saved, dict) or not isinstance(
            saved.get(name, ...), kinds
        ):
            raise ValueError(
                f"{path} is not the configuration of a saved model: expected "
                f"`{name}`, {' or '.join(kind.__name__ for kind in kinds)}"
            )
    preprocessor = None
    if (folder / PREPROCESSOR_FILE).exists():
        from keras_selfattn.text import TextPreprocessor

        preprocessor = TextPreprocessor.load(folder, verify=False)
    try:
        model_class = CLASSES[saved["class_name"]]
        model = model_class.from_config(saved["config"])
        model.labels = saved["labels"]
        with_sizes(model_class, saved["config"], preprocessor, model.labels)
    # What Keras makes of a changed configuration may be any error.
    except Exception as error:
        raise ValueError(
            f"{path} is not the configuration of a saved model, or not of the "
            f"files beside it: {one_line(error)}"
        ) from error
    load_weights(model, folder)
    model.training_record = saved["training"]
    model.preprocessor = preprocessor
    return model

"""Models by the name of a preset, or from a folder."""

import json

from keras_selfattn.models import arguments
from keras_selfattn.models.classifier import WEIGHTS_FILE
from keras_selfattn.models.decomposable_classifier import DecomposableClassifier
from keras_selfattn.models.folders import CONFIG_FILE
from keras_selfattn.models.folders import find_model
from keras_selfattn.models.presets import get_preset
from keras_selfattn.models.sentence_classifier import SentenceClassifier
from keras_selfattn.models.sentence_pair_classifier import (
    SentencePairClassifier,
)

CLASSES = {
    cls.__name__: cls
    for cls in (
        SentenceClassifier,
        SentencePairClassifier,
        DecomposableClassifier,
    )
}


def from_preset(
    name,
    vocabulary_size=None,
    num_classes=None,
    preprocessor=None,
    labels=None,
    **overrides,
):
    """Build a model by the name of a preset, or load one from a folder.

    Args:
        name: The name of a preset (see `list_presets`), for a model with
            fresh weights; or the path of a folder that `save_to_preset`
            wrote, or of a training run, for the model as it was saved.
        vocabulary_size: Integer, the number of token ids, padding included.
            Defaults to that of `preprocessor`. For the name of a preset only.
        num_classes: Integer, the number of classes. Defaults to that of
            `labels`. For the name of a preset only.
        preprocessor: The `keras_selfattn.text.TextPreprocessor` that the model
            reads texts with. For the name of a preset only.
        labels: List of the names of the classes. For the name of a preset
            only.
        **overrides: Arguments of the model's class that take the place of
            the preset's. Values of the preset that change nothing beside
            them are left out. For the name of a preset only.

    Returns:
        The model. One from a folder has its `preprocessor` and `labels`.

    Raises:
        ValueError: if there is neither a preset nor a folder of that name,
            if a size is missing, or if a folder is given with arguments.

    Example:

    >>> model = from_preset(
    ...     "lin2017_yelp", vocabulary_size=50, num_classes=5, units=8)
    >>> model.name
    'lin2017_yelp'
    """
    folder = find_model(name)
    if folder is not None:
        given = (vocabulary_size, num_classes, preprocessor, labels)
        if overrides or any(each is not None for each in given):
            raise ValueError(
                "A model from a folder takes no arguments but its name. "
                f"Received: more with the folder {folder}"
            )
        return _from_folder(folder)
    preset = get_preset(str(name))
    model_class = CLASSES[preset.class_name]
    values = {"name": str(name), **preset.model, **overrides}
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


def _from_folder(folder):
    path = folder / CONFIG_FILE
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        model = CLASSES[saved["class_name"]].from_config(saved["config"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not the configuration of a saved model: "
            f"{' '.join(str(error).split())}"
        ) from error
    model.load_weights(folder / WEIGHTS_FILE)
    model.labels = saved["labels"]
    model.training_record = saved["training"]
    if (folder / "preprocessor.json").exists():
        from keras_selfattn.text import TextPreprocessor

        model.preprocessor = TextPreprocessor.load(folder)
    return model

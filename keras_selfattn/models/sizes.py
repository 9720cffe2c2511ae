"""The sizes of a classifier that follow from its texts and labels."""

from keras_selfattn.labels import plain

_NEEDED = {"vocabulary_size": "preprocessor", "num_classes": "labels"}


def with_sizes(model_class, given, preprocessor, labels):
    """The arguments with those sizes that were not given.

    Args:
        model_class: A class of classifiers.
        given: Dictionary of the arguments that it was given.
        preprocessor: A `keras_selfattn.text.TextPreprocessor` with its
            vocabulary, or `None`.
        labels: List of the labels, or `None`.

    Returns:
        A dictionary of arguments.

    Raises:
        ValueError: if a size neither is given nor follows, or is another than
            the one that follows.
    """
    given = dict(given)
    for name, size, source in _following(preprocessor, labels):
        if given.get(name) is None:
            given[name] = size
        elif given[name] != size:
            raise ValueError(
                f"`{name}` must be that of `{source}`, {size}. "
                f"Received: {name}={given[name]!r}"
            )
    for name, source in _NEEDED.items():
        if given.get(name) is None:
            raise ValueError(
                f"{model_class.__name__}: the argument `{name}` must be given, "
                f"or follow from `{source}`. Received: neither"
            )
    _check_characters(given, preprocessor)
    return given


def check_fits(arguments, preprocessor=None, labels=None):
    """`ValueError` where a model can't take a preprocessor, or labels.

    Its words may be fewer than the model has vectors for.

    Args:
        arguments: Dictionary of the arguments of the model.
        preprocessor: As in `with_sizes`.
        labels: The same.
    """
    for name, size, source in _following(preprocessor, labels):
        most = arguments.get(name)
        if most is not None and (
            size > most or (source == "labels" and size != most)
        ):
            raise ValueError(
                f"`{source}` must be of the model's `{name}`, {most}. "
                f"Received: {source} of {size}"
            )
    _check_characters(arguments, preprocessor)


def _check_characters(arguments, preprocessor):
    size = arguments.get("character_vocabulary_size")
    if None in (size, preprocessor) or preprocessor.characters is not None:
        return
    raise ValueError(
        "A model of characters takes a `preprocessor` with `characters`. "
        f"Received: character_vocabulary_size={size}, and a preprocessor "
        "without"
    )


def _following(preprocessor, labels):
    if preprocessor is not None:
        if not hasattr(preprocessor, "vocabulary_size"):
            raise ValueError(
                "`preprocessor` must be a `keras_selfattn.text."
                f"TextPreprocessor`. Received: preprocessor={preprocessor!r}"
            )
        size = preprocessor.vocabulary_size()
        yield "vocabulary_size", size, "preprocessor"
        characters = preprocessor.character_vocabulary_size()
        if characters is not None:
            yield "character_vocabulary_size", characters, "preprocessor"
    if labels is not None:
        yield "num_classes", len(plain(labels)), "labels"

"""Word vectors from files, and from trained models."""

import itertools
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from keras import ops

from keras_selfattn import models
from keras_selfattn.data.joined_vectors import join_vectors
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.data.word_vectors import take_word_vectors
from keras_selfattn.data.word_vectors import words_with_vectors
from keras_selfattn.text.preprocessor import first_word_id
from keras_selfattn.zoo.folders import find_model


def load_vectors(
    sources: str | os.PathLike | Sequence[str | os.PathLike],
    vocabulary: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of a vocabulary's words, from one source or from several.

    Args:
        sources: Path of a file that `keras_selfattn.data.load_word_vectors`
            reads, or a trained model, as `keras_selfattn.models.from_preset`
            takes it, whose words' vectors are taken; or a sequence of these,
            whose vectors are joined.
        vocabulary: Sequence of strings.

    Returns:
        A pair like that of `load_word_vectors`.

    Raises:
        FileNotFoundError: if there is neither a file nor a model of a name.
        ValueError: if a file or a model is damaged.
    """
    if isinstance(sources, (str, os.PathLike)):
        return _load(sources, vocabulary)
    return join_vectors([_load(each, vocabulary) for each in sources])


def first_words(
    sources: str | os.PathLike | Sequence[str | os.PathLike], count: int
) -> list[str]:
    """The first words of each source of vectors, in their order.

    Files of vectors begin with the frequent words.

    Args:
        sources: As in `load_vectors`.
        count: Integer, how many of each.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    words = []
    for source in sources:
        folder = _model_folder(source)
        if folder is None:
            found = words_with_vectors(source)
        else:
            found, _ = _words_and_table(source, folder)
        words += itertools.islice(found, count)
    return words


def _model_folder(source):
    """The folder of a model, or `None` where a source is a file."""
    # A file comes first: it may have the name of a model that ships.
    return None if pathlib.Path(source).is_file() else find_model(source)


def _load(source, vocabulary):
    folder = _model_folder(source)
    if folder is None:
        return load_word_vectors(source, vocabulary)
    return take_word_vectors(*_words_and_table(source, folder), vocabulary)


def _words_and_table(source, folder):
    """The words that a model knows, and their vectors."""
    model = models.from_preset(folder)
    preprocessor = model.preprocessor
    if preprocessor is None:
        raise ValueError(
            "A model of word vectors must have its `preprocessor`. "
            f"Received: {source}, which has none"
        )
    first = first_word_id(preprocessor)
    table = ops.convert_to_numpy(model.get_layer("word_vectors").embeddings)
    return preprocessor.get_vocabulary()[first:], table[first:]

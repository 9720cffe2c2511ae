"""From labeled texts to ids and numbers of labels."""

import numpy as np

from keras_selfattn.data.remembered_ids import RememberedIds
from keras_selfattn.labels import Finder
from keras_selfattn.labels import of_texts
from keras_selfattn.labels import plain
from keras_selfattn.labels import plain_label
from keras_selfattn.labels import unknown
from keras_selfattn.sides import sentences
from keras_selfattn.streams import chunks
from keras_selfattn.streams import map_ahead
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import string_tensor

_CHUNK_ROWS = 1024
# Of a feature, the method of a preprocessor that tells the number of its ids.
SIZES = {
    "token_ids": "vocabulary_size",
    "char_ids": "character_vocabulary_size",
}


def encode(records, preprocessor, sides, labels, store):
    """Fills the store with ids.

    Returns:
        By side, the list of each chunk's lengths; the labels' ids; the labels.
    """
    known = None if labels is None else plain(labels)
    names = {}
    find = Finder(known or ())
    lengths = {side: [] for side in sides}
    ids = []
    if type(preprocessor) is TextPreprocessor:
        preprocessor = RememberedIds(preprocessor)

    def label_id(row, label):
        if known is None:
            try:
                return names.setdefault(plain_label(label), len(names))
            except ValueError as error:
                raise ValueError(f"Text {row}: {error}") from None
        place = find(label)
        if place is None:
            raise unknown(label, known, f"text {row}")
        return place

    def columns():
        rows = 0
        for chunk in chunks(records, _CHUNK_ROWS):
            found = []
            for row, (text, label) in enumerate(chunk, rows + 1):
                _check_row(row, text, len(sides))
                found.append(label_id(row, label))
            rows += len(chunk)
            ids.append(np.array(found, "int32"))
            texts = [text for text, _ in chunk]
            yield [texts] if len(sides) == 1 else zip(*texts, strict=True)

    def flat_ids(columns):
        return [_flat_ids(preprocessor, column) for column in columns]

    for chunk in map_ahead(flat_ids, columns()):
        for side, (rows, features) in zip(sides, chunk, strict=True):
            lengths[side].append(rows)
            for name, flat in features.items():
                store.add(side + name, flat)
    ids = np.concatenate(ids)
    if known is None:
        known = of_texts(names)
        ranks = {name: i for i, name in enumerate(known)}
        ids = np.array([ranks[name] for name in names], "int32")[ids]
    return lengths, ids, known


def _check_row(row, text, sides):
    if len(sentences(text)) != sides:
        expected = "a pair of strings" if sides == 2 else "a string"
        raise ValueError(
            f"Text {row} must be {expected}, as the first decides. "
            f"Received: {text!r}"
        )


def _flat_ids(preprocessor, texts):
    """The numbers of tokens, and the features without padding."""
    if not isinstance(preprocessor, RememberedIds):
        lengths, features = _without_padding(preprocessor, texts)
    else:
        lengths, features = preprocessor(texts)
        preprocessor = preprocessor.preprocessor
    return lengths, {
        name: flat.astype(_smallest_type(preprocessor, name))
        for name, flat in features.items()
    }


def _without_padding(preprocessor, texts):
    features = {
        name: np.asarray(padded)
        for name, padded in preprocessor(string_tensor(texts)).items()
    }
    kept = features["token_ids"] != 0
    flat = {name: padded[kept] for name, padded in features.items()}
    return kept.sum(axis=1, dtype="int64"), flat


def _smallest_type(preprocessor, name):
    """The smallest type that holds a feature's ids, where that is known."""
    size = getattr(preprocessor, SIZES[name], None)
    if size is None:
        return np.dtype("int32")
    return min(
        np.dtype("int32"),
        np.min_scalar_type(size() - 1),
        key=lambda dtype: dtype.itemsize,
    )

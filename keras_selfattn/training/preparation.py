"""The way of a text: from labeled texts to what a model learns from.

Words are counted, the preprocessor is made, texts become ids, and word vectors
are found and induced: `prepare` does it in this order, once.
"""

import dataclasses
import os
import pathlib
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

import keras
import numpy as np

from keras_selfattn import sides
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.corpora import expect
from keras_selfattn.data.fingerprint import Fingerprinted
from keras_selfattn.data.induced_vectors import induce_word_vectors
from keras_selfattn.data.joined_vectors import join_vectors
from keras_selfattn.data.labeled_rows import check_rows
from keras_selfattn.data.labeled_rows import labeled_rows
from keras_selfattn.data.learned_vectors import learn_vectors_of_ids
from keras_selfattn.data.shards import ShardedDataset
from keras_selfattn.models import get_preset
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.text import most_frequent_characters
from keras_selfattn.text.preprocessor import first_word_id
from keras_selfattn.training.values import DEFAULTS
from keras_selfattn.training.word_vectors import first_words
from keras_selfattn.training.word_vectors import load_vectors


@dataclasses.dataclass
class PreparedTexts:
    """Labeled texts as a model takes them.

    Attributes:
        preprocessor: The `TextPreprocessor` that encoded them.
        train_data: The `EncodedDataset` to train on.
        dev_data: The `EncodedDataset` that chooses the best epoch.
        vectors: The pair that `WordEmbedding.load_vectors` takes, or `None`.
        arguments: Dictionary of the model's arguments that follow from the
            texts and the vectors, its two sizes among them.
        noted: Dictionary of a checksum of the texts by `"train"` and `"dev"`.
    """

    preprocessor: TextPreprocessor
    train_data: EncodedDataset | ShardedDataset
    dev_data: EncodedDataset
    vectors: tuple | None
    arguments: dict
    noted: dict

    def checksums(self) -> dict[str, int]:
        """Numbers that differ for other texts, by their names in a checkpoint.

        The first checkpoints had that of the lengths and labels alone.
        """
        datasets = (self.train_data, self.dev_data)
        lengths = 0
        for data in datasets:
            lengths = data.lengths_checksum(lengths)
        texts = texts_checksum(self.preprocessor, *datasets)
        return {"data": lengths, "texts": texts}

    def hand_to(self, model: keras.Model, record: Mapping) -> None:
        """Give a model what is saved with it.

        Args:
            model: A `keras_selfattn.models.Classifier`.
            record: Dictionary of what else its `training_record` holds.
        """
        model.preprocessor = self.preprocessor
        model.labels = self.train_data.label_names
        found = self.arguments
        model.training_record = {
            **record,
            "model": {n: found.get(n, v) for n, v in record["model"].items()},
            "train_rows": len(self.train_data),
            "dev_rows": len(self.dev_data),
            "texts": self.noted,
        }


def prepare(
    preset: str,
    train_texts: Iterable,
    dev_texts: Iterable,
    training: Mapping,
    overrides: Mapping,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    folder: pathlib.Path | None = None,
    start: keras.Model | None = None,
) -> PreparedTexts:
    """Make labeled texts into what a preset's model learns from.

    The training texts are read twice, the dev texts once.

    Args:
        preset: The name of a preset.
        train_texts: Re-iterable of `(text, label)`, the training texts.
        dev_texts: The same, the texts that choose the best epoch.
        training: Dictionary of training values.
        overrides: Dictionary of model arguments that take the place of the
            preset's.
        vectors: What `load_vectors` takes, or `None`.
        folder: `pathlib.Path` of a folder for the ids; with `None` they stay
            in memory.
        start: A trained classifier whose words come first, or `None`.

    Returns:
        The `PreparedTexts`.

    Raises:
        ValueError: if the preset's model can't learn from the texts, or can't
            take the word vectors.
    """
    check_rows(train_texts, "train_texts")
    check_rows(dev_texts, "dev_texts")
    train_texts, dev_texts = map(Fingerprinted, (train_texts, dev_texts))
    training = {**DEFAULTS, **training}
    model = {**get_preset(preset).model, **overrides}
    if start is None:
        preprocessor, found = make_preprocessor(
            train_texts, training, vectors, model
        )
    else:
        check_vectors(training, vectors)
        counts = _count_words(train_texts, start.preprocessor.lowercase)
        preprocessor = start.preprocessor.extended(
            _frequent(counts, training["min_count"])
        )
        found = None
    if not training["learn_vectors"]:
        # Said before all texts are encoded.
        model_sizes(preprocessor, found, overrides, vectors)
    train_data = EncodedDataset.from_texts(
        train_texts, preprocessor, folder=folder and folder / "train"
    )
    expect(dev_texts, train_data.label_names)
    dev_data = EncodedDataset.from_texts(
        dev_texts,
        preprocessor,
        labels=train_data.label_names,
        folder=folder and folder / "dev",
    )
    check_data(preset, train_data, dev_data)
    found = completed_vectors(train_data, preprocessor, found, training)
    sizes = model_sizes(preprocessor, found, overrides, vectors)
    sizes["num_classes"] = len(train_data.label_names)
    noted = {"train": train_texts.sha256, "dev": dev_texts.sha256}
    return PreparedTexts(
        preprocessor, train_data, dev_data, found, sizes, noted
    )


def model_sizes(
    preprocessor: TextPreprocessor,
    found: tuple | None,
    overrides: Mapping,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
) -> dict[str, int]:
    """The model's arguments that follow from words and vectors.

    Args:
        preprocessor: The `TextPreprocessor`.
        found: The pair of `make_preprocessor`, or `None`.
        overrides: Dictionary of the model's arguments that are asked for.
        vectors: Path of the file of the word vectors, or a list of paths.
    """
    sizes = {"vocabulary_size": preprocessor.vocabulary_size()}
    characters = preprocessor.character_vocabulary_size()
    if characters is not None:
        sizes["character_vocabulary_size"] = characters
    if found is not None:
        width = found[0].shape[1]
        if overrides.get("embedding_dim", width) != width:
            raise ValueError(
                f"The word vectors have {width} numbers, where "
                f"embedding_dim={overrides['embedding_dim']} was asked for. "
                f"Received: vectors={vectors}"
            )
        sizes["embedding_dim"] = width
    return sizes


def make_preprocessor(
    texts: Iterable,
    training: Mapping,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
    model: Mapping,
) -> tuple[TextPreprocessor, tuple | None]:
    """The tokenizer with the vocabulary of the training texts.

    The vocabulary holds the words that occur `min_count` times and, where
    vectors are given, those that have one, and `unseen_words` that have one
    and do not occur.

    Returns:
        The preprocessor and, with `vectors`, the pair that
        `WordEmbedding.load_vectors` takes, otherwise `None`.
    """
    training = {**DEFAULTS, **training}
    check_vectors(training, vectors)
    counts = _count_words(texts, training["lowercase"])
    return preprocessor_of(counts, training, vectors, model)


def check_vectors(
    training: Mapping,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
) -> None:
    """`ValueError` where a training value needs vectors that are not given."""
    names = ["unseen_words"]
    if not training.get("learn_vectors"):
        names.append("induce_vectors")
    for name in names:
        if vectors is None and training.get(name):
            raise ValueError(
                f"`{name}` takes a file of pretrained word vectors. "
                "Received: vectors=None"
            )


def preprocessor_of(
    counts: Mapping[str, int],
    training: Mapping,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None,
    model: Mapping,
) -> tuple[TextPreprocessor, tuple | None]:
    """What `make_preprocessor` gives, of the words of the texts.

    Args:
        counts: Dictionary of counts by word, as of
            `keras_selfattn.text.count_words`.
        training: Dictionary of training values.
        vectors: What `load_vectors` takes, or `None`.
        model: Dictionary of the model's arguments.
    """
    training = {**DEFAULTS, **training}
    characters = None
    size = model.get("character_vocabulary_size")
    if size is not None:
        if not isinstance(size, int) or size < 3:
            raise ValueError(
                "`character_vocabulary_size` must be an integer of at least 3, "
                "for padding, one character and all others. Received: "
                f"character_vocabulary_size={size!r}"
            )
        characters = most_frequent_characters(counts, size - 2)
    min_count = training["min_count"]
    if vectors is None:
        words = _frequent(counts, min_count)
    else:
        words = list(counts)
        if training["unseen_words"]:
            words += _unseen(
                first_words(vectors, training["unseen_words"]),
                counts,
                training["lowercase"],
            )
        matrix, has_vector = load_vectors(vectors, words)
        kept = has_vector.copy()
        if min_count is not None:
            occurs = np.fromiter(counts.values(), "int64", len(counts))
            kept[: len(counts)] |= occurs >= min_count
        rows = np.flatnonzero(kept)
        words = [words[row] for row in rows]
    preprocessor = TextPreprocessor(
        words,
        lowercase=training["lowercase"],
        max_tokens=training["max_tokens"],
        num_oov_indices=training["num_oov_indices"],
        prepend_null=training["prepend_null"],
        characters=characters,
    )
    if vectors is None:
        return preprocessor, None
    size = preprocessor.vocabulary_size()
    return preprocessor, (
        _last_rows(matrix, rows, size),
        _last_rows(has_vector, rows, size),
    )


def _count_words(texts, lowercase):
    rows = labeled_rows(texts)
    strings = (part for text, _ in rows for part in sides.sentences(text))
    return count_words(strings, lowercase)


def _unseen(words, counts, lowercase):
    """Those of some words that are tokens, and that the texts have not."""
    words = dict.fromkeys(words)
    tokens = count_words(words, lowercase)
    return [word for word in words if word in tokens and word not in counts]


def _frequent(counts, min_count):
    least = min_count or DEFAULTS["min_count"]
    return [word for word, count in counts.items() if count >= least]


def completed_vectors(
    data: EncodedDataset | ShardedDataset,
    preprocessor: TextPreprocessor,
    found: tuple | None,
    training: Mapping,
) -> tuple[np.ndarray, np.ndarray] | None:
    """The vectors that a model begins with, from those that are given.

    Those that `learn_vectors` asks for come behind them, and a word that has
    neither is given one where `induce_vectors` asks for it.

    Args:
        data: The `EncodedDataset` of the training texts.
        preprocessor: The `TextPreprocessor` that encoded them.
        found: The pair of `make_preprocessor`, or `None`.
        training: Dictionary of training values.

    Returns:
        A pair like that one, or `None` where no vectors are asked for.
    """
    training = {**DEFAULTS, **training}
    if training["learn_vectors"]:
        learned = learn_vectors_of_ids(
            data,
            _words(preprocessor),
            first_word_id(preprocessor),
            training["learn_vectors"],
        )
        # Few texts, and those of a single word, teach none.
        if learned[1].any():
            found = learned if found is None else join_vectors([found, learned])
    if found is not None and training["induce_vectors"]:
        found = induce_vectors(data, preprocessor, *found)
    return found


def induce_vectors(
    data: EncodedDataset | ShardedDataset,
    preprocessor: TextPreprocessor,
    vectors: np.ndarray,
    found: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The pair that `make_preprocessor` gives, with a vector for each word.

    Args:
        data: The `EncodedDataset` of the training texts.
        preprocessor: The `TextPreprocessor` that encoded them.
        vectors: The vectors of the pair.
        found: Its booleans.
    """
    words = _words(preprocessor)
    return induce_word_vectors(data.token_stretches(), words, vectors, found)


def _words(preprocessor):
    return preprocessor.get_vocabulary()[first_word_id(preprocessor) :]


def _last_rows(array, rows, size):
    """Some rows of an array, the last of `size`, below rows of zeros.

    The first ids are those of padding, unknown words and the NULL token.
    """
    result = np.zeros((size, *array.shape[1:]), array.dtype)
    # Without a copy in between, as the table may be large.
    np.take(array, rows, 0, out=result[size - len(rows) :], mode="clip")
    return result


def check_data(
    preset: str,
    train_data: EncodedDataset | ShardedDataset,
    dev_data: EncodedDataset,
) -> None:
    """`ValueError` where a preset's model can't learn from the texts.

    Args:
        preset: The name of a preset.
        train_data: The `EncodedDataset` to train on.
        dev_data: The `EncodedDataset` of the dev texts.
    """
    if len(train_data.label_names) < 2:
        raise ValueError(
            "The training texts must have two labels or more. "
            f"Received: {', '.join(map(repr, train_data.label_names))}"
        )
    kinds = ("single texts", "pairs of texts")
    takes_pairs = CLASSES[get_preset(preset).class_name].sides == sides.PAIR
    for data in (train_data, dev_data):
        if data.is_pair != takes_pairs:
            raise ValueError(
                f"The model {preset!r} takes {kinds[takes_pairs]}. "
                f"Received {kinds[not takes_pairs]}"
            )


def texts_checksum(
    preprocessor: TextPreprocessor | None,
    *datasets: EncodedDataset | ShardedDataset,
) -> int:
    """A number that differs for other texts, labels or ids of words.

    Args:
        preprocessor: The `TextPreprocessor` that encoded the texts, or
            `None`.
        *datasets: `EncodedDataset`s.

    Returns:
        An integer.
    """
    checksum = 0
    if preprocessor is not None:
        words = preprocessor.get_vocabulary()
        lines = "\n".join([*words, preprocessor.characters or ""])
        checksum = zlib.crc32(lines.encode())
    for dataset in datasets:
        checksum = dataset.checksum(checksum)
    return checksum

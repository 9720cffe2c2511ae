"""The preprocessor: raw texts to ids, as TensorFlow ops."""

import os
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_selfattn import validation
from keras_selfattn.checksums import check_checksums
from keras_selfattn.files import read_json
from keras_selfattn.files import write_json
from keras_selfattn.text.columns import strings_of
from keras_selfattn.text.graphs import Graphs
from keras_selfattn.text.tokenizer import UNKNOWN
from keras_selfattn.text.tokenizer import PennTreebankTokenizer
from keras_selfattn.text.tokenizer import string_tensor
from keras_selfattn.text.vocabulary import build_vocabulary
from keras_selfattn.text.vocabulary import check_words
from keras_selfattn.text.vocabulary import read_lines
from keras_selfattn.text.vocabulary import read_words
from keras_selfattn.text.vocabulary import write_lines

PADDING = ""
NULL = "[NULL]"

_VOCABULARY_FILE = "vocabulary.txt"
_CHARACTERS_FILE = "characters.txt"
_CONFIG_FILE = "preprocessor.json"


@keras.saving.register_keras_serializable(package="keras_selfattn")
class TextPreprocessor(keras.layers.Layer):
    """Turns raw texts into padded token ids: tokenizer and vocabulary in one.

    Ids: 0 is padding, then come `num_oov_indices` ids for words out of the
    vocabulary (each word is hashed to one of them), then `"[NULL]"` if
    `prepend_null`, then the vocabulary in its order.

    The config leaves the vocabulary out. It is a text file of its own: an
    asset of a `.keras` archive, of a SavedModel and of the folder that `save`
    writes.

    Args:
        vocabulary: List of words, or path of a text file with one a line.
            `None` leaves it open until `adapt`.
        lowercase: Boolean, whether texts are lowercased.
        max_tokens: Longest row, `"[NULL]"` included. `None` for no limit.
        num_oov_indices: Number of ids for words out of the vocabulary.
        prepend_null: Boolean, whether each row starts with `"[NULL]"`.
        characters: String or list of the characters that get an id of their
            own. `None` for no `char_ids`.
        max_characters: Characters kept of each token.
        implementation: See `PennTreebankTokenizer`.

    Call arguments:
        texts: Strings of shape `(B,)`.

    Returns:
        Dict of `token_ids`, int32 `(B, n)`, padded with 0 on the right, and
        with `characters` also `char_ids`, int32 `(B, n, max_characters)`,
        where 0 is padding and 1 a character that is not in `characters`.
        They are TensorFlow's tensors on every backend; arrays that a model
        takes are what `Classifier.preprocess` makes of them.

    Raises:
        ValueError: If an argument is out of range, or the vocabulary has
            empty, repeated or reserved words, or words with whitespace, or,
            when it is called, if it is to be part of a model on another
            backend than TensorFlow.

    Example:

    >>> preprocessor = TextPreprocessor(["a", "dog", "."])
    >>> preprocessor(["A dog.", "a dog"])["token_ids"].numpy().tolist()
    [[1, 3, 4], [2, 3, 0]]
    """

    def __init__(
        self,
        vocabulary: Sequence[str] | str | os.PathLike | None = None,
        lowercase: bool = False,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        prepend_null: bool = False,
        characters: Iterable[str] | None = None,
        max_characters: int = 16,
        implementation: str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        shortest = 2 if prepend_null else 1
        if max_tokens is not None:
            validation.integer(max_tokens, "max_tokens", shortest)
        validation.integer(num_oov_indices, "num_oov_indices")
        validation.integer(max_characters, "max_characters")
        self.lowercase = validation.boolean(lowercase, "lowercase")
        self.max_tokens = max_tokens
        self.num_oov_indices = num_oov_indices
        self.prepend_null = validation.boolean(prepend_null, "prepend_null")
        self.characters = None
        self.max_characters = max_characters
        self.implementation = implementation
        self.supports_jit = False
        self._tokenizer = PennTreebankTokenizer(lowercase, implementation)
        self._table = None
        self._num_words = 0
        self._graphs = Graphs()
        if characters is not None:
            self._set_characters(characters)
        if vocabulary is not None:
            self._set_vocabulary(vocabulary)
        self.built = True

    def __call__(self, texts: Any, **kwargs: Any) -> dict:
        on_tensorflow = keras.backend.backend() == "tensorflow"
        if isinstance(texts, keras.KerasTensor):
            if not on_tensorflow:
                raise ValueError(
                    "A model that reads strings runs on the TensorFlow "
                    "backend. On another, call the preprocessor ahead of the "
                    f"model. Received: backend {keras.backend.backend()!r}"
                )
            return super().__call__(texts, **kwargs)
        # Keras takes tensors alone; lists of strings are what a user has at
        # hand.
        texts = string_tensor(texts)
        if self._graphs.are_worth_it(texts):
            return self._graphs.answer(self, texts)
        # Keras would make strings tensors of its backend, which only
        # TensorFlow has.
        call = super().__call__ if on_tensorflow else self.call
        return call(texts, **kwargs)

    def call(self, texts: Any) -> dict:
        return self.ids_of_tokens(self.tokenize(texts))

    # Without this Keras would trace `call`, for which a layer that is being
    # loaded has no vocabulary yet.
    def compute_output_spec(self, texts: Any) -> dict:
        batch = texts.shape[0]
        features = {
            "token_ids": keras.KerasTensor((batch, None), dtype="int32")
        }
        if self.characters is not None:
            features["char_ids"] = keras.KerasTensor(
                (batch, None, self.max_characters), dtype="int32"
            )
        return features

    def tokenize(self, texts: Any) -> tf.RaggedTensor:
        """The tokens as the model sees them.

        Args:
            texts: Strings of shape `(B,)`.

        Returns:
            `tf.RaggedTensor` of strings, `(B, None)`, cut to `max_tokens` and
            with `"[NULL]"` first if `prepend_null`. No row is empty.
        """
        limit = self.max_tokens
        if not self.prepend_null:
            return self._tokenizer(texts, limit)
        tokens = self._tokenizer(texts, None if limit is None else limit - 1)
        null = tf.RaggedTensor.from_uniform_row_length(
            tf.fill([tokens.nrows()], NULL), 1
        )
        return tf.concat([null, tokens], axis=1)

    def ids_of_tokens(self, tokens: tf.RaggedTensor) -> dict[str, tf.Tensor]:
        """The padded ids of tokens.

        Args:
            tokens: `tf.RaggedTensor` of strings, `(B, None)`, that `tokenize`
                gives.

        Returns:
            Dictionary as that of a call of the preprocessor.

        Example:

        >>> preprocessor = TextPreprocessor(["a", "dog"])
        >>> tokens = preprocessor.tokenize(["a dog", "dog"])
        >>> preprocessor.ids_of_tokens(tokens)["token_ids"].numpy().tolist()
        [[2, 3], [3, 0]]
        """
        self._check_vocabulary()
        return {
            name: tokens.with_values(ids).to_tensor()
            for name, ids in self._ids(tokens.values).items()
        }

    def ids_of_pieces(
        self, pieces: Sequence[str]
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """The ids of pieces of texts, without `"[NULL]"`, limit or padding.

        Args:
            pieces: List of strings that
                `keras_selfattn.text.pieces.pieces_of` gives.

        Returns:
            Tuple of the number of tokens of each piece, int64 `(p,)`, and a
            dictionary of int32 tensors: `token_ids`, `(tokens,)`, and with
            `characters` also `char_ids`, `(tokens, max_characters)`.

        Example:

        >>> lengths, ids = TextPreprocessor(["a", "."]).ids_of_pieces(["a."])
        >>> lengths.numpy().tolist(), ids["token_ids"].numpy().tolist()
        ([2], [2, 3])
        """
        self._check_vocabulary()
        tokens = self._tokenizer.of_pieces(pieces)
        return tokens.row_lengths(), self._ids(tokens.values)

    def count_unread(self, texts: Sequence[str]) -> np.ndarray:
        """How many tokens of each text lie beyond `max_tokens`.

        Args:
            texts: List of strings.

        Returns:
            NumPy array of integers, `(B,)`.

        Example:

        >>> preprocessor = TextPreprocessor(["a"], max_tokens=3)
        >>> preprocessor.count_unread(["a dog runs home .", "a dog"])
        array([2, 0])
        """
        counts = np.zeros(len(texts), int)
        if self.max_tokens is None:
            return counts
        limit = self.max_tokens - self.prepend_null
        # Every token has a character: a short text needs no second look.
        long = [i for i, text in enumerate(texts) if len(text) > limit]
        if long:
            tokens = self._tokenizer([texts[i] for i in long])
            counts[long] = np.maximum(tokens.row_lengths().numpy() - limit, 0)
        return counts

    def adapt(
        self, texts: Any, max_size: int | None = None, min_count: int = 1
    ) -> None:
        """Takes the words of texts as the vocabulary, frequent ones first.

        Args:
            texts: Texts as `Classifier.fit` takes them: a list, an array, a
                column, or a dataset, of strings or of pairs of them.
            max_size: Number of words kept at most. `None` for all.
            min_count: How often a word must occur to be kept.

        Raises:
            ValueError: If there are no words, a row is no text, or a limit is
                out of range.

        Example:

        >>> preprocessor = TextPreprocessor(lowercase=True)
        >>> preprocessor.adapt(["A dog runs", "a dog"], min_count=2)
        >>> preprocessor.get_vocabulary()
        ['', '[UNK]', 'a', 'dog']
        """
        self._set_vocabulary(
            build_vocabulary(
                strings_of(texts), self.lowercase, max_size, min_count
            )
        )

    def extended(self, words: Iterable[str]) -> "TextPreprocessor":
        """A preprocessor that knows further words, and gives the same ids.

        Args:
            words: Iterable of words. Those that are known change nothing; the
                others get the ids behind the known ones, in their order.

        Returns:
            A new `TextPreprocessor`.

        Example:

        >>> preprocessor = TextPreprocessor(["a", "dog"])
        >>> preprocessor.extended(["dog", "cat"]).get_vocabulary()
        ['', '[UNK]', 'a', 'dog', 'cat']
        """
        known = self.get_vocabulary()[first_word_id(self) :]
        config = {**self.get_config(), "name": None}
        return type(self)([*dict.fromkeys([*known, *words])], **config)

    def get_vocabulary(self) -> list[str]:
        """The token of each id; `""` for padding, `"[UNK]"` for the oov ids."""
        self._check_vocabulary()
        words = read_lines(self._vocabulary_path)
        return [PADDING, *[UNKNOWN] * self.num_oov_indices, *words]

    def vocabulary_size(self) -> int:
        """The number of token ids, padding included."""
        self._check_vocabulary()
        return 1 + self.num_oov_indices + self._num_words

    def character_vocabulary_size(self) -> int | None:
        """The number of character ids, or `None` without `characters`."""
        return None if self.characters is None else 2 + len(self.characters)

    def get_config(self) -> dict:
        return {
            **super().get_config(),
            "lowercase": self.lowercase,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "prepend_null": self.prepend_null,
            "characters": self.characters,
            "max_characters": self.max_characters,
            "implementation": self.implementation,
        }

    def save_assets(self, dir_path: str | os.PathLike) -> None:
        """Writes the vocabulary file; Keras calls it for `.keras` files."""
        if self._table is None:
            return
        words = read_lines(self._vocabulary_path)[self.prepend_null :]
        write_lines(pathlib.Path(dir_path) / _VOCABULARY_FILE, words)

    def load_assets(self, dir_path: str | os.PathLike | None) -> None:
        """Reads what `save_assets` wrote; `None` where that was nothing."""
        if dir_path is None:
            return
        path = pathlib.Path(dir_path) / _VOCABULARY_FILE
        if path.exists():
            self._set_vocabulary(path, read_lines)

    def save(self, folder: str | os.PathLike) -> None:
        """Writes the vocabulary, characters and config as readable files.

        Args:
            folder: Path of a folder, made if there is none.
        """
        self._check_vocabulary()
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.save_assets(folder)
        config = self.get_config()
        characters = config.pop("characters")
        if characters is not None:
            write_lines(folder / _CHARACTERS_FILE, characters)
        # A serialized policy means something to this Keras version alone.
        config.pop("dtype")
        write_json(folder / _CONFIG_FILE, config)

    @classmethod
    def load(
        cls, folder: str | os.PathLike, verify: bool = True
    ) -> "TextPreprocessor":
        """Reads what `save` wrote.

        Args:
            folder: Path of the folder.
            verify: Boolean, whether the files must be those that were
                written, where the folder has checksums of them.

        Returns:
            A `TextPreprocessor` that gives the same ids.

        Raises:
            ValueError: If a file is missing, malformed or changed.
        """
        folder = pathlib.Path(folder)
        path = folder / _CONFIG_FILE
        if not path.is_file():
            raise ValueError(f"No {_CONFIG_FILE} in the folder {folder}")
        if verify:
            check_checksums(
                folder, (_CONFIG_FILE, _VOCABULARY_FILE, _CHARACTERS_FILE)
            )
        config = read_json(path)
        if not isinstance(config, dict):
            raise ValueError(
                f"{path}: expected a JSON object. "
                f"Received: {type(config).__name__}"
            )
        characters = folder / _CHARACTERS_FILE
        if characters.exists():
            config["characters"] = read_lines(characters)
        try:
            preprocessor = cls(vocabulary=None, **config)
            # What was written is read as it was, whatever it begins with.
            preprocessor._set_vocabulary(folder / _VOCABULARY_FILE, read_lines)
            return preprocessor
        # What Keras makes of a changed configuration may be any error.
        except Exception as error:
            raise ValueError(f"{path}: {error}") from error

    def _check_vocabulary(self):
        if self._table is None:
            raise ValueError(
                "TextPreprocessor has no vocabulary: give `vocabulary`, or "
                "call `adapt` with the training texts"
            )

    def _set_vocabulary(self, vocabulary, read=read_words):
        source = "`vocabulary`"
        if isinstance(vocabulary, (str, os.PathLike)):
            source = os.fspath(vocabulary)
            vocabulary = read(vocabulary)
        vocabulary = list(vocabulary)
        reserved = {UNKNOWN, NULL} if self.prepend_null else {UNKNOWN}
        check_words(vocabulary, source, reserved)
        if self.prepend_null:
            vocabulary.insert(0, NULL)
        # An initializer from a file makes the vocabulary an asset of a
        # SavedModel. The file lives as long as the layer, because exporting
        # copies it, wherever the words came from.
        folder = tempfile.mkdtemp(prefix="vocabulary_")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._vocabulary_path = os.path.join(folder, _VOCABULARY_FILE)
        self._graphs = Graphs()
        write_lines(pathlib.Path(self._vocabulary_path), vocabulary)
        self._num_words = len(vocabulary)
        with tf.init_scope():
            self._table = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    self._vocabulary_path,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                    vocab_size=len(vocabulary),
                ),
                default_value=-1,
            )

    def _set_characters(self, characters):
        characters = list(characters)
        check_words(characters, "`characters`", frozenset())
        longer = [c for c in characters if len(c) != 1]
        if longer:
            raise ValueError(
                "`characters` must hold single characters. "
                f"Received: {longer[0]!r}"
            )
        self.characters = "".join(characters)
        with tf.init_scope():
            self._character_table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    [ord(c) for c in characters],
                    list(range(2, 2 + len(characters))),
                    tf.int64,
                    tf.int64,
                ),
                default_value=1,
            )

    def _ids(self, words):
        """The ids of words `(w,)`, without texts or padding."""
        features = {"token_ids": self._token_ids(words)}
        if self.characters is not None:
            features["char_ids"] = self._char_ids(words)
        return features

    def _token_ids(self, words):
        index = tf.cast(self._table.lookup(words), tf.int32)
        bucket = 0
        if self.num_oov_indices > 1:
            bucket = tf.cast(
                tf.strings.to_hash_bucket_fast(words, self.num_oov_indices),
                tf.int32,
            )
        return tf.where(index < 0, 1 + bucket, index + 1 + self.num_oov_indices)

    def _char_ids(self, words):
        codes = tf.strings.unicode_decode(words, "UTF-8")
        codes = codes[:, : self.max_characters]
        ids = codes.with_values(
            tf.cast(
                self._character_table.lookup(tf.cast(codes.values, tf.int64)),
                tf.int32,
            )
        )
        return ids.to_tensor(shape=[None, self.max_characters])


def first_word_id(preprocessor: TextPreprocessor) -> int:
    """The id of the first word of a vocabulary.

    Before it are those of padding, of unknown words, and of `"[NULL]"`.
    """
    return 1 + preprocessor.num_oov_indices + preprocessor.prepend_null

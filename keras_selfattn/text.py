"""Tokenizer and vocabulary: one graph for training and serving."""

import collections
import itertools
import json
import os
import pathlib
import shutil
import tempfile
import weakref

import keras
import tensorflow as tf

from keras_selfattn.files import write_text
from keras_selfattn.streams import chunks
from keras_selfattn.streams import map_ahead
from keras_selfattn.streams import several

PADDING = ""
UNKNOWN = "[UNK]"
NULL = "[NULL]"

# Signs that always stand alone. The ones left out (- . , : ' & _ / and the
# typographic hyphens and middle dot) also occur inside words and numbers.
_SIGN = r"(?:[^\P{P}\-.,:'&_/\x{B7}\x{2010}\x{2011}]|[\p{Sc}<>])"
# Where a word ends, besides the end of the text.
_WORD_END = rf"(?: |$|{_SIGN})"
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|mt|rt|ft|jr|sr|vs|etc|inc|ltd|corp|co|"
    "gen|gov|sen|rev|capt|col|lt|sgt|jan|feb|aug|sept?|oct|nov|dec"
)

# Everything that separates words, but for the plain space.
_WHITESPACE = (
    r"[\t-\r\x1C-\x1F\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}"
    r"\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]"
)

# Applied in this order, each to the whole text: (RE2 pattern, rewrite, why).
# RE2 can't look ahead, so some patterns take in the character after a match
# and write it back. No such character may begin a match of the same rule,
# because a match never starts inside the one before it.
_RULES = (
    ("[‘’]", "'", "typographic apostrophes are apostrophes"),
    (r'(^|[ (\[{<])"|“', r"\1 `` ", "a quote before a word opens"),
    ('["”]', " '' ", "every other one closes"),
    (
        r"(?i)\b(?:(can)(not)|(gon|wan)(na)|(got)(ta)|(gim|lem)(me))\b",
        r"\1\3\5\7 \2\4\6\8",
        "two words written as one",
    ),
    (
        r"(``?|\B&|&\B|\B[,:]|[,:]\B)|([,:])([A-Za-z_])",
        r" \1\2 \3",
        "1,000 and 53:11 and R&B stay whole, other such signs do not",
    ),
    (
        r"(?i)('')|(n't|'(?:s|m|d|re|ve|ll|em|til|\d\ds)|')"
        r"([^\pL\pM\pN]|$)|(\B')",
        r" \1\2\4 \3",
        "do n't, she 's, the girls ', ' quoted ', but o'clock",
    ),
    (
        rf"(\b(?:\d*(?:[A-Za-z]\.)+[A-Za-z]|(?i:{_ABBREVIATIONS}))\.)"
        rf"({_WORD_END})|(\b[B-HJ-Z]\. )|(\.\.+|--+)|([.\-])({_WORD_END})",
        r"\1\2\3 \4\5 \6",
        "a period ends a word, unless that is U.S., Mr. or an initial",
    ),
)

# Control characters do not outlive the cleaning, so this one is free to mark
# a text without words.
_EMPTY_MARK = "\x01"

_VOCABULARY_FILE = "vocabulary.txt"
_CHARACTERS_FILE = "characters.txt"
_CONFIG_FILE = "preprocessor.json"


class PennTreebankTokenizer:
    """Splits texts into words as the Penn Treebank does.

    `don't` becomes `do n't`, `cannot` becomes `can not`, punctuation stands
    apart, abbreviations keep their period, and double quotes are written as
    the treebank's opening and closing ones. Brackets stay as they are. Every
    step is a TensorFlow op, so the same graph runs in `tf.data`, in a
    `tf.function` and in a SavedModel.

    Bytes that are no UTF-8 and control characters (NUL among them) become
    U+FFFD. Unicode whitespace separates words.

    Args:
        lowercase: Boolean, whether the tokens are lowercased.
        implementation: `"tensorflow_text"` splits with TF Text's ops,
            `"tensorflow"` with core TensorFlow alone, `"auto"` uses TF Text
            where it can be imported. The tokens are the same.

    Call arguments:
        texts: Strings of shape `(B,)`.
        max_tokens: How many tokens of each text are needed at most. What lies
            beyond is not tokenized, so that a long text costs little.

    Returns:
        `tf.RaggedTensor` of strings, `(B, None)`. A text without words gives
        the one token `"[UNK]"`, so that no row is empty.

    Raises:
        ValueError: If an argument is none of the above, or `texts` is not of
            rank 1.

    Example:

    >>> tokenizer = PennTreebankTokenizer()
    >>> for row in tokenizer(["Don't say \\"no\\".", ""]):
    ...     print(*[token.decode() for token in row.numpy()])
    Do n't say `` no '' .
    [UNK]
    """

    def __init__(self, lowercase=False, implementation="auto"):
        choices = ("auto", "tensorflow", "tensorflow_text")
        if implementation not in choices:
            raise ValueError(
                f"`implementation` must be one of {choices}. "
                f"Received: {implementation!r}"
            )
        self.lowercase = bool(lowercase)
        self.implementation = implementation
        self._regex_split = _find_regex_split(implementation)

    def __call__(self, texts, max_tokens=None):
        texts = self.clean(string_tensor(texts))
        if max_tokens is not None:
            texts = _first_words(texts, max_tokens)
        for pattern, rewrite, _ in _RULES:
            texts = tf.strings.regex_replace(texts, pattern, rewrite)
        if self.lowercase:
            texts = tf.strings.lower(texts, encoding="utf-8")
        tokens = self.split(texts)
        tokens = tokens.with_values(
            tf.where(tokens.values == _EMPTY_MARK, UNKNOWN, tokens.values)
        )
        return tokens if max_tokens is None else tokens[:, :max_tokens]

    def clean(self, texts):
        """Valid UTF-8 parted by spaces; a mark where there is no word."""
        texts = tf.strings.regex_replace(texts, _WHITESPACE, " ")
        texts = tf.strings.unicode_transcode(
            texts,
            "UTF-8",
            "UTF-8",
            errors="replace",
            replacement_char=0xFFFD,
            replace_control_characters=True,
        )
        texts = tf.strings.strip(texts)
        return tf.where(texts == "", _EMPTY_MARK, texts)

    def split(self, texts):
        """Splits at spaces and around the signs that always stand alone."""
        if self._regex_split is not None:
            return self._regex_split(texts, rf" +|{_SIGN}", _SIGN)
        return tf.strings.split(tf.strings.regex_replace(texts, _SIGN, r" \0 "))


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
            `None` leaves it open until `load_assets`.
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
        vocabulary=None,
        lowercase=False,
        max_tokens=None,
        num_oov_indices=1,
        prepend_null=False,
        characters=None,
        max_characters=16,
        implementation="auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        shortest = 2 if prepend_null else 1
        if max_tokens is not None:
            _check_at_least("max_tokens", max_tokens, shortest)
        _check_at_least("num_oov_indices", num_oov_indices, 1)
        _check_at_least("max_characters", max_characters, 1)
        self.lowercase = bool(lowercase)
        self.max_tokens = max_tokens
        self.num_oov_indices = num_oov_indices
        self.prepend_null = bool(prepend_null)
        self.characters = None
        self.max_characters = max_characters
        self.implementation = implementation
        self.supports_jit = False
        self._tokenizer = PennTreebankTokenizer(lowercase, implementation)
        self._table = None
        self._num_words = 0
        if characters is not None:
            self._set_characters(characters)
        if vocabulary is not None:
            self._set_vocabulary(vocabulary)
        self.built = True

    def __call__(self, texts, **kwargs):
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
        # Keras would make strings tensors of its backend, which only
        # TensorFlow has.
        call = super().__call__ if on_tensorflow else self.call
        return call(texts, **kwargs)

    def call(self, texts):
        self._check_vocabulary()
        tokens = self.tokenize(texts)
        features = {"token_ids": self._token_ids(tokens)}
        if self.characters is not None:
            features["char_ids"] = self._char_ids(tokens)
        return features

    # Without this Keras would trace `call`, for which a layer that is being
    # loaded has no vocabulary yet.
    def compute_output_spec(self, texts):
        batch = texts.shape[0]
        features = {
            "token_ids": keras.KerasTensor((batch, None), dtype="int32")
        }
        if self.characters is not None:
            features["char_ids"] = keras.KerasTensor(
                (batch, None, self.max_characters), dtype="int32"
            )
        return features

    def tokenize(self, texts):
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

    def get_vocabulary(self):
        """The token of each id; `""` for padding, `"[UNK]"` for the oov ids."""
        self._check_vocabulary()
        words = _read_lines(self._vocabulary_path)
        return [PADDING, *[UNKNOWN] * self.num_oov_indices, *words]

    def vocabulary_size(self):
        """The number of token ids, padding included."""
        self._check_vocabulary()
        return 1 + self.num_oov_indices + self._num_words

    def character_vocabulary_size(self):
        """The number of character ids, or `None` without `characters`."""
        return None if self.characters is None else 2 + len(self.characters)

    def get_config(self):
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

    def save_assets(self, dir_path):
        """Writes the vocabulary file; Keras calls it for `.keras` files."""
        if self._table is None:
            return
        words = _read_lines(self._vocabulary_path)[self.prepend_null :]
        _write_lines(pathlib.Path(dir_path) / _VOCABULARY_FILE, words)

    def load_assets(self, dir_path):
        """Reads what `save_assets` wrote."""
        path = pathlib.Path(dir_path) / _VOCABULARY_FILE
        if path.exists():
            self._set_vocabulary(path)

    def save(self, folder):
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
            _write_lines(folder / _CHARACTERS_FILE, characters)
        # A serialized policy means something to this Keras version alone.
        config.pop("dtype")
        write_text(folder / _CONFIG_FILE, json.dumps(config, indent=2) + "\n")

    @classmethod
    def load(cls, folder):
        """Reads what `save` wrote.

        Args:
            folder: Path of the folder.

        Returns:
            A `TextPreprocessor` that gives the same ids.

        Raises:
            ValueError: If a file is missing or malformed.
        """
        folder = pathlib.Path(folder)
        path = folder / _CONFIG_FILE
        if not path.is_file():
            raise ValueError(f"No {_CONFIG_FILE} in the folder {folder}")
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: malformed JSON: {error}") from None
        if not isinstance(config, dict):
            raise ValueError(
                f"{path}: expected a JSON object. "
                f"Received: {type(config).__name__}"
            )
        characters = folder / _CHARACTERS_FILE
        if characters.exists():
            config["characters"] = _read_lines(characters)
        try:
            return cls(vocabulary=folder / _VOCABULARY_FILE, **config)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None

    def _check_vocabulary(self):
        if self._table is None:
            raise ValueError(
                "TextPreprocessor has no vocabulary: give `vocabulary`, or "
                "call `load_assets` with the folder of a saved one"
            )

    def _set_vocabulary(self, vocabulary):
        source = "`vocabulary`"
        if isinstance(vocabulary, (str, os.PathLike)):
            source = os.fspath(vocabulary)
            vocabulary = _read_lines(vocabulary)
        vocabulary = list(vocabulary)
        reserved = {UNKNOWN, NULL} if self.prepend_null else {UNKNOWN}
        _check_words(vocabulary, source, reserved)
        if self.prepend_null:
            vocabulary.insert(0, NULL)
        # An initializer from a file makes the vocabulary an asset of a
        # SavedModel. The file lives as long as the layer, because exporting
        # copies it, wherever the words came from.
        folder = tempfile.mkdtemp(prefix="vocabulary_")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._vocabulary_path = os.path.join(folder, _VOCABULARY_FILE)
        _write_lines(pathlib.Path(self._vocabulary_path), vocabulary)
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
        _check_words(characters, "`characters`", frozenset())
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

    def _token_ids(self, tokens):
        words = tokens.values
        index = tf.cast(self._table.lookup(words), tf.int32)
        bucket = 0
        if self.num_oov_indices > 1:
            bucket = tf.cast(
                tf.strings.to_hash_bucket_fast(words, self.num_oov_indices),
                tf.int32,
            )
        ids = tf.where(index < 0, 1 + bucket, index + 1 + self.num_oov_indices)
        return tokens.with_values(ids).to_tensor()

    def _char_ids(self, tokens):
        codes = tf.strings.unicode_decode(tokens.values, "UTF-8")
        codes = codes[:, : self.max_characters]
        ids = codes.with_values(
            tf.cast(
                self._character_table.lookup(tf.cast(codes.values, tf.int64)),
                tf.int32,
            )
        )
        ids = ids.to_tensor(shape=[None, self.max_characters])
        return tokens.with_values(ids).to_tensor()


def build_vocabulary(texts, lowercase=False, max_size=None, min_count=1):
    """Lists the tokens of texts, the most frequent ones first.

    Args:
        texts: Iterable of strings, read once and not kept.
        lowercase: Boolean, whether the texts are lowercased.
        max_size: Number of tokens kept at most. `None` for all.
        min_count: How often a token must occur to be kept.

    Returns:
        List of tokens by falling frequency, equal ones alphabetically.

    Raises:
        ValueError: If `texts` is one string, or a limit is out of range.

    Example:

    >>> build_vocabulary(["a dog runs", "a dog", "a cat"], min_count=2)
    ['a', 'dog']
    """
    if max_size is not None:
        _check_at_least("max_size", max_size, 1)
    _check_at_least("min_count", min_count, 1)
    counts = count_words(texts, lowercase)
    kept = (word for word, count in counts.items() if count >= min_count)
    return list(itertools.islice(kept, max_size))


def count_words(texts, lowercase=False):
    """Counts the tokens of texts.

    Args:
        texts: Iterable of strings, read once and not kept.
        lowercase: Boolean, whether the texts are lowercased.

    Returns:
        Dictionary of counts by token, by falling count, equal ones
        alphabetically.

    Raises:
        ValueError: If `texts` is one string.

    Example:

    >>> count_words(["a dog runs", "a dog", "a cat"])
    {'a': 3, 'dog': 2, 'cat': 1, 'runs': 1}
    """
    texts = several(texts)
    tokenizer = PennTreebankTokenizer(lowercase)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def count(texts):
        words, _, counts = tf.unique_with_counts(tokenizer(texts).values)
        return words, counts

    # Each call has a graph of its own, which TensorFlow would warn of.
    count = count.get_concrete_function()
    totals = collections.Counter()
    # Each distinct word of a chunk comes to Python once.
    for words, counts in map_ahead(
        lambda chunk: [part.numpy() for part in count(string_tensor(chunk))],
        chunks(texts, 1024),
    ):
        for word, n in zip(words.tolist(), counts.tolist(), strict=True):
            totals[word.decode("utf-8")] += n
    # The stand-in for an empty text; as a word it can't come out of a text,
    # for brackets stand apart.
    totals.pop(UNKNOWN, None)
    words = sorted(totals)
    words.sort(key=totals.__getitem__, reverse=True)
    return {word: totals[word] for word in words}


def most_frequent_characters(word_counts, max_size):
    """The characters that occur most often in counted words.

    Args:
        word_counts: What `count_words` returns.
        max_size: Number of characters kept at most.

    Returns:
        List of characters by falling frequency, equal ones by code point.

    Example:

    >>> most_frequent_characters({"dog": 2, "do": 1}, 2)
    ['d', 'o']
    """
    counts = collections.Counter()
    for word, count in word_counts.items():
        for character in word:
            counts[character] += count
    by_count = sorted(counts, key=lambda c: (-counts[c], c))
    return by_count[:max_size]


def _find_regex_split(implementation):
    if implementation == "tensorflow":
        return None
    try:
        import tensorflow_text
    except ImportError:
        if implementation == "auto":
            return None
        raise ValueError(
            'implementation="tensorflow_text" needs the package '
            "tensorflow-text, which can't be imported here"
        ) from None
    return tensorflow_text.regex_split


def string_tensor(texts):
    """The tensor of texts, `(B,)`, in UTF-8 as the tokenizer takes it.

    Args:
        texts: List of strings, or a tensor of them.

    Raises:
        ValueError: If `texts` is one string, or not of rank 1.
    """
    texts = several(texts)
    if isinstance(texts, (list, tuple)):
        # Half of a surrogate pair, as cut JSON has it, is no UTF-8: it goes
        # on as the bytes that the tokenizer replaces.
        texts = [
            text.encode("utf-8", "surrogatepass")
            if isinstance(text, str)
            else text
            for text in texts
        ]
    texts = tf.convert_to_tensor(texts, dtype=tf.string)
    if texts.shape.rank not in (None, 1):
        raise ValueError(
            f"`texts` must have the shape (batch,). Received: {texts.shape}"
        )
    return texts


# A token may depend on the word after it, so one more is kept.
def _first_words(texts, count):
    words = tf.strings.split(texts, maxsplit=count + 1)
    return tf.strings.reduce_join(words[:, : count + 1], -1, separator=" ")


def _check_at_least(name, value, least):
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(
            f"`{name}` must be an integer of at least {least}. "
            f"Received: {value!r}"
        )


def _check_words(words, source, reserved):
    if not words:
        raise ValueError(f"{source} must hold at least one token")
    lines = {}
    for line, word in enumerate(words, start=1):
        if not isinstance(word, str):
            problem = "is not a string"
        elif not word:
            problem = "is empty"
        elif word in reserved:
            problem = "is reserved"
        elif word.split() != [word]:
            problem = "has whitespace in it"
        elif word in lines:
            problem = f"is the same as token {lines[word]}"
        else:
            lines[word] = line
            continue
        raise ValueError(f"{source}: token {line} {problem}: {word!r}")


def _read_lines(path):
    try:
        # Only line feeds end a line: str.splitlines would also cut at
        # characters that TensorFlow's reader leaves in a word.
        with open(path, encoding="utf-8") as file:
            return [line.removesuffix("\n") for line in file]
    except OSError as error:
        raise ValueError(
            f"Can't read the vocabulary file {path}: {error.strerror}"
        ) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: {error.reason}") from None


def _write_lines(path, lines):
    write_text(path, "".join(f"{line}\n" for line in lines))

"""The tokenizer, as TensorFlow ops: one graph for training and serving."""

import numbers
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from keras_selfattn import validation
from keras_selfattn.streams import several
from keras_selfattn.text.columns import listed
from keras_selfattn.text.pieces import LAST
from keras_selfattn.text.utf8 import encoded

UNKNOWN = "[UNK]"

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

# What ICU lowercases in another way where the process's language is Turkish,
# Azerbaijani or Lithuanian, beside I and J.
_LOWERCASED = (("İ", "i\u0307"), *zip("ÌÍĨĮ", "ìíĩį", strict=True))

# Control characters do not outlive the cleaning, so this one is free to mark
# a text without words.
_EMPTY_MARK = "\x01"


class PennTreebankTokenizer:
    """Splits texts into words as the Penn Treebank does.

    `don't` becomes `do n't`, `cannot` becomes `can not`, punctuation stands
    apart, abbreviations keep their period, and double quotes are written as
    the treebank's opening and closing ones. Brackets stay as they are. Every
    step is a TensorFlow op, so the same graph runs in `tf.data`, in a
    `tf.function` and in a SavedModel.

    Bytes that are no UTF-8 and control characters below U+0020 (NUL among
    them) become U+FFFD. Unicode whitespace separates words. Lowercase is that
    of no language, whatever that of the process is.

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

    def __init__(
        self, lowercase: bool = False, implementation: str = "auto"
    ) -> None:
        self.lowercase = validation.boolean(lowercase, "lowercase")
        self.implementation = validation.one_of(
            implementation,
            ("auto", "tensorflow", "tensorflow_text"),
            "implementation",
        )
        self._regex_split = _find_regex_split(implementation)

    def __call__(
        self, texts: Any, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        texts = self.clean(string_tensor(texts))
        if max_tokens is not None:
            texts = _first_words(texts, max_tokens)
        tokens = self._tokens(texts)
        return tokens if max_tokens is None else tokens[:, :max_tokens]

    def of_pieces(self, pieces: Sequence[str]) -> tf.RaggedTensor:
        """The tokens of what `pieces_of` gives, each as it is in its text.

        Args:
            pieces: List of strings.

        Returns:
            `tf.RaggedTensor` of strings, `(len(pieces), None)`.
        """
        # To the rules a space is all that can be seen of the next word.
        behind = ["" if piece.endswith(LAST) else " " for piece in pieces]
        cleaned = self.clean(string_tensor(pieces))
        behind = tf.constant(behind, tf.string, cleaned.shape)
        return self._tokens(tf.strings.join([cleaned, behind]))

    def _tokens(self, texts):
        for pattern, rewrite, _ in _RULES:
            texts = tf.strings.regex_replace(texts, pattern, rewrite)
        if self.lowercase:
            texts = _lower(texts)
        tokens = self.split(texts)
        return tokens.with_values(
            tf.where(tokens.values == _EMPTY_MARK, UNKNOWN, tokens.values)
        )

    def clean(self, texts: Any) -> tf.Tensor:
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

    def split(self, texts: Any) -> tf.RaggedTensor:
        """Splits at spaces and around the signs that always stand alone."""
        if self._regex_split is not None:
            return self._regex_split(texts, rf" +|{_SIGN}", _SIGN)
        return tf.strings.split(tf.strings.regex_replace(texts, _SIGN, r" \0 "))


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


def string_tensor(texts: Any) -> tf.Tensor:
    """The tensor of texts, `(B,)`, in UTF-8 as the tokenizer takes it.

    Args:
        texts: List, array, column or tensor of strings.

    Raises:
        ValueError: If `texts` is one string, or not of rank 1, or one of
            them is none.
    """
    texts = several(texts)
    if not tf.is_tensor(texts):
        texts = listed(texts)
    if isinstance(texts, (list, tuple)):
        texts = list(map(_encoded, texts))
    texts = tf.convert_to_tensor(texts, dtype=tf.string)
    if texts.shape.rank not in (None, 1):
        raise ValueError(
            f"`texts` must have the shape (batch,). Received: {texts.shape}"
        )
    return texts


def _encoded(text):
    if isinstance(text, str):
        return encoded(text)
    if text is None or isinstance(text, numbers.Number):
        raise no_string(text)
    return text


def no_string(text: Any) -> ValueError:
    """The `ValueError` of what stands for a text and is no string."""
    return ValueError(
        "Expected texts that are strings. "
        f"Received: {text!r}, a {type(text).__name__}"
    )


def _lower(texts):
    """Lowercases texts, whatever the language of the process."""
    texts = tf.strings.lower(texts)
    for upper, lower in _LOWERCASED:
        texts = tf.strings.regex_replace(texts, upper, lower)
    return tf.strings.lower(texts, encoding="utf-8")


# A token may depend on the word after it, so one more is kept.
def _first_words(texts, count):
    words = tf.strings.split(texts, maxsplit=count + 1)
    return tf.strings.reduce_join(words[:, : count + 1], -1, separator=" ")

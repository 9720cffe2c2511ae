"""The vocabulary: which words and characters get an id of their own."""

import collections
import itertools
from collections.abc import Iterable
from collections.abc import Mapping

import tensorflow as tf

from keras_selfattn import validation
from keras_selfattn.files import write_text
from keras_selfattn.streams import chunks
from keras_selfattn.streams import map_ahead
from keras_selfattn.streams import several
from keras_selfattn.text.pieces import Room
from keras_selfattn.text.pieces import pieces_of
from keras_selfattn.text.tokenizer import UNKNOWN
from keras_selfattn.text.tokenizer import PennTreebankTokenizer
from keras_selfattn.text.tokenizer import no_string

_PIECES_AT_ONCE = 8192
_BYTE_ORDER_MARK = "\ufeff"


def build_vocabulary(
    texts: Iterable[str],
    lowercase: bool = False,
    max_size: int | None = None,
    min_count: int = 1,
) -> list[str]:
    """Lists the tokens of texts, the most frequent ones first.

    Args:
        texts: Iterable of strings, read once and not kept.
        lowercase: Boolean, whether the texts are lowercased.
        max_size: Number of tokens kept at most. `None` for all.
        min_count: How often a token must occur to be kept.

    Returns:
        List of tokens by falling frequency, equal ones alphabetically.

    Raises:
        ValueError: If `texts` is one string, or one of them is none, or a
            limit is out of range.

    Example:

    >>> build_vocabulary(["a dog runs", "a dog", "a cat"], min_count=2)
    ['a', 'dog']
    """
    if max_size is not None:
        validation.integer(max_size, "max_size")
    validation.integer(min_count, "min_count")
    counts = count_words(texts, lowercase)
    kept = (word for word, count in counts.items() if count >= min_count)
    return list(itertools.islice(kept, max_size))


def count_words(
    texts: Iterable[str], lowercase: bool = False
) -> dict[str, int]:
    """Counts the tokens of texts.

    Args:
        texts: Iterable of strings, read once and not kept.
        lowercase: Boolean, whether the texts are lowercased.

    Returns:
        Dictionary of counts by token, by falling count, equal ones
        alphabetically.

    Raises:
        ValueError: If `texts` is one string, or one of them is none.

    Example:

    >>> count_words(["a dog runs", "a dog", "a cat"])
    {'a': 3, 'dog': 2, 'cat': 1, 'runs': 1}
    """
    texts = several(texts)
    tokenizer = PennTreebankTokenizer(lowercase)

    def count(counted):
        pieces, counts = zip(*counted, strict=True)
        tokens = tokenizer.of_pieces(pieces)
        words, places = tf.unique(tokens.values)
        counts = tf.repeat(tf.constant(counts, "int64"), tokens.row_lengths())
        counts = tf.math.unsorted_segment_sum(counts, places, tf.size(words))
        return words.numpy(), counts.numpy()

    totals = collections.Counter()
    # Each distinct word of some pieces comes to Python once.
    for words, counts in map_ahead(count, _counted_pieces(texts)):
        for word, n in zip(words.tolist(), counts.tolist(), strict=True):
            totals[word.decode("utf-8")] += n
    # The stand-in for an empty text; as a word it can't come out of a text,
    # for brackets stand apart.
    totals.pop(UNKNOWN, None)
    words = sorted(totals)
    words.sort(key=totals.__getitem__, reverse=True)
    return {word: totals[word] for word in words}


def _counted_pieces(texts):
    """Lists of distinct pieces of texts, each with its count."""
    counts, room = collections.Counter(), Room()
    for some in chunks(texts, 1024):
        for text in some:
            if not isinstance(text, str):
                raise no_string(text)
            counts.update(pieces_of(text))
        if room.is_full(len(counts), some):
            yield from chunks(counts.items(), _PIECES_AT_ONCE)
            counts, room = collections.Counter(), Room()
    yield from chunks(counts.items(), _PIECES_AT_ONCE)


def most_frequent_characters(
    word_counts: Mapping[str, int], max_size: int
) -> list[str]:
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


def check_words(words, source, reserved):
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


def read_words(path):
    """The words of a file that a user gives."""
    words = read_lines(path)
    # Windows begins files with a byte order mark; alone on its line it is a
    # word.
    if words and words[0] != _BYTE_ORDER_MARK:
        words[0] = words[0].removeprefix(_BYTE_ORDER_MARK)
    return words


def read_lines(path):
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


def write_lines(path, lines):
    write_text(path, "".join(f"{line}\n" for line in lines))

"""The ids of texts, put together from those of the pieces they repeat."""

import collections
import itertools
import threading

import numpy as np

from keras_selfattn.data.plan import offsets_of
from keras_selfattn.data.plan import spans
from keras_selfattn.text.pieces import Room
from keras_selfattn.text.pieces import pieces_of

# No piece of a text has whitespace alone.
_NULL = " "


class RememberedIds:
    """Gives the ids that a preprocessor gives, in less time.

    Each piece of text between whitespace goes through the preprocessor's ops
    when it is first met. When there are too many, all are forgotten, so that
    the memory stays bounded.

    Args:
        preprocessor: A `keras_selfattn.text.TextPreprocessor`.

    Call arguments:
        texts: List of strings.

    Returns:
        Tuple of the number of tokens of each text, int64 `(B,)`, and what the
        preprocessor returns, without padding: a dictionary of int32 arrays,
        `(tokens,)` and `(tokens, max_characters)`. Threads may share it.

    Example:

    >>> from keras_selfattn.text import TextPreprocessor
    >>> ids = RememberedIds(TextPreprocessor(["a", "dog", "."]))
    >>> lengths, features = ids(["A dog.", "a dog"])
    >>> lengths.tolist(), features["token_ids"].tolist()
    ([3, 2], [1, 3, 4, 2, 3])
    """

    def __init__(self, preprocessor):
        self.preprocessor = preprocessor
        self._lock = threading.Lock()
        self._forget()

    def __call__(self, texts):
        limit = self.preprocessor.max_tokens
        with self._lock:
            # What is not known yet gets the next number.
            number = self._numbers.__getitem__
            numbers, ends = [], [0]
            for text in texts:
                # Looked up at once, while they are in the processor's cache.
                numbers += map(number, self._first)
                numbers += map(number, pieces_of(text, limit))
                ends.append(len(numbers))
            pieces = np.array(numbers, "int64")
            self._learn()
            starts = self._ends[pieces]
            lengths = self._ends[pieces + 1] - starts
            steps = spans(starts, lengths)
            lengths = np.diff(offsets_of(lengths)[ends])
            if limit is not None:
                kept = np.minimum(lengths, limit)
                starts = np.cumsum(lengths) - lengths
                steps, lengths = steps[spans(starts, kept)], kept
            features = {name: ids[steps] for name, ids in self._ids.items()}
            if self._room.is_full(len(self._numbers), texts):
                self._forget()
        return lengths, features

    def _forget(self):
        self._room = Room()
        self._numbers = collections.defaultdict(itertools.count().__next__)
        # A text without words still has the NULL token.
        null = int(self.preprocessor.prepend_null)
        self._first = [_NULL] * null
        for piece in self._first:
            self._numbers[piece]
        self._ids = {
            name: ids.numpy()[0, :null]
            for name, ids in self.preprocessor([""]).items()
        }
        self._ends = np.arange(null + 1)

    def _learn(self):
        """Finds the ids of pieces that have no more than a number."""
        count = len(self._numbers) - len(self._ends) + 1
        if not count:
            return
        new = list(itertools.islice(reversed(self._numbers), count))[::-1]
        try:
            lengths, ids = self.preprocessor.ids_of_pieces(new)
        except BaseException:
            # The next text would take them for known.
            self._forget()
            raise
        more = self._ends[-1] + np.cumsum(lengths)
        self._ends = np.concatenate([self._ends, more])
        self._ids = {
            name: np.concatenate([known, ids[name]])
            for name, known in self._ids.items()
        }

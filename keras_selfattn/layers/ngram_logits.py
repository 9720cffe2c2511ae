import keras
import numpy as np
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.ngram_layer import FEWEST_TEXTS
from keras_selfattn.layers.ngram_layer import NGramLayer


@keras.saving.register_keras_serializable(package="keras_selfattn")
class NGramLogits(NGramLayer):
    """The logits of a linear model of the n-grams of a text.

    It is the wide part of a wide and deep classifier, beside the deep one.

    1. Each run of `k` words, for the lengths `k` of `word_ngrams`, is an
        n-gram, and so is each run of `k` characters of a word, for those of
        `character_ngrams`, where the ends of a word count as a character.
    2. An n-gram of ids `x_1, ..., x_k` has the row `h_k` of the table, with
        `h_0 = ` the number of its kind and
        `h_i = (997 · h_{i-1} + x_i) mod num_buckets`. N-grams of the same row
        share it.
    3. The logits are the sum of the rows of all `m` n-grams over `√m`.

    So each n-gram has a share of each logit, and the shares sum to the logit.

    Args:
        num_classes: Integer, the number of logits.
        num_buckets: Integer, the number of rows of the table, up to
            1,048,576.
        word_ngrams: Sequence of integers, the lengths of n-grams of words.
            Defaults to `(1, 2)`.
        character_ngrams: Sequence of integers, those of n-grams of
            characters, for layers that read characters. Defaults to
            `(3, 4, 5)`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Integer tensor of shape `(batch, n)`, the ids of the words,
            where 0 is padding; or the pair of it and of one of shape `(batch,
            n, characters)`, the ids of the characters of each word, padded
            with 0 on the right.
        return_shares: Boolean, whether to return the shares too. Defaults to
            `False`.

    Returns:
        A tensor of shape `(batch, num_classes)`, and with `return_shares` one
        of shape `(batch, n, grams, num_classes)`: of the n-grams that begin
        with a word, and then of those within it, in the order that
        `names_of_grams` gives. A place without an n-gram has zeros.

    Raises:
        ValueError: if an argument is out of its range, or if the inputs are
            not of the ranks above.

    References:
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep
        - [Wang & Manning, 2012](https://aclanthology.org/P12-2018/),
            log-count ratios

    Example:

    >>> import numpy as np
    >>> layer = NGramLogits(num_classes=2, num_buckets=64)
    >>> token_ids = np.array([[3, 5], [5, 0], [3, 0]])
    >>> layer.build(token_ids.shape)
    >>> layer.adapt([(token_ids, np.array([0, 1, 1]))])
    >>> logits, shares = layer(token_ids, return_shares=True)
    >>> tuple(logits.shape), tuple(shares.shape)
    ((3, 2), (3, 2, 2, 2))
    >>> layer.names_of_grams(["not", "good"])
    [['not', 'not good'], ['good', '']]
    """

    def __init__(
        self,
        num_classes,
        num_buckets,
        word_ngrams=(1, 2),
        character_ngrams=(3, 4, 5),
        **kwargs,
    ):
        super().__init__(num_classes, num_buckets, word_ngrams, **kwargs)
        self.character_ngrams = validation.widths(
            character_ngrams, "character_ngrams"
        )

    def build(self, input_shape):
        _check_ranks(input_shape)
        super().build(input_shape)

    def sequences(self, inputs):
        words, characters = _pair(inputs)
        _check_ranks(keras.tree.map_structure(lambda each: each.shape, inputs))
        words = ops.cast(words, "int32")
        kinds = [(size, words) for size in self.word_ngrams]
        if characters is not None:
            characters = _with_ends(words, ops.cast(characters, "int32"))
            kinds += [(size, characters) for size in self.character_ngrams]
        return kinds

    def adapt(self, batches, scale=0.3):
        """Fill the table with the log-count ratios of labeled texts.

        For a class, `p` of the `P` n-grams that its texts have, each counted
        once a text, are those of a row, and `q` of the `Q` that the texts of
        the other classes have. With `N` rows that two texts or more have, the
        row's weight is
        `scale · (log((p + 1) / (P + N)) - log((q + 1) / (Q + N)))`.
        The others have zeros, and are not counted.

        Args:
            batches: Iterable of pairs of what `call` takes, and of the
                numbers of the classes, integers of shape `(batch,)`, or of
                how much a text is of each class, `(batch, num_classes)`.
            scale: Float, what the ratios are multiplied by. Defaults to
                `0.3`.

        Raises:
            ValueError: if the layer is not built, if there is no batch, or
                if the labels are others.
        """
        counts = np.zeros((self.num_buckets, self.num_classes))
        texts_of = np.zeros(self.num_buckets, "int64")
        batch = None
        for batch in batches:
            *grams, labels = self.grams(*batch)
            texts, rows = self.once(*grams)
            np.add.at(counts, rows, labels[texts])
            texts_of += np.bincount(rows, minlength=self.num_buckets)
        if batch is None:
            raise ValueError("Expected at least one batch. Received: none")
        occurs = texts_of >= FEWEST_TEXTS
        counts[~occurs] = 0
        known = counts[occurs]
        others = known.sum(axis=1, keepdims=True) - known
        counts[occurs] = scale * (_log_shares(known) - _log_shares(others))
        self.table.assign(counts)

    def names_of_grams(self, tokens, max_characters=0):
        """What stands in the places of `return_shares`.

        Args:
            tokens: List of strings, the words of a text.
            max_characters: Integer, how many characters of a word are read.

        Returns:
            A list, by word, of lists of strings, by place; `""` where there
            is no n-gram. An n-gram of characters has `_` where a word ends.

        Example:

        >>> layer = NGramLogits(2, 64, character_ngrams=[3])
        >>> layer.names_of_grams(["so", "good"], max_characters=2)
        [['so', 'so good', '_so', 'so_', '', ''], \
['good', '', '_go', 'go_', '', '']]
        """
        names = []
        for i, token in enumerate(tokens):
            names.append(
                [
                    " ".join(run) if len(run) == size else ""
                    for size in self.word_ngrams
                    for run in [tokens[i : i + size]]
                ]
            )
            spelled = f"_{token[:max_characters]}_"
            for size in self.character_ngrams * bool(max_characters):
                for first in range(max_characters + 2):
                    run = spelled[first : first + size]
                    names[-1].append(run if len(run) == size else "")
        return names

    def compute_output_shape(self, input_shape):
        _check_ranks(input_shape)
        return (_pair(input_shape)[0][0], self.num_classes)

    def compute_places_shape(self, input_shape):
        words, characters = _pair(input_shape)
        places = len(self.word_ngrams)
        if characters is not None and self.character_ngrams:
            length = characters[-1]
            if length is None:
                return (*words, None)
            places += len(self.character_ngrams) * (length + 2)
        return (*words, places)

    def get_config(self):
        return {
            **super().get_config(),
            "character_ngrams": self.character_ngrams,
        }


def _check_ranks(input_shape):
    words, characters = _pair(input_shape)
    if len(words) != 2 or len(characters or words) != 2 + bool(characters):
        raise ValueError(
            "NGramLogits expected word ids of shape (batch, n), or these and "
            "character ids of shape (batch, n, characters). Received: "
            f"inputs of shape {input_shape}"
        )


def _pair(inputs):
    """Words and characters, or `None`, of tensors or of shapes."""
    is_pair = isinstance(inputs, (tuple, list)) and not isinstance(
        inputs[0], (int, type(None))
    )
    return inputs if is_pair else (inputs, None)


def _log_shares(counts):
    counts = counts + 1
    return np.log(counts / counts.sum(axis=0))


def _with_ends(words, ids):
    """Character ids from 2 up, with 1 before and after each word."""
    is_word = ops.expand_dims(ops.not_equal(words, 0), -1)
    has = ops.logical_and(is_word, ops.not_equal(ids, 0))
    ids = ops.pad(ops.where(has, ids + 1, 0), ((0, 0), (0, 0), (1, 1)))
    has = ops.pad(ops.cast(has, "int32"), ((0, 0), (0, 0), (2, 2)))
    beside = ops.maximum(has[:, :, 2:], has[:, :, :-2])
    return ops.where(ops.equal(ids, 0), beside, ids)

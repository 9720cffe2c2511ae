"""Models that give several views of texts: a model's folder, a SavedModel."""

import numpy as np

from keras_selfattn import heads
from keras_selfattn import sides
from keras_selfattn.backends import compiled
from keras_selfattn.data.plan import BOUNDARIES
from keras_selfattn.data.plan import BatchPlan
from keras_selfattn.data.plan import padded_lengths
from keras_selfattn.encoding.views import ATTENTION
from keras_selfattn.encoding.views import EMBEDDING
from keras_selfattn.encoding.views import LABEL
from keras_selfattn.encoding.views import PROBABILITIES
from keras_selfattn.models.loading import load_whole
from keras_selfattn.serving.served_model import load_savedmodel
from keras_selfattn.serving.words import cropped
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.zoo.folders import find_model

# Of short texts; of long ones a batch holds as many words.
_MOST_ROWS = 256
_MOST_WORDS = 1 << 14
# Of a text that is cut at another number of words, the batch is smaller or
# larger than it might be.
_LONGEST = BOUNDARIES[-1]


def load_encoder(path, give, verify=True):
    """An encoder of the model at a path.

    Args:
        path: Path of the folder of a run, of a model, of one version of an
            export, or of its versions, whose newest is taken.
        give: What the encoder gives, names of `views.VIEWS`.
        verify: Boolean, whether files must be those that were written.

    Returns:
        A `ClassifierEncoder` or a `ServedEncoder`.

    Raises:
        ValueError: if there is no such model, or it can't give that.
    """
    if find_model(path) is None:
        return ServedEncoder(load_savedmodel(path, verify), give)
    return ClassifierEncoder(load_whole(str(path), verify), give)


class Encoder:
    """Gives columns of texts, computed in batches of similar length.

    Args:
        give: Names of `views.VIEWS`.
        is_pair: Boolean, whether the texts are pairs.
        labels: List of the names of the classes as strings.
    """

    def __init__(self, give, is_pair, labels):
        self.give = tuple(give)
        self.is_pair = is_pair
        self.labels = list(labels)

    def __call__(self, texts):
        """The columns of texts.

        Args:
            texts: List of strings, or of pairs of them; a `ValueError` stands
                for a text that there is none of.

        Returns:
            A dictionary by column: `"label"`, an array of strings;
            `"probabilities"`, a float32 array `(rows, classes)`;
            `"embedding"`, a float32 array `(rows, numbers)`; `"tokens"`, a
            list of lists of strings, and `"attention"`, a list of float32
            arrays `(heads, words)`. For pairs the last three are there for
            each side, such as `"premise_tokens"`. Where there is no text
            they have `""`, NaN and `None`.

        Raises:
            ValueError: if the texts are pairs and the model's are not, or
                the reverse.
        """
        good = [
            row for row, t in enumerate(texts) if not isinstance(t, ValueError)
        ]
        # So that columns without any text have a shape, too.
        asked = [texts[row] for row in good] or [self._some_text()]
        self._check_kind(asked[0])
        found = self._columns(asked)
        columns = {
            name: _with_gaps(values, good, len(texts))
            for name, values in found.items()
        }
        if LABEL in self.give:
            best = np.full(len(texts), -1)
            best[good] = found[PROBABILITIES][: len(good)].argmax(axis=-1)
            names = np.array([*self.labels, ""])
            columns = {LABEL: names[best], **columns}
        if PROBABILITIES not in self.give:
            columns.pop(PROBABILITIES, None)
        return columns

    def _columns(self, texts):
        rows = [None] * len(texts)
        for chosen in batches(texts):
            found = self._batch([texts[row] for row in chosen])
            for place, row in enumerate(chosen):
                rows[row] = {
                    name: values[place] for name, values in found.items()
                }
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return {
            name: values if _is_ragged(name) else np.stack(values)
            for name, values in columns.items()
        }

    def _batch(self, texts):
        """The columns of one batch, with one value, of any length, a row."""
        raise NotImplementedError

    def _wants_answers(self):
        return bool({LABEL, PROBABILITIES} & set(self.give))

    def _check_kind(self, text):
        if isinstance(text, str) == self.is_pair:
            raise ValueError(
                "The model takes pairs of texts: name the second column of a "
                "file by --text-pair (`text_pair`)"
                if self.is_pair
                else "The model takes single texts, and no second column"
            )

    def _some_text(self):
        return ("a", "a") if self.is_pair else "a"


class ClassifierEncoder(Encoder):
    """The encoder of a classifier; one pass gives all that is wanted.

    Args:
        model: A classifier with its `preprocessor` and `labels`.
        give: Names of `views.VIEWS`.
    """

    def __init__(self, model, give):
        super().__init__(give, len(model.sides) > 1, map(str, model.labels))
        self._model = model
        self._look = compiled.views(
            model,
            answers=self._wants_answers(),
            embeddings=EMBEDDING in give,
            attention=ATTENTION in give,
        )
        # The first batch of all is not computed by the graph, and differs
        # from the graph's in the last digit.
        self([self._some_text()])

    def _batch(self, texts):
        # JAX compiles anew for each number of rows.
        more = compiled.padded_rows(len(texts)) - len(texts)
        asked = texts + texts[-1:] * more
        found = self._look(self._model.preprocess(asked))
        columns = {}
        if "outputs" in found:
            columns[PROBABILITIES] = found.pop("outputs")
        if "sentence_embedding" in found:
            embeddings = found.pop("sentence_embedding")
            columns |= dict(self._by_side(EMBEDDING, embeddings, _flat))
        if ATTENTION in self.give:
            columns |= self._attention(texts, found)
        return columns

    def _attention(self, texts, found):
        scores = found.get("alignment_scores", found.get("attention_scores"))
        outputs = dict(self._by_side("scores", scores, heads.of_words))
        intra = found.get("intra_sentence_scores")
        if intra:
            outputs |= dict(self._by_side("intra_scores", intra))
        sentences = [texts] if not self.is_pair else zip(*texts, strict=True)
        tokens = [
            self._model.preprocessor.tokenize(list(side)).to_list()
            for side in sentences
        ]
        outputs |= dict(
            self._by_side("tokens", tokens if self.is_pair else tokens[0])
        )
        return _attention(
            outputs, len(texts), self.is_pair and not self._model.has_heads
        )

    def _by_side(self, name, values, change=lambda value: value):
        names = sides.PAIR if self.is_pair else sides.SENTENCE
        # Decomposable attention embeds the pair, and neither side alone.
        if not isinstance(values, (list, tuple)) or not self.is_pair:
            names, values = ("",), [values]
        for side, value in zip(names, values, strict=True):
            yield f"{side}{name}", change(value)


class ServedEncoder(Encoder):
    """The encoder of a SavedModel.

    Args:
        served: A `keras_selfattn.serving.ServedModel`.
        give: Names of `views.VIEWS`.
    """

    def __init__(self, served, give):
        is_pair = len(served.input_names) > 1
        super().__init__(give, is_pair, served.labels)
        attend = "align" if is_pair else "attend"
        wanted = {
            "serving_default": self._wants_answers(),
            "embed": EMBEDDING in give,
            attend: ATTENTION in give,
        }
        self._signatures = [name for name, is_in in wanted.items() if is_in]
        self._served = served
        missing = set(self._signatures) - set(served.signatures)
        if missing:
            raise ValueError(
                f"`give` must be without embedding: {served.folder} has no "
                "signature 'embed', as a model of decomposable attention "
                f"embeds no sentence. Received: give={self.give}"
            )

    def _batch(self, texts):
        found = self._served.run_together(self._signatures, texts)
        found.pop(LABEL, None)
        columns = {}
        if PROBABILITIES in found:
            columns[PROBABILITIES] = found.pop(PROBABILITIES)
        for side in (*sides.SENTENCE, *sides.PAIR):
            name = f"{side}{EMBEDDING}"
            if name in found:
                columns[name] = _flat(found.pop(name))
        if found:
            aligned = self.is_pair and "embed" not in self._served.signatures
            columns |= _attention(found, len(texts), aligned)
        return columns


def batches(texts):
    """The numbers of the rows of each batch, of texts of similar length.

    Args:
        texts: List of strings, or of pairs of them, at least one.

    Yields:
        Integer arrays.

    Example:

    >>> [rows.tolist() for rows in batches(["a b c", "a", "a b"])]
    [[1, 2, 0]]
    """
    lengths = np.array(
        [
            [
                min(text.count(" ") + 1, _LONGEST)
                for text in sides.sentences(row)
            ]
            for row in texts
        ]
    )
    plan = BatchPlan(lengths, BOUNDARIES, 1, False, 0, False, by_length=True)
    start = 0
    while start < len(texts):
        rows = plan.rows[start : start + _MOST_ROWS]
        widths = padded_lengths(lengths[rows].max(axis=1))
        # The widest of the first `k` rows makes `k` rows of its width.
        words = np.maximum.accumulate(widths) * np.arange(1, len(rows) + 1)
        count = max(1, np.count_nonzero(words <= _MOST_WORDS))
        yield rows[:count]
        start += count


def _attention(outputs, count, is_aligned):
    """Tokens and scores, named as columns, of each row without padding."""
    rows = [
        cropped(
            {name: values[row] for name, values in outputs.items()}, is_aligned
        )
        for row in range(count)
    ]
    columns = {}
    for side in (*sides.SENTENCE, *sides.PAIR):
        name = f"{side}tokens"
        if name in outputs:
            columns[name] = [[*map(decoded, row[name])] for row in rows]
        for name in (f"{side}scores", f"{side}intra_scores"):
            if name in outputs:
                column = name.replace("scores", ATTENTION)
                columns[column] = [row[name] for row in rows]
    return columns


def _is_ragged(name):
    return name.endswith(("tokens", ATTENTION))


def _flat(rows):
    return rows.reshape(len(rows), -1)


def _with_gaps(values, good, count):
    """The values of the good rows among `count`, of which others are empty."""
    if isinstance(values, list):
        by_row = dict(zip(good, values, strict=False))
        return [by_row.get(row) for row in range(count)]
    result = np.full((count, *values.shape[1:]), np.nan, "float32")
    result[good] = values[: len(good)]
    return result

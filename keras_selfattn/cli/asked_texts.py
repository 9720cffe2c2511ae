"""The texts that commands ask a model about."""

import os

from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli.notes import note
from keras_selfattn.data import formats
from keras_selfattn.data.pipes import STANDARD_INPUT
from keras_selfattn.sides import sentences
from keras_selfattn.streams import chunks

# How many texts are asked at once.
BATCH = 64
_EXPECTED = (
    "Expected texts, or --file with a file of texts, or --pair with the two "
    "of a pair"
)


def add_texts(parser):
    models.add_model(parser)
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="or - for standard input"
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        metavar=("PREMISE", "HYPOTHESIS"),
        action="append",
        default=[],
        help="the two texts of a pair; may be given several times",
    )
    parser.add_argument(
        "--file", help="a file of texts instead, - for standard input"
    )
    corpora.add_text_columns(parser)


def typed_texts(options):
    """The texts and pairs that are typed, or `None` where a file is given.

    A text that is the name of a file is noted.

    Raises:
        ValueError: if there is neither, or both; or if a file is described
            where texts are typed.
    """
    if options.texts == [STANDARD_INPUT] and options.file is None:
        options.texts, options.file = [], STANDARD_INPUT
    given = [options.texts, options.pair, options.file]
    if sum(map(bool, given)) != 1:
        raise ValueError(_EXPECTED)
    if options.file:
        return None
    # It tells why an option of files is refused.
    for text in filter(os.path.isfile, options.texts):
        note(f"{text!r} is taken for a text; --file reads the file")
    corpora.refuse_file_options(
        options, "is for a file of texts; these are typed"
    )
    return options.texts or [tuple(pair) for pair in options.pair]


def open_file(options, labelled, forgiving=False):
    """The corpus of `--file`, with labels where they are wanted and told."""
    chosen = (
        options.text,
        options.text_pair,
        options.label,
        options.delimiter,
    )
    format = options.format or formats.guess_format(
        options.file, any(chosen), labelled and options.label is not None
    )
    options.format = format
    # The published corpora say themselves where their labels are.
    known = options.label is not None or format in (formats.NLI, formats.PAN)
    return corpora.open_corpus(
        options.file, options, options.split, labelled and known, forgiving
    )


class Unread:
    """Counts the words that a model does not read of texts.

    Args:
        model: The classifier.
    """

    def __init__(self, model):
        self._preprocessor = model.preprocessor
        self._words = self._texts = 0

    def add(self, texts):
        """Count the words of a list of texts, or of pairs."""
        counts = sum(
            self._preprocessor.count_unread(column)
            for column in zip(*map(sentences, texts), strict=True)
        )
        self._words += int(counts.sum())
        self._texts += int((counts > 0).sum())

    def among(self, records):
        """The same records, whose texts are counted."""
        for chunk in chunks(records, BATCH):
            self.add([text for text, *_ in chunk])
            yield from chunk

    def tell(self):
        """Note how many there were, if any."""
        if self._texts:
            note(
                f"{self._words:,} words of {self._texts:,} texts were not "
                "read: they lie beyond `max_tokens`"
            )


def columns(text):
    """The text of a row, or the two of a pair, by column."""
    if isinstance(text, str):
        return {"text": text}
    return dict(zip(("text", "text_pair"), text, strict=True))


def first_text(model, corpus):
    """The first text of a corpus, whose labels are to be the model's.

    Raises:
        ValueError: if the model is for texts of the other kind, or the corpus
            has too many bad rows.
    """
    corpus.expect(model.labels)
    text, _ = next(iter(corpus))
    check_kind(model, not isinstance(text, str))
    return text


def check_kind(model, is_pair):
    """`ValueError` where a model of pairs is given texts, or the reverse."""
    if (len(model.sides) == 2) == is_pair:
        return
    raise ValueError(
        "The model takes single texts, and no --pair or --text-pair"
        if is_pair
        else "The model takes pairs of texts: type them as --pair PREMISE "
        "HYPOTHESIS, or name the second column of a file by --text-pair"
    )

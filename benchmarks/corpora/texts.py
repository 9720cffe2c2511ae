"""The corpora of the folder that KERAS_SELFATTN_DATA names."""

import dataclasses
import functools
import os
import pathlib
import random

from keras_selfattn.data.corpus import Corpus

NO_GOLD_LABEL = "-"


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the rows of a corpus are.

    Attributes:
        title: Its name in pictures and tables.
        train: The file of the training rows.
        train_more: Further files of such.
        large: Whether all rows take a linear model minutes, and stock Keras
            hours.
        dev: That of the dev rows.
        label: The field with the label.
        sides: The fields with the text or texts.
        held_out: How many training rows are the dev rows, where it has none.
    """

    title: str
    train: str
    dev: str | None
    label: str = "label"
    sides: tuple = ("text",)
    held_out: int = 0
    train_more: tuple = ()
    large: bool = False


def _task(title, name):
    return Source(
        title, f"tasks/{name}_train.jsonl.gz", f"tasks/{name}_dev.jsonl.gz"
    )


def _pairs(title, train, dev, **more):
    sides = ("sentence1", "sentence2")
    return Source(title, train, dev, "gold_label", sides, large=True, **more)


CORPORA = {
    "trec": _task("TREC", "trec"),
    "cr": _task("CR", "cr"),
    "mr": _task("MR", "mr"),
    "subj": _task("Subj", "subj"),
    "mpqa": _task("MPQA", "mpqa"),
    "sst_fine": Source(
        "SST, 5 classes",
        "sst/sst_fine_train.jsonl.gz",
        "sst/sst_fine_dev.jsonl.gz",
    ),
    "sst_binary": Source(
        "SST, 2 classes",
        "sst/sst_binary_train.jsonl.gz",
        "sst/sst_binary_dev.jsonl.gz",
    ),
    "yelp": Source(
        "Yelp",
        "yelp/yelp_review_train.jsonl.gz",
        "yelp/yelp_review_dev.jsonl.gz",
        "stars",
    ),
    "imdb": Source(
        "IMDB", "imdb/imdb_train.jsonl.gz", None, held_out=5000, large=True
    ),
    "age": Source(
        "blog age",
        "age/blog_age_train.jsonl.gz",
        "age/blog_age_dev.jsonl.gz",
        "age_group",
        large=True,
    ),
    "snli": _pairs(
        "SNLI",
        "snli/snli_1.0_train_part.jsonl.gz",
        "snli/snli_1.0_dev.jsonl.gz",
    ),
    "snli_both": _pairs(
        "SNLI, both parts",
        "snli/snli_1.0_train_part.jsonl.gz",
        "snli/snli_1.0_dev.jsonl.gz",
        train_more=("snli/snli_1.0_train_part2.jsonl.gz",),
    ),
    "multinli": _pairs(
        "MultiNLI",
        "multinli/multinli_1.0_train_part.jsonl.gz",
        "multinli/multinli_1.0_dev_matched_part.jsonl.gz",
    ),
}
VECTORS = "vectors/word2vec_googlenews_8000x300.txt.gz"
GLOVE = "vectors/glove.6B.50d_top9163.txt.gz"


def data_path(name):
    """The path of a file of the folder."""
    folder = os.environ.get("KERAS_SELFATTN_DATA")
    if not folder:
        raise SystemExit(
            "expected a folder of corpora in KERAS_SELFATTN_DATA, received "
            "nothing"
        )
    return pathlib.Path(folder) / name


def sides_of(name):
    return len(CORPORA[name].sides)


@functools.lru_cache(maxsize=2)
def read(name):
    """All training rows of a corpus in a fixed random order, and dev rows.

    Any first rows are a random part of all, the same for all who ask.
    """
    source = CORPORA[name]
    files = (source.train, *source.train_more)
    train = [row for file in files for row in _read(source, file)]
    random.Random(0).shuffle(train)
    if source.dev is not None:
        return train, _read(source, source.dev)
    return train[source.held_out :], train[: source.held_out]


def _read(source, file):
    text, *text_pair = source.sides
    columns = {"text_pair": text_pair[0]} if text_pair else {}
    rows = Corpus(data_path(file), text, source.label, **columns)
    # Pairs that annotators disagreed on.
    return [row for row in rows if row[1] != NO_GOLD_LABEL]

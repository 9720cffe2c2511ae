"""How fast texts become words and ids, beside the graph that is served.

    python -m benchmarks.text
    python -m benchmarks.text same --texts 200000

The first prints microseconds of processor time a review, one core, for the two
passes over a corpus: counting its words and making ids of them. The ways take
turns, each on the same reviews and with nothing known at the start: real ones,
whose words are new at first, and made ones, which repeat their words as a
corpus of millions does. The second compares all tokens, ids and counts of texts
of all kinds, of which every tenth is damaged. Real texts are those of the
folder that KERAS_SELFATTN_DATA names.
"""

import argparse
import collections
import gzip
import itertools
import json
import random
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

from benchmarks.corpora.texts import data_path
from benchmarks.corpus_size import made_reviews
from benchmarks.tables import median_and_range
from benchmarks.tables import print_table
from keras_selfattn.data.remembered_ids import RememberedIds
from keras_selfattn.streams import chunks
from keras_selfattn.text import UNKNOWN
from keras_selfattn.text import PennTreebankTokenizer
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.text import string_tensor

FIELDS = ("text", "sentence1", "sentence2")
REVIEWS = "imdb"
AT_ONCE = 1024
# What is put into the texts of `same`.
SCRAPS = [
    *(" ", "\t", "\n", "\x00", "\x1c", "\x85", "\u00a0", "\u2028", "\ufeff"),
    *(".", "..", ". ", "J.", " J. ", "--", "'", "''", '"', ' "', "‘", "”"),
    *("\ud83d", "\ude00", "😀", "Σ", "é", "好", "cannot", "n't", "'s", "$"),
    "x" * 3000,
]


def read_texts(folder):
    """All texts of the files in a folder."""
    for path in sorted(folder.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                yield from (record[f] for f in FIELDS if record.get(f))


def ids_by_graph(preprocessor, texts):
    """Ids of each text through the graph."""
    padded = preprocessor(texts)["token_ids"].numpy()
    kept = padded != 0
    return kept.sum(axis=1), padded[kept]


def counts_by_graph(texts, tokenizer):
    totals = collections.Counter()
    for some in chunks(texts, AT_ONCE):
        tokens = tokenizer(string_tensor(some)).values
        words, _, counts = tf.unique_with_counts(tokens)
        found = (words.numpy().tolist(), counts.numpy().tolist())
        for word, count in zip(*found, strict=True):
            totals[word.decode()] += count
    totals.pop(UNKNOWN, None)
    return totals


def times(name, texts, turns):
    """The table's rows of processor time of the two passes, by both ways."""
    tokenizer = PennTreebankTokenizer()
    preprocessor = TextPreprocessor(list(count_words(texts)), max_tokens=512)

    def encode(give):
        for some in chunks(texts, AT_ONCE):
            give(some)

    ways = {
        ("words counted", "the graph"): (
            lambda: counts_by_graph(texts, tokenizer)
        ),
        ("words counted", "ours"): lambda: count_words(texts),
        ("ids", "the graph"): (
            lambda: encode(lambda some: ids_by_graph(preprocessor, some))
        ),
        ("ids", "ours"): lambda: encode(RememberedIds(preprocessor)),
    }
    taken = collections.defaultdict(list)
    for turn in range(turns + 1):
        for way, work in ways.items():
            started = time.process_time()
            work()
            # The first turn warms up.
            if turn:
                taken[way].append(time.process_time() - started)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    words = sum(len(text.split()) for text in texts)
    print(
        f"{len(texts):,} {name} reviews of {words / len(texts):.0f} words, "
        f"vocabulary {preprocessor.vocabulary_size():,}"
    )
    for (task, way), seconds in taken.items():
        ratios = np.divide(taken[task, "the graph"], seconds)
        yield [
            *(name, task, way),
            f"{1e6 * statistics.median(seconds) / len(texts):.0f}",
            f"{1e9 * statistics.median(seconds) / words:.0f}",
            median_and_range(ratios),
        ]


def damaged(texts, rng):
    """The texts, every tenth with something put into it."""
    for number, text in enumerate(texts):
        if number % 10 == 0:
            for _ in range(rng.randrange(1, 9)):
                place = rng.randrange(len(text) + 1)
                text = text[:place] + rng.choice(SCRAPS) + text[place:]
        yield text


def same(texts):
    """Compare counts and ids of both ways, or end with the first difference."""
    rng = random.Random(0)
    texts = list(damaged(texts, rng))
    words = {}
    for lowercase in (False, True):
        words = count_words(texts, lowercase)
        expected = counts_by_graph(texts, PennTreebankTokenizer(lowercase))
        if words != dict(expected):
            raise SystemExit(f"Counts differ, lowercase={lowercase}")
    # Half of the words are known, the others are told apart by their hash.
    vocabulary = list(words)[::2]
    tokens = 0
    for arguments in (
        {"lowercase": True, "num_oov_indices": 1000},
        {"prepend_null": True, "max_tokens": 60},
    ):
        preprocessor = TextPreprocessor(vocabulary, **arguments)
        remembered = RememberedIds(preprocessor)
        for some in chunks(texts, AT_ONCE):
            lengths, features = remembered(some)
            expected_lengths, expected = ids_by_graph(preprocessor, some)
            tokens += len(expected)
            if not (
                np.array_equal(lengths, expected_lengths)
                and np.array_equal(features["token_ids"], expected)
            ):
                raise SystemExit(f"Ids differ, {arguments}")
    print(
        f"{len(texts):,} texts: the same counts of {len(words):,} words, and "
        f"the same {tokens:,} ids"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what", nargs="?", default="times", choices=("times", "same")
    )
    parser.add_argument("--texts", type=int, help="how many")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    folder = data_path("")
    if options.what == "times":
        count = options.texts or 8000
        made = made_reviews(5 * count, np.random.default_rng(0))
        corpora = {
            "real": [*itertools.islice(read_texts(folder / REVIEWS), count)],
            "made": [text for text, _ in made],
        }
        rows = [
            row
            for name, texts in corpora.items()
            for row in times(name, texts, options.turns)
        ]
        header = ["reviews", "pass", "by", "µs a review", "ns a word"]
        print_table([*header, "times as fast"], rows)
        return
    texts = list(read_texts(folder))
    # Of all files as many as they have.
    random.Random(0).shuffle(texts)
    same(texts[: options.texts])


if __name__ == "__main__":
    main()

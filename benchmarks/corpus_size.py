"""Peak memory of reading, encoding and batching corpora of published sizes.

    python -m benchmarks.corpus_size

writes a file of 549,367 generated pairs, SNLI's number, and one of 2.7 million
reviews of about 150 words into a temporary folder. Each then goes through what
`keras_selfattn.training.train` does with it before and during an epoch, in a
process of its own: read, count the words, encode, one shuffled pass of
batches, the model being there. Beside it stands the peak of a process that
only imports TensorFlow and builds the model, and a preprocessor of as many
words; a difference of more than `BOUND_MIB` at the end is an error. `--quick`
takes a hundredth of the rows, `--rows` any other number.

Reviews are put together from generated ones, and one word in twelve is made
up, drawn by Zipf's law, so that the vocabulary grows as that of real text.
"""

import argparse
import json
import multiprocessing
import pathlib
import resource
import sys
import tempfile
import time

import numpy as np

from benchmarks.tables import print_table
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

# Rows, preset, batch size.
CORPORA = {
    "pairs": (549_367, "parikh2016_snli", 32),
    "reviews": (2_700_000, "lin2017_yelp", 32),
}
# More than a process takes that only has the model and its vocabulary.
BOUND_MIB = 300
POOL = 5000
WORDS = 150
STEPS = ("read", "words counted", "encoded", "one pass of batches")


def write_pairs(path, rows, rng):
    """Pairs of a pool, and a made-up word at the end of each sentence."""
    pool = list(generate_pairs(POOL, seed=0))
    with open(path, "w") as file:
        for i, zipf in enumerate(rng.zipf(1.3, (rows, 2))):
            pair = pool[i % POOL]
            record = {
                "premise": f"{pair.premise} w{zipf[0] % 10**7}",
                "hypothesis": f"{pair.hypothesis} w{zipf[1] % 10**7}",
                "label": pair.label,
            }
            file.write(json.dumps(record) + "\n")


def made_reviews(rows, rng):
    """Reviews of a pool, put together up to a length of about 150 words.

    Yields:
        Pairs of text and label.
    """
    pool = list(generate_reviews(POOL, seed=0))
    lengths = rng.gamma(2.0, WORDS / 2, rows)
    for length in lengths:
        texts, words = [], 0
        first = rng.integers(POOL)
        while words < length:
            review = pool[(first + len(texts)) % POOL]
            texts.append(review.text)
            words += len(review.tokens)
        made_up = rng.zipf(1.3, max(1, words // 12)) % 10**7
        texts.extend(f"w{number}" for number in made_up)
        yield " ".join(texts), pool[first].label


def write_reviews(path, rows, rng):
    with open(path, "w") as file:
        for text, label in made_reviews(rows, rng):
            file.write(json.dumps({"text": text, "label": label}) + "\n")


def peak():
    """The peak memory of this process in MiB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes, but on macOS.
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def build_model(preset, vocabulary_size):
    from keras_selfattn import models

    return models.from_preset(
        preset,
        vocabulary_size=vocabulary_size,
        num_classes=models.get_preset(preset).num_classes,
    )


def model_alone(preset, vocabulary_size):
    """The peak of a process that only builds the model and its vocabulary."""
    from keras_selfattn.text import TextPreprocessor

    # Two ids are no words.
    words = [f"w{number}" for number in range(vocabulary_size - 2)]
    preprocessor = TextPreprocessor(words, max_tokens=512)
    model = build_model(preset, preprocessor.vocabulary_size())
    preprocessor(["w1"])
    del model
    return peak()


def measure(name, path, folder):
    """Peaks and seconds after each of `STEPS`, and what was found."""
    from keras_selfattn import models
    from keras_selfattn import training
    from keras_selfattn.data.batches import EncodedDataset

    _, preset, batch_size = CORPORA[name]
    corpus = Corpus(path)
    if name == "pairs":
        corpus = Corpus(path, text="premise", text_pair="hypothesis")
    values = models.get_preset(preset)
    figures = []

    def note(started):
        figures.append((peak(), time.perf_counter() - started))
        return time.perf_counter()

    started = time.perf_counter()
    rows = sum(1 for _ in corpus)
    started = note(started)
    preprocessor, _ = training.make_preprocessor(
        corpus, {"max_tokens": 512, **values.training}, None, values.model
    )
    started = note(started)
    data = EncodedDataset.from_texts(corpus, preprocessor, folder=folder)
    started = note(started)
    # As in a training; kept until its end.
    model = build_model(preset, preprocessor.vocabulary_size())
    batches = sum(1 for _ in data.batches(batch_size, shuffle=True))
    note(started)
    del model
    assert batches == -(-rows // batch_size)
    return {
        "rows": rows,
        "tokens": int(data.lengths.sum()),
        "vocabulary": preprocessor.vocabulary_size(),
        "figures": figures,
    }


def in_a_process(function, *arguments):
    """Calls a function in a process of its own: a peak never falls."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="of each corpus")
    parser.add_argument(
        "--quick", action="store_true", help="a hundredth of the rows"
    )
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    options = parser.parse_args()
    table = []
    for name in options.corpus or CORPORA:
        rows, preset, _ = CORPORA[name]
        rows = options.rows or (rows // 100 if options.quick else rows)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.jsonl"
            write = write_pairs if name == "pairs" else write_reviews
            write(path, rows, np.random.default_rng(0))
            size = path.stat().st_size
            found = in_a_process(measure, name, path, f"{folder}/data")
            files = pathlib.Path(folder, "data").glob("*.npy")
            encoded = sum(file.stat().st_size for file in files)
        alone = in_a_process(model_alone, preset, found["vocabulary"])
        for step, (memory, seconds) in zip(
            STEPS, found["figures"], strict=True
        ):
            table.append(
                [name, step, f"{memory:.0f}", f"{seconds:.0f}", f"{alone:.0f}"]
            )
        print(
            f"{name}: {found['rows']:,} rows, {found['tokens']:,} tokens, "
            f"vocabulary {found['vocabulary']:,}; file {size / 2**20:.0f} MiB, "
            f"encoded {encoded / 2**20:.0f} MiB",
            flush=True,
        )
        more = found["figures"][-1][0] - alone
        if more > BOUND_MIB:
            raise SystemExit(
                f"{name}: {more:.0f} MiB beside model and vocabulary, where "
                f"{BOUND_MIB} MiB are promised"
            )
    print_table(
        [
            "corpus",
            "after",
            "peak MiB",
            "seconds",
            "TensorFlow, model and vocabulary alone MiB",
        ],
        table,
    )


if __name__ == "__main__":
    main()

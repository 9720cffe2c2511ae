"""Corpora of many files as ids in a folder, made by several processes.

The folder has the settings, the vocabulary, the ids of each file in `train/`
and those of the dev texts in `dev/`. `manifest.json` comes last. What is there
is not made again, and its bytes are those that any number of processes makes.
"""

import collections
import functools
import itertools
import json
import os
import pathlib
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_selfattn import sides
from keras_selfattn import validation
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import write_checksums
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.corpora import expect
from keras_selfattn.data.labeled_rows import check_rows
from keras_selfattn.data.labeled_rows import labeled_rows
from keras_selfattn.data.remembered_ids import RememberedIds
from keras_selfattn.data.shards import load_shard
from keras_selfattn.files import read_json
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import write_json
from keras_selfattn.files import write_text
from keras_selfattn.labels import of_texts
from keras_selfattn.labels import plain_label
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.models import get_preset
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.training.mapping import mapping
from keras_selfattn.training.preparation import check_data
from keras_selfattn.training.preparation import check_vectors
from keras_selfattn.training.preparation import preprocessor_of
from keras_selfattn.training.prepared_folder import PREPROCESSOR_FOLDER
from keras_selfattn.training.prepared_folder import VECTORS_FILE
from keras_selfattn.training.prepared_folder import text_settings
from keras_selfattn.training.settings import MANIFEST_FILE
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.settings import check_new
from keras_selfattn.training.settings import write_settings
from keras_selfattn.training.told_files import check_told
from keras_selfattn.training.told_files import told
from keras_selfattn.training.values import training_values

# So many that a window has several shards, and each is read at once.
_SHARD_ROWS = 2**16
_CONFIG_FILE = "preprocessor.json"
_COUNTS_FOLDER = "counts"
_DEV = "dev"


def prepare_shards(
    preset: str,
    train_texts: Sequence[Iterable],
    dev_texts: Iterable,
    folder: str | os.PathLike,
    vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    resume: bool = False,
    model_overrides: Mapping | None = None,
    training_overrides: Mapping | None = None,
    processes: int | None = None,
    shard_rows: int = _SHARD_ROWS,
    ray_address: str | None = None,
) -> dict[str, Any]:
    """Make texts of many files into ids in a folder, which `train` takes.

    Each file is read twice: for its words and labels, and for its ids. Files
    are shared out to the processes, and no more than a part of a file is in
    memory.

    Args:
        preset: The name of a preset.
        train_texts: List of re-iterables of `(text, label)`, one for each
            file, such as `keras_selfattn.data.Corpus`.
        dev_texts: Re-iterable of `(text, label)`.
        folder: Path of the folder, a new one.
        vectors: As in `train`.
        resume: Boolean, whether to go on with what is in `folder`.
        model_overrides: As in `train`.
        training_overrides: As in `train`. Of these the ids depend on
            `lowercase`, `max_tokens`, `prepend_null`, `num_oov_indices`,
            `min_count` and `unseen_words`.
        processes: Integer, how many work at a time. Defaults to the number of
            cores. A script that asks for several has its own code behind
            `if __name__ == "__main__":`.
        shard_rows: Integer, the rows of a shard at most.
        ray_address: Address of a Ray cluster that has the processes, one a
            core, whose machines see all paths under the same names; or `None`
            for this machine.

    Returns:
        A dictionary of the `"rows"` and `"tokens"` of the training texts, the
        number of their `"shards"`, and in `"left_out"`, by file, what its
        report says of rows that were left out.

    Raises:
        ValueError: if the folder is not empty and `resume` is not given, if
            what is there has other settings or files, if the texts are not
            as expected, or if no cluster answers.
        ImportError: if Ray is not installed and an address is given.
        ChildProcessError: if a process was ended from outside.
    """
    if processes is None:
        processes = os.cpu_count() or 1
    validation.integer(processes, "processes")
    validation.integer(shard_rows, "shard_rows")
    folder = pathlib.Path(folder)
    values = get_preset(preset)
    training = training_values(values, training_overrides or {})
    model = {**values.model, **arguments.plain(model_overrides or {})}
    train_texts = list(train_texts)
    if not train_texts:
        raise ValueError("`train_texts` must hold a file. Received: none")
    for texts in train_texts:
        check_rows(texts, "train_texts")
    check_rows(dev_texts, "dev_texts")
    check_vectors(training, vectors)
    settings = {
        "preset": preset,
        "texts": text_settings(training, model, vectors),
        "shard_rows": shard_rows,
        "files": [told(texts) for texts in train_texts],
        "dev": told(dev_texts),
    }
    with folder_held(folder):
        if resume:
            check_told(folder / SETTINGS_FILE, settings)
        else:
            check_new(folder, "preparation", _COUNTS_FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(folder / SETTINGS_FILE, settings)
        count = min(processes, len(train_texts))
        with mapping(count, ray_address) as map_files:
            words, labels, left_out = _counted(
                folder, training["lowercase"], train_texts, map_files
            )
            _write_preprocessor(folder, words, training, model, vectors)
            expect(dev_texts, labels)
            (dev,) = _encode(folder, labels, _DEV, dev_texts)
            dev_data = load_shard(folder / dev["name"], labels)
            # Before the ids of many files are made.
            check_data(preset, dev_data, dev_data)
            shards = _encoded(
                folder, labels, train_texts, shard_rows, map_files
            )
        for shard in shards:
            train_data = load_shard(folder / shard["name"], labels)
            check_data(preset, train_data, dev_data)
        manifest = {
            "settings": settings,
            "labels": labels,
            "pairs": dev_data.is_pair,
            "shards": shards,
            "dev": dev,
        }
        write_text(
            folder / MANIFEST_FILE, json.dumps(manifest, indent=1) + "\n"
        )
    return {
        "rows": sum(shard["rows"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "shards": len(shards),
        "left_out": left_out,
    }


def _counted(folder, lowercase, train_texts, map_files):
    """The words of all files by their counts, the labels, and the reports."""
    counts_folder = folder / _COUNTS_FOLDER
    counts_folder.mkdir(exist_ok=True)
    count = functools.partial(_count, counts_folder, lowercase)
    words, labels, left_out = collections.Counter(), {}, {}
    for found in map_files(count, range(len(train_texts)), train_texts):
        found = read_json(found)
        words.update(found["words"])
        labels.update(dict.fromkeys(found["labels"]))
        if found["left_out"]:
            left_out[found["path"]] = found["left_out"]
    words = {w: words[w] for w in sorted(words, key=lambda w: (-words[w], w))}
    return words, of_texts(labels), left_out


def _write_preprocessor(folder, words, training, model, vectors):
    preprocessor, found = preprocessor_of(words, training, vectors, model)
    there = folder / PREPROCESSOR_FOLDER
    with replaced_folder(there) as beside:
        # Ids that are there already are those of its words.
        if there.exists() and preprocessor.get_vocabulary() != (
            TextPreprocessor.load(there).get_vocabulary()
        ):
            raise ValueError(
                "A preparation is resumed with the word vectors it was "
                f"started with. Received: {vectors}, which has them for "
                f"other words than those of {there}"
            )
        preprocessor.save(beside)
        # Keras has numbered its name.
        path = beside / _CONFIG_FILE
        config = {**read_json(path), "name": "text_preprocessor"}
        write_json(path, config)
        if found is not None:
            np.savez(beside / VECTORS_FILE, vectors=found[0], found=found[1])
        write_checksums(beside)


def _encoded(folder, labels, train_texts, shard_rows, map_files):
    """What the manifest has of the shards of all files, in their order."""
    encode = functools.partial(_encode, folder, labels, shard_rows=shard_rows)
    names = [f"train/{number:05}" for number in range(len(train_texts))]
    found = map_files(encode, names, train_texts)
    return list(itertools.chain.from_iterable(found))


def _count(folder, lowercase, number, texts):
    """Count the words and labels of a file, and return where they stand."""
    path = folder / f"{number:05}.json"
    if path.exists():
        return path
    labels = {}

    def strings():
        for text, label in labeled_rows(texts):
            labels[plain_label(label)] = None
            yield from sides.sentences(text)

    words = count_words(strings(), lowercase)
    report = getattr(texts, "report", None)
    found = {
        "path": str(getattr(texts, "path", number)),
        "labels": list(labels),
        "left_out": str(report) if report and report.counts else None,
        "words": words,
    }
    write_text(path, json.dumps(found))
    return path


def _encode(folder, labels, name, texts, shard_rows=None):
    """Write the ids of a file as shards, and return what the manifest has."""
    remembered = _remembered(str(folder / PREPROCESSOR_FOLDER))
    rows = iter(texts)
    shards = []
    for number in itertools.count():
        first = next(rows, None)
        if first is None:
            return shards
        part = itertools.chain([first], rows)
        if shard_rows is not None:
            part = itertools.islice(part, shard_rows)
        shard = f"{name}-{number:04}"
        is_there = (folder / shard).exists()
        if is_there:
            # Read on to where the next one begins.
            collections.deque(part, maxlen=0)
        else:
            with replaced_folder(folder / shard) as beside:
                EncodedDataset.from_texts(
                    part, remembered, labels=labels, folder=beside
                )
                write_checksums(beside)
        # What has just been written need not be read again.
        shards.append(_entry(folder, shard, labels, verify=is_there))


def _entry(folder, shard, labels, verify):
    dataset = load_shard(folder / shard, labels, verify)
    checksums = (folder / shard / CHECKSUMS_FILE).read_bytes()
    return {
        "name": shard,
        "rows": len(dataset),
        "tokens": dataset.tokens(),
        "classes": dataset.class_counts(len(labels)).tolist(),
        "checksum": zlib.crc32(checksums),
    }


@functools.lru_cache(maxsize=1)
def _remembered(folder):
    # Of all shards that a process makes.
    return RememberedIds(TextPreprocessor.load(folder))

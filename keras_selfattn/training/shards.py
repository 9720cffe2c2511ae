"""Corpora of many files as ids in a folder, made by several processes.

The folder has the settings, the vocabulary, the ids of each file in `train/`
and those of the dev texts in `dev/`. `manifest.json` comes last. What is there
is not made again, and its bytes are those that any number of processes makes.
"""

import collections
import concurrent.futures
import functools
import itertools
import json
import multiprocessing
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
from keras_selfattn.data.remembered_ids import RememberedIds
from keras_selfattn.data.shards import load_shard
from keras_selfattn.files import read_json
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import write_text
from keras_selfattn.labels import in_order
from keras_selfattn.labels import plain
from keras_selfattn.labels import plain_label
from keras_selfattn.locks import folder_held
from keras_selfattn.models import arguments
from keras_selfattn.models import get_preset
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import count_words
from keras_selfattn.training.preparation import preprocessor_of
from keras_selfattn.training.prepared_folder import PREPROCESSOR_FOLDER
from keras_selfattn.training.prepared_folder import VECTORS_FILE
from keras_selfattn.training.prepared_folder import text_settings
from keras_selfattn.training.settings import MANIFEST_FILE
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.settings import check_new
from keras_selfattn.training.settings import check_settings
from keras_selfattn.training.settings import write_settings
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
    vectors: str | os.PathLike | None = None,
    resume: bool = False,
    model_overrides: Mapping | None = None,
    training_overrides: Mapping | None = None,
    processes: int | None = None,
    shard_rows: int = _SHARD_ROWS,
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
            `lowercase`, `max_tokens`, `prepend_null`, `num_oov_indices` and
            `min_count`.
        processes: Integer, how many work at a time. Defaults to the number of
            cores. A script that asks for several has its own code behind
            `if __name__ == "__main__":`.
        shard_rows: Integer, the rows of a shard at most.

    Returns:
        A dictionary of the `"rows"` and `"tokens"` of the training texts, the
        number of their `"shards"`, and in `"left_out"`, by file, what its
        report says of rows that were left out.

    Raises:
        ValueError: if the folder is not empty and `resume` is not given, if
            what is there has other settings or files, or if the texts are
            not as expected.
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
    settings = {
        "preset": preset,
        "texts": text_settings(training, model, vectors),
        "shard_rows": shard_rows,
        "files": [_told(texts) for texts in train_texts],
        "dev": _told(dev_texts),
    }
    with folder_held(folder):
        if resume:
            check_settings(folder / SETTINGS_FILE, settings, "preparation")
        else:
            check_new(folder, "preparation", _COUNTS_FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(folder / SETTINGS_FILE, settings)
        with _Mapping(min(processes, len(train_texts))) as map_files:
            return _prepare(
                folder,
                train_texts,
                dev_texts,
                training,
                model,
                vectors,
                shard_rows,
                map_files,
                settings,
            )


def _prepare(
    folder,
    train_texts,
    dev_texts,
    training,
    model,
    vectors,
    shard_rows,
    map_files,
    settings,
):
    counts_folder = folder / _COUNTS_FOLDER
    counts_folder.mkdir(exist_ok=True)
    count = functools.partial(_count, counts_folder, training["lowercase"])
    words, labels, left_out = collections.Counter(), {}, {}
    for found in map_files(count, range(len(train_texts)), train_texts):
        found = read_json(found)
        words.update(found["words"])
        labels.update(dict.fromkeys(found["labels"]))
        if found["left_out"]:
            left_out[found["path"]] = found["left_out"]
    labels = in_order(plain(labels))
    words = {w: words[w] for w in sorted(words, key=lambda w: (-words[w], w))}
    preprocessor, found = preprocessor_of(words, training, vectors, model)
    with replaced_folder(folder / PREPROCESSOR_FOLDER) as beside:
        preprocessor.save(beside)
        # Keras has numbered its name.
        path = beside / _CONFIG_FILE
        config = {**read_json(path), "name": "text_preprocessor"}
        write_text(path, json.dumps(config, indent=2) + "\n")
        if found is not None:
            np.savez(beside / VECTORS_FILE, vectors=found[0], found=found[1])
        write_checksums(beside)
    encode = functools.partial(_encode, folder, labels)
    shards = [
        shard
        for some in map_files(
            functools.partial(encode, shard_rows=shard_rows),
            [f"train/{number:05}" for number in range(len(train_texts))],
            train_texts,
        )
        for shard in some
    ]
    if hasattr(dev_texts, "expect"):
        dev_texts.expect(labels)
    (dev,) = encode(_DEV, dev_texts)
    manifest = {
        "settings": settings,
        "labels": labels,
        "pairs": load_shard(folder / dev["name"], labels).is_pair,
        "shards": shards,
        "dev": dev,
    }
    write_text(folder / MANIFEST_FILE, json.dumps(manifest, indent=1) + "\n")
    return {
        "rows": sum(shard["rows"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "shards": len(shards),
        "left_out": left_out,
    }


def _count(folder, lowercase, number, texts):
    """Count the words and labels of a file, and return where they stand."""
    path = folder / f"{number:05}.json"
    if path.exists():
        return path
    labels = {}

    def strings():
        for text, label in texts:
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
        if (folder / shard).exists():
            # Read on to where the next one begins.
            collections.deque(part, maxlen=0)
        else:
            with replaced_folder(folder / shard) as beside:
                EncodedDataset.from_texts(
                    part, remembered, labels=labels, folder=beside
                )
                write_checksums(beside)
        shards.append(_entry(folder, shard, labels))


def _entry(folder, shard, labels):
    dataset = load_shard(folder / shard, labels, verify=True)
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


def _told(texts):
    """Which file texts are of, and its size, as what is there is kept."""
    path = getattr(texts, "path", None)
    if path is None or not os.path.isfile(path):
        return None if path is None else str(path)
    found = os.stat(path)
    return {"path": str(path), "bytes": found.st_size}


class _Mapping:
    """A `map` over files, in several processes where there are several."""

    def __init__(self, processes):
        self._pool = None
        if processes > 1:
            # TensorFlow's threads don't live through a fork.
            self._pool = concurrent.futures.ProcessPoolExecutor(
                processes, multiprocessing.get_context("spawn")
            )

    def __enter__(self):
        return map if self._pool is None else self._map

    def _map(self, function, *columns):
        try:
            yield from self._pool.map(function, *columns)
        except concurrent.futures.process.BrokenProcessPool as error:
            raise ChildProcessError(
                "A process of `prepare` was ended from outside, as where there "
                "is too little memory; with --resume (resume=True) the rest is "
                "prepared"
            ) from error

    def __exit__(self, *error):
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

"""A corpus as ids in many folders, of which a few are in memory at a time."""

import math
import os
import pathlib
import zlib
from collections.abc import Iterator
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_selfattn import validation
from keras_selfattn.checksums import check_checksums
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.cutting import cut_batches
from keras_selfattn.data.plan import BOUNDARIES
from keras_selfattn.data.plan import BatchPlan
from keras_selfattn.data.plan import offsets_of
from keras_selfattn.data.plan import spans
from keras_selfattn.data.store import read
from keras_selfattn.sides import PAIR
from keras_selfattn.sides import SENTENCE

# Enough that a batch holds rows of many files, few enough for any memory.
WINDOW_ROWS = 2**18


class ShardedDataset:
    """An encoded corpus in shards, read in another order each epoch.

    The shards come in an order that the seed and the number of the epoch fix.
    Of so many of them that they have `window` rows, the rows are shuffled and
    cut into batches as `EncodedDataset.batches` does, and so on. No more than
    that is in memory.

    Args:
        shards: List of dictionaries: the `"folder"` of each shard, its
            `"rows"`, its `"tokens"`, its `"classes"`, a list of the rows of
            each class, and its `"checksum"`, an integer.
        label_names: List of the labels.
        window: Integer, the rows that are in memory at least.
    """

    def __init__(
        self, shards: Sequence, label_names: list, window: int = WINDOW_ROWS
    ) -> None:
        self._shards = shards
        self.label_names = label_names
        self._window = validation.integer(window, "window")

    def __len__(self) -> int:
        return sum(shard["rows"] for shard in self._shards)

    def tokens(self) -> int:
        """The number of tokens of all texts."""
        return sum(shard["tokens"] for shard in self._shards)

    def class_counts(self, num_classes: int) -> np.ndarray:
        """The number of rows of each class."""
        counts = [shard["classes"] for shard in self._shards]
        return np.sum(counts, axis=0, dtype="int64")[:num_classes]

    def lengths_checksum(self, start: int = 0) -> int:
        """The same as `checksum`, as nothing else is summed up."""
        return self.checksum(start)

    def checksum(self, start: int = 0) -> int:
        """A number that differs for other ids, labels or another order."""
        for shard in self._shards:
            start = zlib.crc32(str(shard["checksum"]).encode(), start)
        return start

    def token_stretches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """As of an `EncodedDataset`."""
        for part in self.parts():
            yield from part.token_stretches()

    def parts(self) -> Iterator[EncodedDataset]:
        """The rows of each shard."""
        return map(self._load, self._shards)

    @property
    def is_pair(self) -> bool:
        """Whether the texts are pairs."""
        return self._load(self._shards[0]).is_pair

    def batches(
        self,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        share: tuple[int, int] | None = None,
        skip: int = 0,
    ) -> tf.data.Dataset:
        """Batches of rows, as those of `EncodedDataset.batches`.

        Args:
            batch_size: Integer, the rows of a batch.
            shuffle: As there.
            seed: As there.
            share: As there.
            skip: As there.
        """
        validation.integer(batch_size, "batch_size")
        plan = _Epochs(len(self), batch_size, skip)

        def stretches():
            epoch, plan.epoch = plan.epoch, plan.epoch + 1
            seeds = (seed, epoch)
            left = skip
            for part, own_seed in self._windows(batch_size, shuffle, seeds):
                count = math.ceil(len(part) / batch_size)
                skipped, left = min(left, count), max(0, left - count)
                if skipped == count:
                    continue
                batches = BatchPlan(
                    part.lengths,
                    BOUNDARIES,
                    batch_size,
                    shuffle,
                    own_seed,
                    drop_remainder=False,
                    skip=skipped,
                )
                yield from part.stretches(batches, share)

        signature = self._load(self._shards[0]).signature(share)
        return cut_batches(stretches, signature, plan)

    def _windows(self, batch_size, shuffle, seeds):
        """The rows of some whole batches each, and a seed for their order."""
        generator = np.random.default_rng(seeds)
        order = range(len(self._shards))
        if shuffle:
            order = generator.permutation(len(self._shards))
        waiting = []
        for place, number in enumerate(order, start=1):
            waiting.append(self._load(self._shards[number]))
            rows = sum(map(len, waiting))
            is_last = place == len(self._shards)
            if rows < max(self._window, batch_size) and not is_last:
                continue
            part = _joined(waiting)
            # What does not fill a batch waits for the next window.
            kept = rows if is_last else rows // batch_size * batch_size
            chosen = np.arange(rows)
            if shuffle:
                chosen = generator.permutation(rows)
            waiting = [_taken(part, chosen[kept:])] if kept < rows else []
            yield _taken(part, chosen[:kept]), int(generator.integers(2**31))

    def _load(self, shard):
        return load_shard(shard["folder"], self.label_names)


class _Epochs:
    """What stands for the plan of batches that are planned a part at a time."""

    def __init__(self, rows, batch_size, skip):
        self.epoch = 0
        self._batches = math.ceil(rows / batch_size) - skip

    def __len__(self):
        return self._batches


def load_shard(
    folder: str | os.PathLike, label_names: list, verify: bool = False
) -> EncodedDataset:
    """The `EncodedDataset` in a folder that `from_texts` has written.

    Args:
        folder: Path of the folder.
        label_names: List of the labels.
        verify: Boolean, whether the files must be those that were written.

    Raises:
        ValueError: if a file is missing, or changed.
    """
    folder = pathlib.Path(folder)
    if verify:
        check_checksums(folder)
    files = {path.stem: path for path in sorted(folder.glob("*.npy"))}
    try:
        labels = read(files.pop("labels"))
        sides = SENTENCE if "offsets" in files else PAIR
        offsets = {side: read(files.pop(f"{side}offsets")) for side in sides}
    except KeyError as error:
        raise ValueError(f"{folder} lacks {error.args[0]}.npy") from None
    return EncodedDataset(files, offsets, labels, label_names)


def _joined(datasets):
    """The rows of several corpora, one after the other, in memory."""
    if len(datasets) == 1:
        return datasets[0]
    first = datasets[0]
    features = {
        name: np.concatenate([read(each._features[name]) for each in datasets])
        for name in first._features
    }
    offsets = {}
    for side in first._offsets:
        lengths = [np.diff(each._offsets[side]) for each in datasets]
        offsets[side] = offsets_of(np.concatenate(lengths))
    labels = np.concatenate([each.labels for each in datasets])
    return EncodedDataset(features, offsets, labels, first.label_names)


def _taken(dataset, rows):
    """Some rows of a corpus, in their order, in memory."""
    features, offsets = {}, {}
    for side, ends in dataset._offsets.items():
        starts = ends[rows]
        lengths = ends[rows + 1] - starts
        steps = spans(starts, lengths)
        offsets[side] = offsets_of(lengths)
        for name, flat in dataset._features.items():
            if name in (f"{side}token_ids", f"{side}char_ids"):
                features[name] = read(flat)[steps]
    labels = np.asarray(dataset.labels)[rows]
    return EncodedDataset(features, offsets, labels, dataset.label_names)

"""Encoded corpora in flat arrays, and batches of rows of similar length."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import tempfile
import zlib

import numpy as np
import tensorflow as tf

from keras_selfattn.labels import Finder
from keras_selfattn.labels import plain
from keras_selfattn.labels import plain_label
from keras_selfattn.streams import chunks
from keras_selfattn.streams import map_ahead
from keras_selfattn.text import string_tensor

_BOUNDARIES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_BEYOND = 256
_CHUNK_ROWS = 1024
_WINDOW_BATCHES = 100
# Read at once: enough that Python's share of a batch is small, few enough
# that the rows take little memory.
_STRETCH_ROWS = 2048
_STRETCH_TOKENS = 2**14
_STRETCH_CHECKED = 2**20
_SIDES = {1: ("",), 2: ("premise_", "hypothesis_")}
# Of a feature, the method of a preprocessor that tells the number of its ids.
_SIZES = {
    "token_ids": "vocabulary_size",
    "char_ids": "character_vocabulary_size",
}


class BatchPlan:
    """Which rows form which batch, in each epoch.

    The batches of an epoch depend on the seed and the number of the epoch
    alone, so a resumed training sees what the uninterrupted one would have
    seen once it has set `epoch`, e.g. in a callback's `on_epoch_begin`.

    Attributes:
        epoch: number of the next pass, from 0. Each pass raises it by one as
            it starts.
    """

    def __init__(
        self, lengths, boundaries, batch_size, shuffle, seed, drop_remainder
    ):
        self.epoch = 0
        # (rows, sides), as pairs have two lengths
        self._lengths = lengths.reshape(len(lengths), -1)
        self._boundaries = np.asarray(boundaries)
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._seed = seed
        self._drop_remainder = drop_remainder

    def __len__(self):
        rows, size = len(self._lengths), self._batch_size
        return rows // size if self._drop_remainder else -(-rows // size)

    def __iter__(self):
        """Yields stretches of an epoch, some batches `b` of rows `r` each.

        Each is a tuple of the row numbers `(r,)`, batch after batch, the
        number of rows of each batch `(b,)`, and the widths `(b, sides)`.
        """
        epoch = self.epoch
        self.epoch = epoch + 1
        order, batches = self._order(epoch)
        size = self._batch_size
        at_once = max(1, _STRETCH_ROWS // size)
        for start in range(0, len(batches), at_once):
            starts = batches[start : start + at_once] * size
            sizes = np.minimum(size, len(order) - starts)
            rows = order[_spans(starts, sizes)]
            longest = np.maximum.reduceat(
                self._lengths[rows], np.cumsum(sizes) - sizes
            )
            yield rows, sizes, self._widths(longest)

    def _order(self, epoch):
        """The rows of an epoch, and the order of the batches cut from them."""
        size = self._batch_size
        count = len(self._lengths)
        kept = len(self) * size if self._drop_remainder else count
        if not self._shuffle:
            return np.arange(kept), np.arange(len(self))
        generator = np.random.default_rng((self._seed, epoch))
        order = generator.permutation(count)[:kept]
        window = size * _WINDOW_BATCHES
        for start in range(0, kept, window):
            part = order[start : start + window]
            order[start : start + window] = part[self._by_length(part)]
        return order, generator.permutation(len(self))

    def _by_length(self, rows):
        lengths = self._lengths[rows]
        # Sorted by the first length alone, a batch of pairs would hold any
        # second length.
        keys = [lengths[:, -1]]
        keys += [self._widths(side) for side in lengths.T[:-1]]
        return np.lexsort(keys)

    def _widths(self, lengths):
        return padded_lengths(lengths, self._boundaries)


def padded_lengths(lengths, boundaries=_BOUNDARIES):
    """The lengths that texts are padded to.

    Args:
        lengths: Integer, or array of them.
        boundaries: Rising lengths.

    Returns:
        An array of the first boundaries that are as long; beyond the last
        one, of multiples of 256.

    Example:

    >>> padded_lengths([5, 8, 600]).tolist()
    [8, 8, 768]
    """
    lengths, boundaries = np.asarray(lengths), np.asarray(boundaries)
    nearest = np.searchsorted(boundaries, lengths)
    last = len(boundaries) - 1
    return np.where(
        nearest <= last,
        boundaries[np.minimum(nearest, last)],
        -(-lengths // _BEYOND) * _BEYOND,
    )


def _spans(starts, lengths):
    """All positions of some spans, one span after the other."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(lengths.sum())


class EncodedDataset:
    """A corpus as ids, in flat arrays that may lie on disk.

    Made by `EncodedDataset.from_texts`.

    Attributes:
        labels: int32 `(rows,)`, positions in `label_names`.
        label_names: list of the labels.
        lengths: int64 `(rows,)`, tokens of each text; for pairs `(rows, 2)`,
            premise and hypothesis.

    Example:

    >>> import tensorflow as tf
    >>> def preprocessor(texts):
    ...     words = tf.strings.split(texts)
    ...     return {"token_ids": tf.strings.length(words).to_tensor()}
    >>> records = [("a few words", "good"), ("two more", "bad")]
    >>> dataset = EncodedDataset.from_texts(records, preprocessor)
    >>> dataset.label_names
    ['bad', 'good']
    >>> for features, labels in dataset.batches(2, boundaries=(4, 8)):
    ...     print(features["token_ids"].numpy(), labels.numpy())
    [[1 3 5 0]
     [3 4 0 0]] [1 0]
    """

    def __init__(self, features, offsets, labels, label_names):
        # Arrays, or paths of their files.
        self._features = features
        self._offsets = offsets
        self.labels = labels
        self.label_names = label_names
        lengths = [np.diff(offsets[side]) for side in offsets]
        self.lengths = lengths[0] if len(lengths) == 1 else np.stack(lengths, 1)

    @classmethod
    def from_texts(cls, records, preprocessor, labels=None, folder=None):
        """Encodes a stream of labelled texts, a chunk of them at a time.

        Args:
            records: iterable of `(text, label)`; each text a string, or each
                a pair of strings, premise and hypothesis.
            preprocessor: callable that takes a string tensor `(B,)` and
                returns a dict of right-padded integer tensors: `"token_ids"`
                `(B, n)`, and `"char_ids"` `(B, n, c)` where wanted. For pairs
                the features get the prefixes `premise_` and `hypothesis_`.
                It is called in several threads.
            labels: list of all labels, which fixes their ids; or None to
                collect them: sorted, by value where all are numbers. A
                label is known by its value or by its text.
            folder: folder to hold the arrays as `.npy` files, of which only
                the rows in use are in memory; None keeps all in memory.

        Returns:
            An `EncodedDataset`.

        Raises:
            ValueError: if there are no records, a label is not in `labels`,
                or single texts and pairs are mixed.
        """
        records = iter(records)
        first = next(records, None)
        if first is None:
            raise ValueError("`records` must hold at least one row; got none.")
        records = itertools.chain([first], records)
        sides = _SIDES[1 if isinstance(first[0], str) else 2]
        with _Memory() if folder is None else _Folder(folder) as store:
            lengths, ids, label_names = _encode(
                records, preprocessor, sides, labels, store
            )
            for side in sides:
                ends = np.cumsum(np.concatenate(lengths[side]))
                store.add(f"{side}offsets", np.concatenate(([0], ends)))
            store.add("labels", ids)
            features = store.finish()
        labels = _read(features.pop("labels"))
        offsets = {
            side: _read(features.pop(f"{side}offsets")) for side in sides
        }
        return cls(features, offsets, labels, label_names)

    def __len__(self):
        return len(self.labels)

    def steps(self, batch_size, drop_remainder=False):
        """Number of batches in one pass."""
        return len(
            self._plan(
                batch_size, None, False, 0, drop_remainder=drop_remainder
            )
        )

    def batches(
        self,
        batch_size,
        boundaries=None,
        shuffle=False,
        seed=0,
        drop_remainder=False,
    ):
        """Batches of rows, padded to one of a few fixed lengths.

        Shuffled, each pass is another permutation of the rows. Rows within
        stretches of 100 batches are sorted by length, so that batches hold
        little padding, and the batches shuffled again.

        Args:
            batch_size: rows in a batch.
            boundaries: rising lengths; a batch is padded to the first that
                holds its longest row, or beyond the last one to the next
                multiple of 256. None for the default ones.
            shuffle: whether to shuffle; otherwise rows keep their order.
            seed: integer that, with the epoch, fixes the permutation.
            drop_remainder: whether to leave out the rows (other ones in
                each shuffled pass) that don't fill a batch.

        Returns:
            A `tf.data.Dataset` of `(features, labels)`: a dict of int32
            `(B, n)`, or `(B, n, c)` for characters, and int32 `(B,)`. Each
            iteration is one pass. Its attribute `plan` is the `BatchPlan`,
            whose `epoch` may be set.

        Raises:
            ValueError: if `batch_size` isn't positive or `boundaries` don't
                rise from 1 or more.
        """
        plan = self._plan(batch_size, boundaries, shuffle, seed, drop_remainder)
        stretches = tf.data.Dataset.from_generator(
            lambda: map(self._stretch, plan), output_signature=self._signature()
        )
        # Python gathers the rows of many batches at once; TensorFlow cuts
        # the batches from them, so that small ones cost little.
        dataset = stretches.prefetch(1).flat_map(_cut)
        dataset = dataset.apply(
            tf.data.experimental.assert_cardinality(len(plan))
        )
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset.plan = plan
        return dataset

    def checksum(self, start=0):
        """A number that differs for other ids, labels or an other order.

        Args:
            start: Integer, such as the checksum of another corpus.

        Returns:
            An integer.
        """
        names = json.dumps(self.label_names, default=str)
        checksum = zlib.crc32(names.encode(), start)
        arrays = {"labels": self.labels, "lengths": self.lengths}
        for name, array in sorted({**arrays, **self._features}.items()):
            checksum = zlib.crc32(name.encode(), checksum)
            # Read in stretches, as a corpus may be larger than the memory.
            for first in range(0, len(_read(array)), _STRETCH_CHECKED):
                part = _read(array)[first : first + _STRETCH_CHECKED]
                checksum = zlib.crc32(np.ascontiguousarray(part), checksum)
        return checksum

    def token_stretches(self):
        """The token ids of all texts, some texts at a time.

        Yields:
            Pairs of the ids of the texts, one text after the other, and the
            number of tokens of each: integers `(tokens,)` and `(texts,)`.
        """
        for side, offsets in self._offsets.items():
            start = 0
            while start < len(self):
                most = offsets[start] + _STRETCH_TOKENS
                end = int(np.searchsorted(offsets, most, "right")) - 1
                # A text may be longer than a stretch.
                end = max(end, start + 1)
                ids = _read(self._features[f"{side}token_ids"])
                yield (
                    np.asarray(ids[offsets[start] : offsets[end]]),
                    np.diff(offsets[start : end + 1]),
                )
                start = end

    def _plan(self, batch_size, boundaries, shuffle, seed, drop_remainder):
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(
                "`batch_size` must be a positive integer. "
                f"Received: {batch_size!r}"
            )
        boundaries = _BOUNDARIES if boundaries is None else tuple(boundaries)
        if not boundaries or (np.diff((0, *boundaries)) <= 0).any():
            raise ValueError(
                "`boundaries` must be rising lengths of 1 or more. "
                f"Received: {boundaries}"
            )
        return BatchPlan(
            self.lengths, boundaries, batch_size, shuffle, seed, drop_remainder
        )

    def _stretch(self, planned):
        """The ids of some batches, in flat arrays, and how to cut them."""
        rows, sizes, widths = planned
        ends = np.cumsum(sizes)
        sides = {}
        for (side, offsets), width in zip(
            self._offsets.items(), widths.T, strict=True
        ):
            starts = offsets[rows]
            lengths = offsets[rows + 1] - starts
            steps = _spans(starts, lengths)
            sides[side] = {
                "widths": width,
                "row_splits": np.concatenate(([0], np.cumsum(lengths))),
                "ids": {
                    # Files are opened anew: what a mapping has read would
                    # stay in memory with it.
                    side + name: _read(self._features[side + name])[steps]
                    for name in _SIZES
                    if side + name in self._features
                },
            }
        return {
            "starts": ends - sizes,
            "ends": ends,
            "labels": self.labels[rows],
            "sides": sides,
        }

    def _signature(self):
        flat = {name: _read(file) for name, file in self._features.items()}
        whole = tf.TensorSpec((None,), tf.int64)
        return {
            "starts": whole,
            "ends": whole,
            "labels": tf.TensorSpec((None,), tf.int32),
            "sides": {
                side: {
                    "widths": whole,
                    "row_splits": whole,
                    "ids": {
                        side + name: tf.TensorSpec(
                            (None, *flat[side + name].shape[1:]),
                            flat[side + name].dtype,
                        )
                        for name in _SIZES
                        if side + name in flat
                    },
                }
                for side in self._offsets
            },
        }


def _cut(stretch):
    """The dataset of the batches of a stretch."""

    def batch(number):
        start, end = stretch["starts"][number], stretch["ends"][number]
        features = {}
        for side in stretch["sides"].values():
            splits = side["row_splits"][start : end + 1]
            for name, flat in side["ids"].items():
                rows = tf.RaggedTensor.from_row_splits(
                    tf.cast(flat[splits[0] : splits[-1]], tf.int32),
                    splits - splits[0],
                    validate=False,
                )
                inner = flat.shape[1:]
                shape = tf.stack([end - start, side["widths"][number], *inner])
                padded = rows.to_tensor(shape=shape)
                features[name] = tf.ensure_shape(padded, (None, None, *inner))
        return features, stretch["labels"][start:end]

    count = tf.size(stretch["ends"], tf.int64)
    return tf.data.Dataset.range(count).map(batch)


def _encode(records, preprocessor, sides, labels, store):
    """Fills the store with ids.

    Returns:
        By side, the list of each chunk's lengths; the labels' ids; the labels.
    """
    known = None if labels is None else plain(labels)
    names = {}
    find = Finder(known or ())
    lengths = {side: [] for side in sides}
    ids = []

    def label_id(row, label):
        if known is None:
            try:
                return names.setdefault(plain_label(label), len(names))
            except ValueError as error:
                raise ValueError(f"Text {row}: {error}") from None
        place = find(label)
        if place is None:
            raise ValueError(
                f"Unknown label of text {row}: expected one of {known}. "
                f"Received: {label!r}"
            )
        return place

    def columns():
        rows = 0
        for chunk in chunks(records, _CHUNK_ROWS):
            found = []
            for row, (text, label) in enumerate(chunk, rows + 1):
                _check_row(row, text, len(sides))
                found.append(label_id(row, label))
            rows += len(chunk)
            ids.append(np.array(found, "int32"))
            texts = [text for text, _ in chunk]
            yield [texts] if len(sides) == 1 else zip(*texts, strict=True)

    def flat_ids(columns):
        return [_flat_ids(preprocessor, column) for column in columns]

    for chunk in map_ahead(flat_ids, columns()):
        for side, (rows, features) in zip(sides, chunk, strict=True):
            lengths[side].append(rows)
            for name, flat in features.items():
                store.add(side + name, flat)
    ids = np.concatenate(ids)
    if known is None:
        known = _sorted_labels(plain(names))
        ranks = {name: i for i, name in enumerate(known)}
        ids = np.array([ranks[name] for name in names], "int32")[ids]
    return lengths, ids, known


def _check_row(row, text, sides):
    if (1 if isinstance(text, str) else len(text)) != sides:
        expected = "a pair of strings" if sides == 2 else "a string"
        raise ValueError(
            f"Text {row} must be {expected}, as the first decides. "
            f"Received: {text!r}"
        )


def _flat_ids(preprocessor, texts):
    """The numbers of tokens, and the features without padding."""
    features = {
        name: np.asarray(padded)
        for name, padded in preprocessor(string_tensor(texts)).items()
    }
    kept = features["token_ids"] != 0
    flat = {
        name: padded[kept].astype(_smallest_type(preprocessor, name))
        for name, padded in features.items()
    }
    return kept.sum(axis=1, dtype="int64"), flat


def _smallest_type(preprocessor, name):
    """The smallest type that holds a feature's ids, where that is known."""
    size = getattr(preprocessor, _SIZES[name], None)
    if size is None:
        return np.dtype("int32")
    return min(
        np.dtype("int32"),
        np.min_scalar_type(size() - 1),
        key=lambda dtype: dtype.itemsize,
    )


def _sorted_labels(names):
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names, key=str)


def _read(array):
    if isinstance(array, pathlib.Path):
        return np.load(array, mmap_mode="r")
    return array


class _Memory:
    """Arrays that grow."""

    def __init__(self):
        self._parts = collections.defaultdict(list)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._parts.clear()

    def add(self, name, rows):
        self._parts[name].append(rows)

    def finish(self):
        return {
            name: np.concatenate(parts) for name, parts in self._parts.items()
        }


class _Folder:
    """Arrays that grow in files, which get their names when complete."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._open = contextlib.ExitStack()
        self._files = {}
        self._shapes = {}

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=self._folder)
        self._temporary = self._open.enter_context(temporary)
        return self

    def __exit__(self, *args):
        self._open.close()

    def add(self, name, rows):
        if name not in self._files:
            self._files[name] = self._open.enter_context(self._create(name))
            self._shapes[name] = rows.dtype, 0, rows.shape[1:]
            self._write_header(name)
        dtype, count, shape = self._shapes[name]
        self._shapes[name] = dtype, count + len(rows), shape
        self._files[name].write(np.ascontiguousarray(rows).data)

    def _create(self, name):
        return open(os.path.join(self._temporary, f"{name}.npy"), "wb")

    def _write_header(self, name):
        # NumPy leaves room in it, so that the number of rows may grow.
        dtype, count, shape = self._shapes[name]
        header = {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": (count, *shape),
        }
        np.lib.format.write_array_header_1_0(self._files[name], header)

    def finish(self):
        paths = {}
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()
            paths[name] = self._folder / f"{name}.npy"
            os.replace(file.name, paths[name])
        return paths

"""Encoded corpora in flat arrays, and batches of rows of similar length."""

import contextlib
import io
import itertools
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

_BOUNDARIES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_BEYOND = 256
_CHUNK_ROWS = 1024
_WINDOW_BATCHES = 100
_SIDES = {1: ("",), 2: ("premise_", "hypothesis_")}


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
        """Yields, batch by batch, row numbers `(B,)` and widths by side."""
        epoch = self.epoch
        self.epoch = epoch + 1
        for rows in self.rows(epoch):
            longest = self._lengths[rows].max(axis=0)
            yield rows, self._widths(longest)

    def rows(self, epoch):
        """The row numbers of each batch of an epoch, a list of arrays."""
        size = self._batch_size
        count = len(self._lengths)
        kept = len(self) * size if self._drop_remainder else count
        starts = np.arange(size, kept, size)
        if not self._shuffle:
            return np.split(np.arange(count)[:kept], starts)
        generator = np.random.default_rng((self._seed, epoch))
        order = generator.permutation(count)[:kept]
        window = size * _WINDOW_BATCHES
        for start in range(0, kept, window):
            part = order[start : start + window]
            order[start : start + window] = part[self._by_length(part)]
        batches = np.split(order, starts)
        return [batches[i] for i in generator.permutation(len(batches))]

    def _by_length(self, rows):
        lengths = self._lengths[rows]
        # Sorted by the first length alone, a batch of pairs would hold any
        # second length.
        keys = [lengths[:, -1]]
        keys += [self._widths(side) for side in lengths.T[:-1]]
        return np.lexsort(keys)

    def _widths(self, lengths):
        nearest = np.searchsorted(self._boundaries, lengths)
        last = len(self._boundaries) - 1
        return np.where(
            nearest <= last,
            self._boundaries[np.minimum(nearest, last)],
            -(-lengths // _BEYOND) * _BEYOND,
        )


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
            labels: list of all labels, which fixes their ids; or None to
                collect them: sorted, by value where all are numbers.
            folder: folder to hold the arrays as `.npy` files, which are then
                mapped into memory; None keeps them in memory.

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
        with contextlib.ExitStack() as stack:
            if folder is None:
                store = _Memory()
            else:
                store = stack.enter_context(_Folder(folder))
            known = None if labels is None else list(labels)
            names = _encode(records, preprocessor, sides, known, store)
            ids = store.pop("labels")
            if labels is None:
                label_names = _sorted_labels(names)
                ranks = {name: i for i, name in enumerate(label_names)}
                ids = np.array([ranks[name] for name in names], "int32")[ids]
            else:
                label_names = known
            offsets = {
                side: np.concatenate(
                    ([0], np.cumsum(store.pop(f"{side}lengths"), dtype="int64"))
                )
                for side in sides
            }
            store.add("labels", ids)
            for side in sides:
                store.add(f"{side}offsets", offsets[side])
            arrays = store.finish()
        labels = arrays.pop("labels")
        offsets = {side: arrays.pop(f"{side}offsets") for side in sides}
        return cls(arrays, offsets, labels, label_names)

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
        signature = {
            name: tf.TensorSpec((None, None, *flat.shape[1:]), tf.int32)
            for name, flat in self._features.items()
        }
        dataset = tf.data.Dataset.from_generator(
            lambda: (self._batch(rows, widths) for rows, widths in plan),
            output_signature=(signature, tf.TensorSpec((None,), tf.int32)),
        )
        dataset = dataset.apply(
            tf.data.experimental.assert_cardinality(len(plan))
        )
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset.plan = plan
        return dataset

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

    def _batch(self, rows, widths):
        batch = {}
        for (side, offsets), width in zip(
            self._offsets.items(), widths, strict=True
        ):
            starts = offsets[rows][:, None]
            steps = starts + np.arange(width)
            kept = steps < offsets[rows + 1][:, None]
            steps = steps[kept]
            for name in (f"{side}token_ids", f"{side}char_ids"):
                if name in self._features:
                    flat = self._features[name]
                    padded = np.zeros((*kept.shape, *flat.shape[1:]), "int32")
                    padded[kept] = flat[steps]
                    batch[name] = padded
        return batch, self.labels[rows]


def _encode(records, preprocessor, sides, labels, store):
    """Fills the store; returns the label names in the order of their ids."""
    ids = {name: i for i, name in enumerate(labels or ())}
    rows = 0
    while chunk := list(itertools.islice(records, _CHUNK_ROWS)):
        label_ids = []
        for row, (text, label) in enumerate(chunk, rows + 1):
            count = 1 if isinstance(text, str) else len(text)
            if count != len(sides):
                expected = (
                    "a pair of strings" if len(sides) == 2 else "a string"
                )
                raise ValueError(
                    f"Text {row} must be {expected}, as the first decides. "
                    f"Received: {text!r}"
                )
            if labels is None:
                ids.setdefault(label, len(ids))
            elif label not in ids:
                raise ValueError(
                    f"Unknown label of text {row}: expected one of {labels}. "
                    f"Received: {label!r}"
                )
            label_ids.append(ids[label])
        rows += len(chunk)
        texts = [text for text, _ in chunk]
        columns = [texts] if len(sides) == 1 else zip(*texts, strict=True)
        for side, column in zip(sides, columns, strict=True):
            features = preprocessor(tf.constant(column))
            features = {
                name: np.asarray(ids, "int32") for name, ids in features.items()
            }
            kept = features["token_ids"] != 0
            store.add(f"{side}lengths", kept.sum(axis=1, dtype="int64"))
            for name, padded in features.items():
                store.add(side + name, padded[kept])
        store.add("labels", np.array(label_ids, "int32"))
    return list(ids)


def _sorted_labels(names):
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)


class _Memory:
    """Arrays that grow: bytes in a buffer, and how to read them."""

    def __init__(self):
        self._buffers = {}
        self._formats = {}

    def open(self, name):
        return io.BytesIO()

    def add(self, name, array):
        if name not in self._buffers:
            self._buffers[name] = self.open(name)
            self._formats[name] = array.dtype, array.shape[1:]
        self._buffers[name].write(np.ascontiguousarray(array).data)

    def read(self, buffer, dtype):
        return np.frombuffer(buffer.getbuffer(), dtype)

    def pop(self, name):
        dtype, shape = self._formats.pop(name)
        return self.read(self._buffers.pop(name), dtype).reshape(-1, *shape)

    def finish(self):
        return {name: self.pop(name) for name in list(self._buffers)}


class _Folder(_Memory):
    """The same in files, which become `.npy` files only when complete."""

    def __init__(self, folder):
        super().__init__()
        self._folder = pathlib.Path(folder)

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        self._temporary = tempfile.TemporaryDirectory(dir=self._folder)
        return self

    def __exit__(self, *args):
        for buffer in self._buffers.values():
            buffer.close()
        self._temporary.cleanup()

    def open(self, name):
        return open(os.path.join(self._temporary.name, name), "w+b")

    def read(self, buffer, dtype):
        with buffer:
            buffer.flush()
            return np.memmap(buffer, dtype, mode="r")

    def finish(self):
        names = list(self._buffers)
        for name in names:
            array = self.pop(name)
            path = os.path.join(self._temporary.name, f"{name}.npy")
            np.save(path, array)
            os.replace(path, self._folder / f"{name}.npy")
        return {
            name: np.load(self._folder / f"{name}.npy", mmap_mode="r")
            for name in names
        }

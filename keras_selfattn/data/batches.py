"""Encoded corpora in flat arrays, and batches of rows of similar length."""

import itertools
import json
import os
import zlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from keras_selfattn import validation
from keras_selfattn.data.cutting import WHOLE
from keras_selfattn.data.cutting import cut_batches
from keras_selfattn.data.encoding import SIZES
from keras_selfattn.data.encoding import encode
from keras_selfattn.data.labeled_rows import labeled_rows
from keras_selfattn.data.plan import BOUNDARIES
from keras_selfattn.data.plan import BatchPlan
from keras_selfattn.data.plan import offsets_of
from keras_selfattn.data.plan import shared_out
from keras_selfattn.data.store import Folder
from keras_selfattn.data.store import Memory
from keras_selfattn.data.store import read
from keras_selfattn.data.store import take
from keras_selfattn.sides import of_text

_STRETCH_TOKENS = 2**14
_STRETCH_CHECKED = 2**20


class EncodedDataset:
    """A corpus as ids, in flat arrays that may lie on disk.

    Made by `EncodedDataset.from_texts`.

    Attributes:
        labels: int32 array `(rows,)`, positions in `label_names`; or what
            else a model is to give, an array of one row a text.
        weights: float32 array `(rows,)`, what each row counts, or `None`.
        label_names: List of the labels.
        lengths: int64 array `(rows,)`, tokens of each text; for pairs `(rows,
            2)`, premise and hypothesis.

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

    def __init__(
        self,
        features: Mapping,
        offsets: Mapping,
        labels: Any,
        label_names: list,
        weights: np.ndarray | None = None,
    ) -> None:
        # Arrays, or paths of their files.
        self._features = features
        self._offsets = offsets
        self.labels = labels
        self.weights = weights
        self.label_names = label_names
        lengths = [np.diff(offsets[side]) for side in offsets]
        self.lengths = lengths[0] if len(lengths) == 1 else np.stack(lengths, 1)

    @classmethod
    def from_texts(
        cls,
        records: Iterable,
        preprocessor: Callable,
        labels: Sequence | None = None,
        folder: str | os.PathLike | None = None,
    ) -> "EncodedDataset":
        """Encodes a stream of labeled texts, a chunk of them at a time.

        Args:
            records: Iterable of `(text, label)`; each text a string, or each
                a pair of strings, premise and hypothesis.
            preprocessor: Callable that takes a string tensor `(B,)` and
                returns a dict of right-padded integer tensors: `"token_ids"`
                `(B, n)`, and `"char_ids"` `(B, n, c)` where wanted. For pairs
                the features get the prefixes `premise_` and `hypothesis_`.
                It is called in several threads.
            labels: List of all labels, which fixes their ids; or `None` to
                collect them: sorted, by value where all are numbers. A
                label is known by its value or by its text.
            folder: Path of a folder to hold the arrays as `.npy` files, of
                which only the rows in use are in memory; None keeps all in
                memory.

        Returns:
            An `EncodedDataset`.

        Raises:
            ValueError: if there are no records, a label is not in `labels`,
                or single texts and pairs are mixed.
        """
        records = labeled_rows(records)
        first = next(records, None)
        if first is None:
            raise ValueError(
                "`records` must hold at least one row. Received: none"
            )
        records = itertools.chain([first], records)
        sides = of_text(first[0])
        with Memory() if folder is None else Folder(folder) as store:
            lengths, ids, label_names = encode(
                records, preprocessor, sides, labels, store
            )
            for side in sides:
                offsets = offsets_of(np.concatenate(lengths[side]))
                store.add(f"{side}offsets", offsets)
            store.add("labels", ids)
            features = store.finish()
        labels = read(features.pop("labels"))
        offsets = {side: read(features.pop(f"{side}offsets")) for side in sides}
        return cls(features, offsets, labels, label_names)

    def __len__(self) -> int:
        return len(self.labels)

    def subset(self, start: int, end: int) -> "EncodedDataset":
        """The rows from `start` to before `end`, as an `EncodedDataset`."""
        offsets = {
            side: each[start : end + 1] for side, each in self._offsets.items()
        }
        weights = None if self.weights is None else self.weights[start:end]
        return EncodedDataset(
            self._features,
            offsets,
            self.labels[start:end],
            self.label_names,
            weights,
        )

    def with_labels(self, labels: Any) -> "EncodedDataset":
        """The same rows with other labels, as an `EncodedDataset`."""
        return EncodedDataset(
            self._features,
            self._offsets,
            labels,
            self.label_names,
            self.weights,
        )

    def steps(self, batch_size: int, drop_remainder: bool = False) -> int:
        """Number of batches in one pass."""
        return len(
            self._plan(
                batch_size, None, False, 0, drop_remainder, by_length=False
            )
        )

    def batches(
        self,
        batch_size: int,
        boundaries: Sequence[int] | None = None,
        shuffle: bool = False,
        seed: int = 0,
        drop_remainder: bool = False,
        by_length: bool = False,
        share: tuple[int, int] | None = None,
        skip: int = 0,
    ) -> tf.data.Dataset:
        """Batches of rows, padded to one of a few fixed lengths.

        Shuffled, each pass is another permutation of the rows. Rows within
        stretches of 100 batches are sorted by length, so that batches hold
        little padding, and the batches shuffled again.

        Args:
            batch_size: Integer, the rows of a batch.
            boundaries: Sequence of rising lengths; a batch is padded to the
                first that holds its longest row, or beyond the last one to the
                next multiple of 256. None for the default ones.
            shuffle: Boolean, whether to shuffle; otherwise rows keep their
                order.
            seed: Integer that, with the epoch, fixes the permutation.
            drop_remainder: Boolean, whether to leave out the rows (other ones
                in each shuffled pass) that don't fill a batch.
            by_length: Boolean, whether all rows are sorted by length, where
                they are not shuffled; `plan.rows` are their numbers then.
            share: Pair of integers, the number of a worker, from 0, and how
                many there are: of each batch it gets its share of the rows,
                as wide as the batch. None for all rows.
            skip: Integer, how many batches each pass leaves out at its
                beginning.

        Returns:
            A `tf.data.Dataset` of `(features, labels)`, or `(features,
            labels, weights)`: a dict of int32 `(B, n)`, or `(B, n, c)` for
            characters, int32 `(B,)` and float32 `(B,)`. With `share` an
            int64 scalar comes last, how many of the rows count: all, or none
            where a batch has fewer rows than there are workers, and the
            worker gets one that is another's. Each iteration is
            one pass. Its attribute `plan` is the `BatchPlan`, whose `epoch`
            may be set.

        Raises:
            ValueError: if `batch_size` isn't positive or `boundaries` don't
                rise from 1 or more.
        """
        plan = self._plan(
            batch_size,
            boundaries,
            shuffle,
            seed,
            drop_remainder,
            by_length,
            skip,
        )
        return cut_batches(
            lambda: self.stretches(plan, share), self.signature(share), plan
        )

    def stretches(
        self, plan: BatchPlan, share: tuple[int, int] | None = None
    ) -> Iterator[dict]:
        """What the batches of a plan are cut from, some of them at a time.

        Args:
            plan: The `BatchPlan` of the rows.
            share: As in `batches`.

        Yields:
            What `keras_selfattn.data.cutting.cut_batches` takes.
        """
        for planned in plan:
            if share is None:
                yield self._stretch(planned)
            else:
                planned, own = shared_out(planned, *share)
                yield {**self._stretch(planned), "own": own}

    def parts(self) -> Iterator["EncodedDataset"]:
        """All rows at once, as those of a `ShardedDataset` come in several."""
        yield self

    def tokens(self) -> int:
        """The number of tokens of all texts."""
        return int(self.lengths.sum())

    def class_counts(self, num_classes: int) -> np.ndarray:
        """The number of rows of each class."""
        return np.bincount(self.labels, minlength=num_classes)

    @property
    def is_pair(self) -> bool:
        """Whether the texts are pairs."""
        return self.lengths.ndim == 2

    def lengths_checksum(self, start: int = 0) -> int:
        """A number that differs for other lengths of texts, or labels."""
        for array in (self.labels, self.lengths):
            start = zlib.crc32(np.ascontiguousarray(array).data, start)
        return start

    def checksum(self, start: int = 0) -> int:
        """A number that differs for other ids, labels or another order.

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
            for first in range(0, len(read(array)), _STRETCH_CHECKED):
                part = read(array)[first : first + _STRETCH_CHECKED]
                checksum = zlib.crc32(np.ascontiguousarray(part).data, checksum)
        return checksum

    def token_stretches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
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
                ids = read(self._features[f"{side}token_ids"])
                yield (
                    np.asarray(ids[offsets[start] : offsets[end]]),
                    np.diff(offsets[start : end + 1]),
                )
                start = end

    def _plan(
        self,
        batch_size,
        boundaries,
        shuffle,
        seed,
        drop_remainder,
        by_length,
        skip=0,
    ):
        validation.integer(batch_size, "batch_size")
        boundaries = BOUNDARIES if boundaries is None else tuple(boundaries)
        if not boundaries or (np.diff((0, *boundaries)) <= 0).any():
            raise ValueError(
                "`boundaries` must be rising lengths of 1 or more. "
                f"Received: {boundaries}"
            )
        return BatchPlan(
            self.lengths,
            boundaries,
            batch_size,
            shuffle,
            seed,
            drop_remainder,
            by_length,
            skip,
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
            sides[side] = {
                "widths": width,
                "row_splits": offsets_of(lengths),
                "ids": {
                    side + name: take(
                        self._features[side + name], starts, lengths
                    )
                    for name in SIZES
                    if side + name in self._features
                },
            }
        return {
            "starts": ends - sizes,
            "ends": ends,
            **{name: each[rows] for name, each in self._targets().items()},
            "sides": sides,
        }

    def _targets(self):
        """What the batches have beside the ids."""
        if self.weights is None:
            return {"labels": self.labels}
        return {"labels": self.labels, "weights": self.weights}

    def signature(self, share: tuple[int, int] | None = None) -> Any:
        """What kind each array of a stretch is; `share` as in `batches`."""
        flat = {name: read(file) for name, file in self._features.items()}
        return {
            **({} if share is None else {"own": WHOLE}),
            "starts": WHOLE,
            "ends": WHOLE,
            **{
                name: tf.TensorSpec((None, *each.shape[1:]), each.dtype)
                for name, each in self._targets().items()
            },
            "sides": {
                side: {
                    "widths": WHOLE,
                    "row_splits": WHOLE,
                    "ids": {
                        side + name: tf.TensorSpec(
                            (None, *flat[side + name].shape[1:]),
                            flat[side + name].dtype,
                        )
                        for name in SIZES
                        if side + name in flat
                    },
                }
                for side in self._offsets
            },
        }

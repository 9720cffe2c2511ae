"""Which rows form which batch, and how wide it is padded."""

import functools

import numpy as np

BOUNDARIES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_BEYOND = 256
_WINDOW_BATCHES = 100
# Read at once: enough that Python's share of a batch is small, few enough
# that the rows take little memory.
_STRETCH_ROWS = 2048


class BatchPlan:
    """Which rows form which batch, in each epoch.

    The batches of an epoch depend on the seed and the number of the epoch
    alone, so a resumed training sees what the uninterrupted one would have
    seen once it has set `epoch`, e.g. in a callback's `on_epoch_begin`. Where
    it goes on within an epoch, `skip` batches are left out of each.

    Attributes:
        epoch: Integer, the number of the next pass, from 0. Each pass raises it
            by one as it starts. One before 0 is not shuffled.
        rows: Integer array `(rows,)`, the rows as they come without shuffling.
    """

    def __init__(
        self,
        lengths,
        boundaries,
        batch_size,
        shuffle,
        seed,
        drop_remainder,
        by_length=False,
        skip=0,
    ):
        self.epoch = 0
        self._skip = skip
        # (rows, sides), as pairs have two lengths
        self._lengths = lengths.reshape(len(lengths), -1)
        self._boundaries = np.asarray(boundaries)
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._seed = seed
        self._drop_remainder = drop_remainder
        self._is_sorted = by_length

    @functools.cached_property
    def rows(self):
        # Shuffled batches do without.
        rows = np.arange(len(self._lengths))
        return self._by_length(rows) if self._is_sorted else rows

    def __len__(self):
        return self._whole() - self._skip

    def __iter__(self):
        """Yields stretches of an epoch, some batches `b` of rows `r` each.

        Each is a tuple of the row numbers `(r,)`, batch after batch, the
        number of rows of each batch `(b,)`, and the widths `(b, sides)`.
        """
        epoch = self.epoch
        self.epoch = epoch + 1
        order, batches = self._order(epoch)
        batches = batches[self._skip :]
        size = self._batch_size
        at_once = max(1, _STRETCH_ROWS // size)
        for start in range(0, len(batches), at_once):
            starts = batches[start : start + at_once] * size
            sizes = np.minimum(size, len(order) - starts)
            rows = order[spans(starts, sizes)]
            longest = np.maximum.reduceat(
                self._lengths[rows], np.cumsum(sizes) - sizes
            )
            yield rows, sizes, self._widths(longest)

    def _whole(self):
        """The batches of a whole epoch."""
        rows, size = len(self._lengths), self._batch_size
        return rows // size if self._drop_remainder else -(-rows // size)

    def _order(self, epoch):
        """The rows of an epoch, and the order of the batches cut from them."""
        size = self._batch_size
        count = len(self._lengths)
        kept = self._whole() * size if self._drop_remainder else count
        if not self._shuffle or epoch < 0:
            return self.rows[:kept], np.arange(self._whole())
        generator = np.random.default_rng((self._seed, epoch))
        # In as few bytes as hold the numbers: there may be many rows.
        order = np.arange(count, dtype=np.min_scalar_type(count))
        generator.shuffle(order)
        order = order[:kept]
        window = size * _WINDOW_BATCHES
        for start in range(0, kept, window):
            part = order[start : start + window]
            order[start : start + window] = part[self._by_length(part)]
        return order, generator.permutation(self._whole())

    def _by_length(self, rows):
        lengths = self._lengths[rows]
        # Sorted by the first length alone, a batch of pairs would hold any
        # second length.
        keys = [lengths[:, -1]]
        keys += [self._widths(side) for side in lengths.T[:-1]]
        return np.lexsort(keys)

    def _widths(self, lengths):
        return padded_lengths(lengths, self._boundaries)


def padded_lengths(lengths, boundaries=BOUNDARIES):
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


def shared_out(planned, number, count):
    """One worker's rows of some batches that several work on together.

    Args:
        planned: What iterating a `BatchPlan` yields.
        number: Integer, which of the workers, from 0.
        count: Integer, how many there are.

    Returns:
        The same for the worker, and the numbers `(b,)` of rows that are its
        own. They differ by one at most; where a batch has none for it, it
        gets the first row, which is another's.
    """
    rows, sizes, widths = planned
    firsts = np.cumsum(sizes) - sizes
    starts = sizes * number // count
    own = sizes * (number + 1) // count - starts
    # An empty batch has no mean.
    taken = np.maximum(own, 1)
    starts = np.minimum(starts, sizes - taken)
    return (rows[spans(firsts + starts, taken)], taken, widths), own


def spans(starts, lengths):
    """All positions of some spans, one span after the other."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(lengths.sum())


def offsets_of(lengths):
    """Where each of some spans begins, one after the other, and the last ends.

    Example:

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(lengths)))

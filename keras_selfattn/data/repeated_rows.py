"""Dev texts that a model has been trained on."""

import warnings

import numpy as np

from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.plan import offsets_of
from keras_selfattn.data.shards import ShardedDataset

# Short texts come twice by chance.
_SHARE = 0.01


def warn_of_repeated_rows(
    train_data: EncodedDataset | ShardedDataset, dev_data: EncodedDataset
) -> None:
    """A warning where one dev text in a hundred is a training text.

    Args:
        train_data: The encoded training texts.
        dev_data: The encoded dev texts.
    """
    repeated = int(repeated_rows(train_data, dev_data).sum())
    if repeated < _SHARE * len(dev_data):
        return
    warnings.warn(
        f"{repeated:,} of {len(dev_data):,} dev texts "
        f"({repeated / len(dev_data):.1%}) are training texts too, as far as "
        "the model reads them: the figures promise more than new texts will "
        "give",
        stacklevel=2,
    )


def repeated_rows(
    train_data: EncodedDataset | ShardedDataset, dev_data: EncodedDataset
) -> np.ndarray:
    """Which dev texts have the ids of a training text.

    Texts are compared by 64-bit hashes.

    Args:
        train_data: The encoded training texts.
        dev_data: The encoded dev texts.

    Returns:
        Boolean array `(dev rows,)`.
    """
    asked = _hashes(dev_data)
    repeated = np.zeros(len(asked), bool)
    for part in train_data.parts():
        repeated |= np.isin(asked, _hashes(part))
    return repeated


def _hashes(data):
    """One for each row, of the ids of its tokens and of where they stand."""
    found = [_sums(ids, lengths) for ids, lengths in data.token_stretches()]
    # The two sides of pairs come one after the other.
    first, *others = np.concatenate(found).reshape(-1, len(data))
    for other in others:
        first = _mixed(first) + other
    return first


def _sums(ids, lengths):
    """The sum of the mixed tokens of each text."""
    offsets = offsets_of(lengths)
    places = np.arange(len(ids)) - np.repeat(offsets[:-1], lengths)
    tokens = _mixed(
        (ids.astype("uint64") << np.uint64(32)) + places.astype("uint64")
    )
    # A difference of sums is exact, as they are taken modulo 2**64.
    sums = np.concatenate((np.zeros(1, "uint64"), np.cumsum(tokens)))
    return sums[offsets[1:]] - sums[offsets[:-1]]


def _mixed(numbers):
    """Numbers whose bits each depend on all those of the given ones."""
    # As Java's SplittableRandom does.
    for shift, factor in (
        (30, 0xBF58476D1CE4E5B9),
        (27, 0x94D049BB133111EB),
    ):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))

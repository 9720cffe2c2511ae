import numpy as np
import pytest

from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.shards import ShardedDataset
from keras_selfattn.data.shards import load_shard
from tests.data.test_batches import make_records
from tests.data.test_batches import preprocessor
from tests.data.test_batches import rows_of

SIZES = (7, 12, 1, 20, 3)
LABELS = ["even", "odd"]


def make(folder, window, pairs=False):
    shards = []
    for number, size in enumerate(SIZES):
        path = folder / str(number)
        records = list(make_records(size, seed=number, pairs=pairs))
        dataset = EncodedDataset.from_texts(records, preprocessor, LABELS, path)
        shards.append(
            {
                "folder": path,
                "rows": size,
                "tokens": dataset.tokens(),
                "classes": dataset.class_counts(2).tolist(),
                "checksum": dataset.checksum(),
            }
        )
    return ShardedDataset(shards, LABELS, window)


def written(rows):
    return [
        (tuple(map(tuple, np.atleast_2d(ids))), label) for ids, label in rows
    ]


@pytest.mark.parametrize("window", [1, 15, 10**6])
def test_each_row_comes_once_an_epoch(tmp_path, window):
    dataset = make(tmp_path, window)
    batches = dataset.batches(4, shuffle=True, seed=3)
    in_order = written(rows_of(dataset.batches(4)))
    epochs = [written(rows_of(batches)) for _ in range(2)]
    assert len(in_order) == sum(SIZES) == len(dataset)
    for epoch in epochs:
        assert epoch != in_order
        assert sorted(epoch) == sorted(in_order)
    assert epochs[0] != epochs[1]
    sizes = [len(labels) for _, labels in batches]
    assert sizes.count(4) == sum(SIZES) // 4
    assert len(sizes) == len(batches) == -(-sum(SIZES) // 4)
    # A resumed run asks for an epoch by its number.
    again = dataset.batches(4, shuffle=True, seed=3)
    again.plan.epoch = 1
    assert written(rows_of(again)) == epochs[1]


@pytest.mark.parametrize("window", [1, 15, 10**6])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_pass_goes_on_behind_some_batches(tmp_path, window, shuffle):
    dataset = make(tmp_path, window)
    whole = [
        labels.numpy().tolist() for _, labels in dataset.batches(4, shuffle, 3)
    ]
    for skip in range(len(whole)):
        batches = dataset.batches(4, shuffle, 3, skip=skip)
        rest = [labels.numpy().tolist() for _, labels in batches]
        assert rest == whole[skip:]
        assert len(batches) == len(rest)


def test_workers_share_each_batch(tmp_path):
    dataset = make(tmp_path, 15, pairs=True)
    whole = dataset.batches(4, shuffle=True, seed=3)
    shares = [
        dataset.batches(4, shuffle=True, seed=3, share=(number, 3))
        for number in range(3)
    ]
    for (features, labels), *parts in zip(whole, *shares, strict=True):
        for name in features:
            kept = [part[0][name][: part[-1]] for part in parts]
            np.testing.assert_array_equal(np.concatenate(kept), features[name])
        kept = [part[1][: part[-1]] for part in parts]
        np.testing.assert_array_equal(np.concatenate(kept), labels)


def test_what_is_known_of_the_rows(tmp_path):
    dataset = make(tmp_path, 1)
    shards = [load_shard(tmp_path / str(n), LABELS) for n in range(len(SIZES))]
    assert dataset.tokens() == sum(shard.lengths.sum() for shard in shards)
    assert dataset.class_counts(2).sum() == sum(SIZES)
    assert not dataset.is_pair
    ids = [ids for ids, _ in dataset.token_stretches()]
    assert sum(map(len, ids)) == dataset.tokens()


def test_a_shard_that_lacks_a_file(tmp_path):
    make(tmp_path, 1)
    (tmp_path / "0" / "offsets.npy").unlink()
    with pytest.raises(ValueError, match="0 lacks premise_offsets.npy"):
        load_shard(tmp_path / "0", LABELS)

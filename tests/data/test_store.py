import numpy as np
import pytest

from keras_selfattn.data import store


@pytest.fixture(params=[(), (3,)], ids=str)
def file(request, tmp_path):
    shape = (1000, *request.param)
    rows = np.random.default_rng(0).integers(0, 2**16, shape).astype("uint16")
    with store.Folder(tmp_path) as folder:
        for start in range(0, 1000, 300):
            folder.add("token_ids", rows[start : start + 300])
        return rows, folder.finish()["token_ids"]


def test_spans_of_a_file(file):
    rows, path = file
    rng = np.random.default_rng(1)
    some = rng.integers(0, 900, 50), rng.integers(0, 100, 50)
    touching = np.array([5, 7, 7, 12, 3]), np.array([2, 0, 5, 1, 4])
    all_of_it = np.array([0]), np.array([1000])
    none = np.zeros(0, "int64"), np.zeros(0, "int64")
    for starts, lengths in (some, touching, all_of_it, none):
        expected = [rows[s : s + n] for s, n in np.stack([starts, lengths], 1)]
        expected = np.concatenate([rows[:0], *expected])
        for array in (rows, path):
            taken = store.take(array, starts, lengths)
            np.testing.assert_array_equal(taken, expected)
            assert taken.dtype == rows.dtype


def test_a_file_is_cut_off(file):
    rows, path = file
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="token_ids.npy ends before"):
        store.take(path, np.array([990]), np.array([10]))


def test_a_file_is_not_mapped(file, monkeypatch):
    rows, path = file
    monkeypatch.setattr(store, "read", None)
    starts = np.arange(0, 1000, 7)
    taken = store.take(path, starts, np.ones_like(starts))
    np.testing.assert_array_equal(taken, rows[starts])

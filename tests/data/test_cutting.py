import pytest

from keras_selfattn.data.batches import EncodedDataset
from tests.data.test_batches import make_records
from tests.data.test_batches import tokens_only
from tests.data.test_shards import make


def is_tuned(dataset):
    """Whether a thread tunes a dataset, for which iterators may wait."""
    return dataset.options().autotune.enabled is not False


def encoded(folder):
    return EncodedDataset.from_texts(
        make_records(5), tokens_only, ["even", "odd"]
    )


def sharded(folder):
    return make(folder, window=10)


@pytest.mark.parametrize("corpus", [encoded, sharded])
def test_no_thread_tunes_the_batches(tmp_path, corpus):
    batches = corpus(tmp_path).batches(2, shuffle=True)
    assert not is_tuned(batches)
    # Nor what is made of them.
    assert not is_tuned(batches.map(lambda *batch: batch).prefetch(1))

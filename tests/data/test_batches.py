import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.data.batches import EncodedDataset

CHARACTERS = 3


def preprocessor(texts):
    """Words written as numbers to their ids; two features as in the package."""
    tokens = tf.strings.to_number(tf.strings.split(texts), tf.int32).to_tensor()
    characters = tokens[..., None] * tf.range(1, CHARACTERS + 1)
    return {"token_ids": tokens, "char_ids": characters}


def tokens_only(texts):
    return {"token_ids": preprocessor(texts)["token_ids"]}


def make_text(generator, longest):
    words = generator.integers(1, 1000, generator.integers(1, longest + 1))
    return " ".join(map(str, words))


def make_records(rows, longest=30, seed=0, pairs=False):
    generator = np.random.default_rng(seed)
    for row in range(rows):
        text = make_text(generator, longest)
        if pairs:
            text = (text, make_text(generator, longest // 2))
        yield text, "odd" if row % 2 else "even"


def rows_of(dataset):
    """Each row's (ids without padding, label), in the order of the batches."""
    for features, labels in dataset:
        for ids, label in zip(
            features["token_ids"].numpy(), labels.numpy(), strict=True
        ):
            yield tuple(ids[ids != 0].tolist()), int(label)


def expected_rows(rows, **options):
    for text, label in make_records(rows, **options):
        yield tuple(map(int, text.split())), ["even", "odd"].index(label)


def widths_of(dataset, name="token_ids"):
    return [features[name].shape[1] for features, _ in dataset]


@pytest.mark.parametrize("in_folder", [False, True])
def test_order_and_content_without_shuffle(in_folder, tmp_path):
    # More rows than are encoded at a time.
    dataset = EncodedDataset.from_texts(
        make_records(1500), preprocessor, folder=tmp_path if in_folder else None
    )
    assert len(dataset) == 1500
    assert dataset.label_names == ["even", "odd"]
    batches = dataset.batches(32)
    assert list(rows_of(batches)) == list(expected_rows(1500))
    for features, labels in batches:
        tokens = features["token_ids"].numpy()
        assert tokens.dtype == labels.numpy().dtype == np.int32
        lengths = (tokens != 0).sum(axis=1)
        np.testing.assert_array_equal(
            tokens != 0, np.arange(tokens.shape[1]) < lengths[:, None]
        )
        np.testing.assert_array_equal(
            features["char_ids"].numpy(),
            tokens[..., None] * np.array([1, 2, 3]),
        )


@pytest.mark.parametrize("in_folder", [False, True])
def test_token_stretches(in_folder, tmp_path, monkeypatch):
    # 30 and 20 tokens are more than one stretch holds.
    monkeypatch.setattr("keras_selfattn.data.batches._STRETCH_TOKENS", 24)
    records = [
        (("7 8", "1"), "a"),
        ((" ".join(["9"] * 30), "2 3"), "b"),
        (("4 5 6", " ".join(["8"] * 20)), "a"),
        (("5", "6"), "a"),
    ]
    dataset = EncodedDataset.from_texts(
        records, preprocessor, folder=tmp_path if in_folder else None
    )
    found = [
        (ids.tolist(), lengths.tolist())
        for ids, lengths in dataset.token_stretches()
    ]
    assert found == [
        ([7, 8], [2]),
        ([9] * 30, [30]),
        ([4, 5, 6, 5], [3, 1]),
        ([1, 2, 3, *[8] * 20, 6], [1, 2, 20, 1]),
    ]


def test_lengths_and_labels():
    records = [("7", "b"), ("1 2 3", "a"), ("4 5", "b")]
    dataset = EncodedDataset.from_texts(records, tokens_only)
    assert dataset.lengths.tolist() == [1, 3, 2]
    assert dataset.labels.tolist() == [1, 0, 1]
    assert dataset.labels.dtype == np.int32
    pairs = [(("7", "1 2"), "b"), (("1 2 3", "4"), "a")]
    dataset = EncodedDataset.from_texts(pairs, tokens_only)
    assert dataset.lengths.tolist() == [[1, 2], [3, 1]]


def test_a_folder_holds_nothing_but_mapped_arrays(tmp_path):
    folder = tmp_path / "corpus"
    for rows in (5, 40):
        dataset = EncodedDataset.from_texts(
            make_records(rows), preprocessor, folder=folder
        )
    assert {path.name for path in folder.iterdir()} == {
        "char_ids.npy",
        "labels.npy",
        "offsets.npy",
        "token_ids.npy",
    }
    assert len(np.load(folder / "labels.npy")) == 40
    assert isinstance(dataset.labels, np.memmap)


def test_a_failure_leaves_the_folder_as_it_was(tmp_path):
    records = [("1 2", "a"), ("3", "c")]
    with pytest.raises(ValueError, match="Unknown label"):
        EncodedDataset.from_texts(records, tokens_only, ["a"], folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


class Sized:
    """A preprocessor that tells how many ids it gives."""

    def __init__(self, words, characters):
        self.words = words
        self.characters = characters

    def __call__(self, texts):
        return preprocessor(texts)

    def vocabulary_size(self):
        return self.words

    def character_vocabulary_size(self):
        return self.characters


@pytest.mark.parametrize(
    "words, dtype", [(65536, "uint16"), (65537, "int32"), (None, "int32")]
)
def test_files_hold_the_smallest_type(tmp_path, words, dtype):
    encode = preprocessor if words is None else Sized(words, 256)
    dataset = EncodedDataset.from_texts(
        [("1 85", "a")], encode, folder=tmp_path
    )
    assert np.load(tmp_path / "token_ids.npy").dtype == dtype
    characters = np.load(tmp_path / "char_ids.npy")
    assert characters.dtype == ("int32" if words is None else "uint8")
    features, _ = next(iter(dataset.batches(1, (2,))))
    assert features["token_ids"].numpy().tolist() == [[1, 85]]
    assert features["char_ids"].numpy().tolist() == [
        [[1, 2, 3], [85, 170, 255]]
    ]
    assert {value.dtype for value in features.values()} == {tf.int32}


def test_batches_hold_no_file_open(tmp_path):
    """A mapping that stayed would keep all that it ever read in memory."""
    dataset = EncodedDataset.from_texts(
        make_records(300), preprocessor, folder=tmp_path
    )
    batches = iter(dataset.batches(8, shuffle=True))
    next(batches)
    with open("/proc/self/maps") as file:
        mapped = file.read()
    assert str(tmp_path / "labels.npy") in mapped
    assert str(tmp_path / "token_ids.npy") not in mapped
    assert str(tmp_path / "char_ids.npy") not in mapped


def test_an_error_of_the_records_comes_out_as_it_is(tmp_path):
    def records():
        yield "1", "a"
        raise ValueError("corpus.csv:3: expected a cell")

    with pytest.raises(ValueError, match="^corpus.csv:3: expected a cell$"):
        EncodedDataset.from_texts(records(), tokens_only, folder=tmp_path)


def test_the_order_is_that_of_earlier_versions():
    """Runs repeat themselves from one version to the next."""
    dataset = EncodedDataset.from_texts(
        [(" ".join("1" * (1 + i % 4)), i) for i in range(11)], tokens_only
    )
    batches = dataset.batches(3, shuffle=True, seed=2)
    labels = [labels.numpy().tolist() for _, labels in batches]
    assert labels == [[2, 10, 6], [9, 5, 1], [0, 4, 8], [7, 3]]


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_shuffle_visits_every_row_once(drop_remainder):
    dataset = EncodedDataset.from_texts(make_records(1003), tokens_only)
    batches = dataset.batches(
        4, shuffle=True, seed=1, drop_remainder=drop_remainder
    )
    sizes = [len(labels) for _, labels in batches]
    assert len(sizes) == len(batches) == dataset.steps(4, drop_remainder)
    assert len(sizes) == (250 if drop_remainder else 251)
    rows = list(rows_of(batches))
    expected = list(expected_rows(1003))
    assert rows != expected
    if drop_remainder:
        assert set(sizes) == {4}
        assert len(rows) == 1000
    else:
        assert sorted(rows) == sorted(expected)


def test_dropped_rows_change_from_epoch_to_epoch():
    dataset = EncodedDataset.from_texts(make_records(21), tokens_only)
    batches = dataset.batches(4, shuffle=True, drop_remainder=True)
    everything = set(expected_rows(21))
    dropped = [everything - set(rows_of(batches)) for _ in range(6)]
    assert all(len(rows) == 1 for rows in dropped)
    assert len(set.union(*dropped)) > 1


def test_an_epoch_is_fixed_by_seed_and_number():
    dataset = EncodedDataset.from_texts(make_records(300), tokens_only)
    whole = dataset.batches(8, shuffle=True, seed=5)
    epochs = [list(rows_of(whole)) for _ in range(3)]
    assert whole.plan.epoch == 3
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    resumed = dataset.batches(8, shuffle=True, seed=5)
    resumed.plan.epoch = 1
    assert list(rows_of(resumed)) == epochs[1]
    assert list(rows_of(resumed)) == epochs[2]
    # A pass that was broken off counts as one.
    resumed.plan.epoch = 0
    next(iter(resumed))
    assert list(rows_of(resumed)) == epochs[1]
    other = dataset.batches(8, shuffle=True, seed=6)
    assert list(rows_of(other)) != epochs[0]


@pytest.mark.parametrize("shuffle", [False, True])
def test_widths_are_the_smallest_boundaries(shuffle):
    dataset = EncodedDataset.from_texts(make_records(200), tokens_only)
    batches = dataset.batches(4, boundaries=(5, 9, 30), shuffle=shuffle)
    seen = set()
    for features, _ in batches:
        ids = features["token_ids"].numpy()
        longest = (ids != 0).sum(axis=1).max()
        assert ids.shape[1] == min(b for b in (5, 9, 30) if b >= longest)
        seen.add(ids.shape[1])
    assert shuffle <= (seen == {5, 9, 30})


def test_beyond_the_last_boundary_widths_are_multiples():
    texts = [" ".join(["1"] * n) for n in (8, 9, 512, 513, 769)]
    records = [(text, "a") for text in texts]
    dataset = EncodedDataset.from_texts(records, tokens_only)
    assert widths_of(dataset.batches(1)) == [8, 16, 512, 768, 1024]
    assert widths_of(dataset.batches(1, (4,))) == [256, 256, 512, 768, 1024]


def test_sorting_saves_padding_and_shuffles_the_batches():
    dataset = EncodedDataset.from_texts(make_records(2000), tokens_only)
    boundaries = range(1, 31)
    plain = widths_of(dataset.batches(8, boundaries))
    mixed = widths_of(dataset.batches(8, boundaries, shuffle=True))
    assert sum(mixed) < 0.7 * sum(plain)
    falls = sum(a > b for a, b in itertools.pairwise(mixed))
    assert falls > 50


def test_pairs_are_sorted_by_both_lengths():
    dataset = EncodedDataset.from_texts(
        make_records(1200, longest=24, pairs=True), preprocessor
    )
    features, _ = next(iter(dataset.batches(3)))
    assert sorted(features) == [
        "hypothesis_char_ids",
        "hypothesis_token_ids",
        "premise_char_ids",
        "premise_token_ids",
    ]
    (premise, hypothesis), _ = next(make_records(1, longest=24, pairs=True))
    for name, text in (("premise", premise), ("hypothesis", hypothesis)):
        ids = features[f"{name}_token_ids"].numpy()[0]
        assert " ".join(map(str, ids[ids != 0])) == text
    for name in ("premise_token_ids", "hypothesis_token_ids"):
        plain, mixed = (
            sum(widths_of(dataset.batches(8, range(3, 25, 3), shuffle), name))
            for shuffle in (False, True)
        )
        assert mixed < 0.8 * plain


def test_label_names():
    def names(*labels, given=None):
        records = [("1", label) for label in labels]
        return EncodedDataset.from_texts(records, tokens_only, given)

    assert names("10", "9", "2.5").label_names == ["2.5", "9", "10"]
    assert names("10", "9", "b").label_names == ["10", "9", "b"]
    dataset = names("a", "c", given=("c", "b", "a"))
    assert dataset.label_names == ["c", "b", "a"]
    assert dataset.labels.tolist() == [2, 0]
    with pytest.raises(
        ValueError, match="text 2: the model knows a, b. Received: 'c'"
    ):
        names("a", "c", given=["a", "b"])
    with pytest.raises(ValueError, match="text 1501: .* Received: 'c'"):
        names(*["a"] * 1500, "c", given=["a", "b"])


def test_rejects_bad_input():
    def encode(*texts):
        records = [(text, "a") for text in texts]
        return EncodedDataset.from_texts(records, tokens_only)

    with pytest.raises(ValueError, match="at least one row. Received: none"):
        encode()
    with pytest.raises(ValueError, match="Text 2 must be a string.*'1', '2'"):
        encode("1", ("1", "2"))
    with pytest.raises(ValueError, match="Text 2 must be a pair.*'12'"):
        encode(("1", "2"), "12")
    with pytest.raises(ValueError, match="text of row 1 must be.*'2', '3'"):
        encode(("1", "2", "3"))
    dataset = encode("1")
    with pytest.raises(ValueError, match="of 1 or more. .*batch_size=0"):
        dataset.batches(0)
    for boundaries in ((), (4, 4), (0, 4)):
        with pytest.raises(ValueError, match="rising lengths.*Received"):
            dataset.batches(1, boundaries)


def test_fit_sees_the_epochs_that_it_names():
    dataset = EncodedDataset.from_texts(make_records(60), tokens_only)

    def fit(initial_epoch, epochs):
        batches = dataset.batches(7, shuffle=True, seed=3)

        class SetEpoch(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                batches.plan.epoch = epoch

        model.fit(
            batches,
            initial_epoch=initial_epoch,
            epochs=epochs,
            callbacks=[SetEpoch()],
            shuffle=False,
            verbose=0,
        )

    keras.utils.set_random_seed(0)
    inputs = keras.Input((None,), dtype="int32", name="token_ids")
    vectors = keras.layers.Embedding(1000, 4)(inputs)
    outputs = keras.layers.Dense(2)(keras.ops.max(vectors, axis=1))
    model = keras.Model({"token_ids": inputs}, outputs)
    model.compile(
        "sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    start = model.get_weights()
    fit(0, 2)
    whole = model.get_weights()
    model.set_weights(start)
    fit(0, 1)
    fit(1, 2)
    for left, right in zip(whole, model.get_weights(), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-7)
    assert not np.allclose(start[0], whole[0])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_workers_share_each_batch(count):
    dataset = EncodedDataset.from_texts(make_records(23), preprocessor)
    arguments = {"shuffle": True, "seed": 4}
    shares = [
        list(dataset.batches(4, share=(number, count), **arguments))
        for number in range(count)
    ]
    whole = list(dataset.batches(4, **arguments))
    for (features, labels), *parts in zip(whole, *shares, strict=True):
        owns = [int(own) for *_, own in parts]
        assert max(owns) - min(owns) <= 1
        for name, ids in features.items():
            kept = [
                part[0][name][:own]
                for part, own in zip(parts, owns, strict=True)
            ]
            np.testing.assert_array_equal(np.concatenate(kept), ids)
        kept = [part[1][:own] for part, own in zip(parts, owns, strict=True)]
        np.testing.assert_array_equal(np.concatenate(kept), labels)
        # No model has to answer for no rows.
        assert all(
            len(part[1]) == max(own, 1)
            for part, own in zip(parts, owns, strict=True)
        )

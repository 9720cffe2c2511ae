"""Raw texts in every form."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.sides import PAIR
from keras_selfattn.sides import SENTENCE
from keras_selfattn.text.columns import are_texts
from keras_selfattn.text.columns import rows_of
from keras_selfattn.text.columns import rows_of_dataset
from keras_selfattn.text.columns import strings_of

TEXTS = ["a dog", "", "gütig"]
PAIRS = [("a", "b"), ("c d", ""), ("é", "f")]
COLUMNS = tuple(map(list, zip(*PAIRS, strict=True)))


class Column:
    """A column as datasets of other packages have them."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, row):
        return self.values[row]

    def __iter__(self):
        return iter(self.values)


class Table(Column):
    """A table as datasets of other packages have them."""

    def __init__(self, **columns):
        self.columns = columns
        names = self.column_names = list(columns)
        rows = zip(*columns.values(), strict=True)
        super().__init__([dict(zip(names, row, strict=True)) for row in rows])

    def __getitem__(self, key):
        if isinstance(key, str):
            return Column(self.columns[key])
        return super().__getitem__(key)


def frame(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(columns)


def arrow(values):
    return pytest.importorskip("pyarrow").array(values)


def arrow_table(**columns):
    return pytest.importorskip("pyarrow").table(columns)


def polars_column(values, **options):
    return pytest.importorskip("polars").Series(values, **options)


def polars_frame(**columns):
    return pytest.importorskip("polars").DataFrame(columns)


def polars_categories():
    polars = pytest.importorskip("polars")
    return polars_column(TEXTS, dtype=polars.Categorical)


FORMS = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "array": lambda: np.array(TEXTS),
    "array of objects": lambda: np.array(TEXTS, object),
    "array of bytes": lambda: np.char.encode(np.array(TEXTS), "utf-8"),
    "column of an array": lambda: np.array(TEXTS)[:, None],
    "tensor": lambda: tf.constant(TEXTS),
    "pandas column": lambda: frame(text=TEXTS)["text"],
    "pandas frame": lambda: frame(text=TEXTS, other=[1, 2, 3]),
    "frame of one column": lambda: frame(review=TEXTS),
    "column of a dataset": lambda: Column(TEXTS),
    "table of a dataset": lambda: Table(label=["x", "y", "z"], text=TEXTS),
    "rows of a table": lambda: [{"text": t, "label": "x"} for t in TEXTS],
    "Arrow's array": lambda: arrow(TEXTS),
    "Arrow's categories": lambda: arrow(TEXTS).dictionary_encode(),
    "Arrow's column": lambda: arrow_table(text=TEXTS)["text"],
    "Arrow's table": lambda: arrow_table(label=["x", "y", "z"], text=TEXTS),
    "Arrow's table of one column": lambda: arrow_table(review=TEXTS),
    "polars' column": lambda: polars_column(TEXTS),
    "polars' categories": polars_categories,
    "polars' frame": lambda: polars_frame(label=[1, 2, 3], text=TEXTS),
    "polars' frame of one column": lambda: polars_frame(review=TEXTS),
    "dictionary": lambda: {"text": np.array(TEXTS)},
}
PAIR_FORMS = {
    "list of tuples": lambda: PAIRS,
    "list of lists": lambda: [list(pair) for pair in PAIRS],
    "array": lambda: np.array(PAIRS),
    "tensor": lambda: tf.constant(PAIRS),
    "two columns": lambda: COLUMNS,
    "two arrays": lambda: tuple(map(np.array, COLUMNS)),
    "dictionary": lambda: dict(
        zip(("hypothesis", "premise"), COLUMNS[::-1], strict=True)
    ),
    "pandas frame": lambda: frame(
        label=[1, 2, 3], hypothesis=COLUMNS[1], premise=COLUMNS[0]
    ),
    "frame of two columns": lambda: frame(a=COLUMNS[0], b=COLUMNS[1]),
    "rows of a table": lambda: [
        {"hypothesis": second, "label": "x", "premise": first}
        for first, second in PAIRS
    ],
    "table of a dataset": lambda: Table(
        hypothesis=COLUMNS[1], label=["x"] * 3, premise=COLUMNS[0]
    ),
    "two of Arrow's arrays": lambda: tuple(map(arrow, COLUMNS)),
    "Arrow's table": lambda: arrow_table(
        hypothesis=COLUMNS[1], label=["x"] * 3, premise=COLUMNS[0]
    ),
    "two of polars' columns": lambda: tuple(map(polars_column, COLUMNS)),
    "polars' frame": lambda: polars_frame(
        label=["x"] * 3, hypothesis=COLUMNS[1], premise=COLUMNS[0]
    ),
    "polars' frame of two columns": lambda: polars_frame(
        a=COLUMNS[0], b=COLUMNS[1]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_texts(form):
    data = FORMS[form]()
    assert are_texts(data)
    rows = list(rows_of(data, SENTENCE))
    assert rows == TEXTS
    assert all(type(row) is str for row in rows)
    assert list(strings_of(data)) == TEXTS


@pytest.mark.parametrize("form", PAIR_FORMS)
def test_forms_of_pairs(form):
    data = PAIR_FORMS[form]()
    assert are_texts(data)
    assert list(rows_of(data, PAIR)) == PAIRS
    strings = sorted(text for pair in PAIRS for text in pair)
    assert sorted(strings_of(data)) == strings


def test_two_pairs_in_a_list_are_no_columns():
    assert list(rows_of([["a", "b"], ["c", "d"]], PAIR)) == [
        ("a", "b"),
        ("c", "d"),
    ]
    assert list(rows_of((["a", "b"], ["c", "d"]), PAIR)) == [
        ("a", "c"),
        ("b", "d"),
    ]


def slices(*data):
    return tf.data.Dataset.from_tensor_slices(
        data if len(data) > 1 else data[0]
    )


@pytest.mark.parametrize("batch", [None, 2])
def test_datasets(batch):
    def batched(dataset):
        return dataset if batch is None else dataset.batch(batch)

    labels, weights = ["x", "y", "z"], [1.0, 2.0, 0.5]
    for data in (TEXTS, {"text": TEXTS}):
        rows = list(rows_of_dataset(batched(slices(data)), SENTENCE))
        sizes = [batch, batch, batch and 1]
        assert rows == [
            (text, None, None, size)
            for text, size in zip(TEXTS, sizes, strict=True)
        ]
    dataset = batched(slices(TEXTS, labels, weights))
    assert are_texts(dataset)
    assert [row[:3] for row in rows_of_dataset(dataset, SENTENCE)] == list(
        zip(TEXTS, labels, weights, strict=True)
    )
    assert list(strings_of(dataset)) == TEXTS
    for data in (COLUMNS, dict(zip(("premise", "hypothesis"), COLUMNS))):  # noqa: B905
        dataset = batched(slices(data, labels))
        assert [row[:2] for row in rows_of_dataset(dataset, PAIR)] == list(
            zip(PAIRS, labels, strict=True)
        )
    dataset = batched(slices(np.array(PAIRS), labels))
    assert [row[0] for row in rows_of_dataset(dataset, PAIR)] == PAIRS


@pytest.mark.parametrize(
    "data",
    [
        np.array([[1, 2]]),
        {"token_ids": np.array([[1, 2]])},
        [np.array([[1]]), np.array([[2]])],
        tf.constant([[1]]),
        tf.data.Dataset.from_tensors({"token_ids": [[1]]}),
        # What a `train_step` of one's own may take.
        tf.data.Dataset.from_tensors(([[1]], [0], [1.0], [2])),
        (x for x in ["a"]),
        keras.utils.PyDataset(),
    ],
)
def test_no_texts(data):
    assert not are_texts(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("abc", "Expected a list of texts.*one string: 'abc'"),
        (None, "Expected a list of texts. Received: None"),
        (5, "Expected a list of texts. Received: 5"),
        ([None], "Text 1 must be a string. Received: None"),
        (["a", float("nan")], "Text 2 must be a string. Received: nan"),
        ([1, 2], "Text 1 must be a string. Received: 1"),
        ([b"a"], "Text 1 must be a string. Received: b'a'"),
        ([("a", "b")], r"Text 1 must be a string. Received: \('a', 'b'\)"),
        ({"texts": ["a"]}, "by the names text. Received: texts"),
        ([{"texts": "a"}], "Text 1 must be a string. Received: {'texts': 'a'"),
        ([["a" * 400]], "^.{1,260}$"),
    ],
)
def test_what_is_no_text(data, message):
    assert are_texts(data)
    with pytest.raises(ValueError, match=message):
        list(rows_of(data, SENTENCE))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["a"], "Text 1 must be a pair of strings. Received: 'a'"),
        ([("a", "b"), ("a",)], "Text 2 must be a pair of strings"),
        ([("a", None)], "Text 1 must be a pair of strings"),
        ([{"a": "b", "c": "d"}], "pair of strings. Received: {'a': 'b',"),
        ([{"a", "b"}], "Text 1 must be a pair of strings. Received: {'"),
        (
            [{"premise": "a", "hypothesis": None}],
            "Text 1 must be a pair of strings. Received: {'premise': 'a',",
        ),
        ((["a"], ["b", "c"]), "Received: 1 and 2 texts"),
        (("ab", "cd"), "Text 1 must be a pair of strings. Received: 'ab'"),
        (("ab", ["c"]), "Text 1 must be a pair of strings. Received: 'ab'"),
        ({"premise": ["a"]}, "names premise, hypothesis. Received: premise"),
    ],
)
def test_what_is_no_pair(data, message):
    with pytest.raises(ValueError, match=message):
        list(rows_of(data, PAIR))


@pytest.mark.parametrize(
    ("what", "more"),
    [("labels", (["1"],)), ("weights", (["1"] * 3, [1.0, 2.0]))],
)
def test_a_dataset_has_as_many_of_all_in_each_batch(what, more):
    elements = [(TEXTS, *more)]
    dataset = tf.data.Dataset.from_generator(
        lambda: elements,
        output_signature=tuple(
            tf.TensorSpec([None], each)
            for each in (tf.string, tf.string, tf.float32)[: len(elements[0])]
        ),
    )
    with pytest.raises(ValueError, match=f"as many {what} as texts in each"):
        list(rows_of_dataset(dataset, SENTENCE))


def test_datasets_that_are_none():
    with pytest.raises(ValueError, match="repeats forever"):
        list(rows_of_dataset(slices(TEXTS).repeat(), SENTENCE))
    with pytest.raises(ValueError, match="are 1 in a row. Received: 2"):
        list(rows_of_dataset(slices(np.array(PAIRS)).batch(2), SENTENCE))
    with pytest.raises(ValueError, match="are 2 in a row. Received: 1"):
        list(rows_of_dataset(slices(TEXTS), PAIR))
    with pytest.raises(ValueError, match="by the names text. Received: words"):
        list(rows_of_dataset(slices({"words": TEXTS}), SENTENCE))
    four = slices((TEXTS, [1] * 3, [1.0] * 3, [2] * 3))
    with pytest.raises(ValueError, match="and weights. Received: 4 of each"):
        list(rows_of_dataset(four, SENTENCE))


@pytest.mark.parametrize("data", ["abc", [1], [None]])
def test_strings_of_what_is_no_text(data):
    with pytest.raises(ValueError, match="Received"):
        list(strings_of(data))
